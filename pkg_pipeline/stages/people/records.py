"""Records between the people stage and its store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pkg_pipeline.memory.people.persons import Action
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso

DecisionKind = Literal["merge", "split", "alias", "unalias", "rename", "dismiss"]


@dataclass(frozen=True, slots=True)
class Account:
    """An account as it stands: ``person`` is whose it is, ``name`` what they are called, ``aliases`` are theirs."""

    id: UUID
    person: UUID
    name: str
    own_name: str
    chosen_name: str | None
    is_self: bool
    identities: tuple[str, ...]
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a decision came to. ``id``: None where it stood already; ``chats``: whose people are others now."""

    id: UUID | None
    chats: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided at once. ``about``: accounts, each with the name that its person has now, and its key."""

    id: UUID
    kind: DecisionKind
    about: tuple[tuple[UUID, str, str | None], ...]
    name: str | None
    decided_at: datetime
    undone_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "kind": self.kind,
            "about": [
                {"entity_id": str(one), "name": clean_name(name), "account": account}
                for one, name, account in self.about
            ],
            "name": None if self.name is None else clean_name(self.name),
            "decided_at": iso(self.decided_at),
            "undone_at": None if self.undone_at is None else iso(self.undone_at),
        }


def kind_of(actions: tuple[Action, ...]) -> DecisionKind:
    if "part" in actions:
        return "split"
    return "merge" if actions[0] == "join" else actions[0]  # pyright: ignore[reportReturnType]


class DecisionUnknown(Exception):
    """No decision has this id, or several begin with it."""
