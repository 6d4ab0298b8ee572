"""A person's decisions about who is who (B20). One is in force for every read when its method returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.adapters.postgres.people.store import PostgresPeopleStore
from pkg_pipeline.stages.people import deciding
from pkg_pipeline.stages.people.listing import Suggested, person_json, suggested
from pkg_pipeline.stages.people.records import Kept

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory


class PeopleWork:
    """Names may be those of any account: ``find_entity`` gives the person."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.store = PostgresPeopleStore(memory.connections)

    def merge(self, into: UUID, other: UUID) -> Kept:
        """Raises BadRequest, EntityUnknown."""
        return self._decided(partial(deciding.merge, self.store, into, other))

    def split(self, person: UUID, identities: Sequence[str]) -> Kept:
        """Raises BadRequest."""
        return self._decided(partial(deciding.split, self.store, person, identities))

    def add_alias(self, person: UUID, names: Sequence[str]) -> Kept:
        """Raises BadRequest."""
        return self._decided(partial(deciding.add_alias, self.store, person, names))

    def remove_alias(self, person: UUID, names: Sequence[str]) -> Kept:
        """Raises BadRequest."""
        return self._decided(partial(deciding.remove_alias, self.store, person, names))

    def rename(self, person: UUID, name: str) -> Kept:
        """Raises BadRequest."""
        return self._decided(partial(deciding.rename, self.store, person, name))

    def dismiss(self, one: UUID, other: UUID) -> Kept:
        """Raises BadRequest, EntityUnknown."""
        return deciding.dismiss(self.store, one, other, now=self._memory.clock.now())

    def undo(self, decision: str) -> Kept:
        """By id or its first digits. Raises DecisionUnknown."""
        return self._decided(partial(deciding.undo, self.store, decision))

    def suggested(self, *, limit: int) -> list[Suggested]:
        """Who may be one, the surest first."""
        return suggested(self.store, self._memory.reads, limit=limit)

    def _decided(self, decide: Callable[..., Kept]) -> Kept:
        """The decision is kept and readings are moved in one transaction; what follows from it is made here. After a
        kill in between the next run makes it, or the same words again.
        """
        kept: Kept = decide(now=self._memory.clock.now())
        if kept.chats:
            self._memory.build_interactions(kept.chats)
        self._memory.items.follow()
        return kept

    def person_json(self, person: UUID) -> dict[str, Any]:
        """The person as the list of entities shows them, with accounts and further names."""
        return person_json(self.store, self._memory.reads, person)
