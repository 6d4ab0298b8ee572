"""Forgets people, chats, messages and ranges on request (B3): survey, journal, erasure, files, proof.

The receipt and its tombstones are saved first. A kill at any line leaves a running receipt, which ``resume`` finishes:
every step finds what is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID, uuid4

from pkg_pipeline.memory.message.forgotten import Forgotten, Tombstone, digest_of
from pkg_pipeline.memory.records import ExportItem, ParsedChat, ParsedMessage
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.archive.erasing import erase_chat

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
    from pkg_pipeline.adapters.postgres.archive.forgetting import PostgresForgetting
    from pkg_pipeline.stages.ports import Clock

ErasureKind = Literal["entity", "chat", "session", "message", "range"]
KINDS = get_args(ErasureKind)


class NotForgotten(Exception):
    """Nothing was forgotten; one line with the reason."""


class ImportRuns(NotForgotten):
    """An import is under way, which may not know what is to be left out."""


class ErasureUnknown(Exception):
    """No receipt has this id."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be erased: chats as a whole, ``messages`` by chat, people. Ids only."""

    kind: ErasureKind
    chats: tuple[UUID, ...] = ()
    messages: Mapping[UUID, tuple[int, ...]] = field(default_factory=dict[UUID, tuple[int, ...]])
    people: tuple[UUID, ...] = ()

    @property
    def ids(self) -> list[int]:
        return [one for ids in self.messages.values() for one in ids]

    def to_json(self) -> dict[str, Any]:
        return {
            "chats": [str(one) for one in self.chats],
            "messages": {str(chat): list(ids) for chat, ids in self.messages.items()},
            "people": [str(one) for one in self.people],
        }

    @classmethod
    def of(cls, kind: ErasureKind, said: Mapping[str, Any]) -> Plan:
        return cls(
            kind,
            tuple(map(UUID, said["chats"])),
            {UUID(chat): tuple(ids) for chat, ids in said["messages"].items()},
            tuple(map(UUID, said["people"])),
        )


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A plan with its rows by what they are, and the tombstones that keep it out. ``mentions``: messages of others that
    say the person's name and stay.
    """

    plan: Plan
    counts: Mapping[str, int]
    tombstones: tuple[Tombstone, ...]
    mentions: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten, without content. ``digest``: over the salted hashes of the messages."""

    id: UUID
    kind: ErasureKind
    state: Literal["running", "done"]
    counts: Mapping[str, int]
    digest: str
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "kind": self.kind,
            "state": self.state,
            "counts": dict(self.counts),
            "digest": self.digest,
            "requested_by": self.requested_by,
            "requested_at": iso(self.requested_at),
            "finished_at": None if self.finished_at is None else iso(self.finished_at),
        }


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Dependencies. ``clean_files`` deletes files in which something forgotten stands, and returns how many; ``sweep``
    frees what the erased rows took on the disk.
    """

    store: PostgresForgetting
    erasure: PostgresErasure
    clock: Clock
    clean_files: Callable[[Forgotten], int]
    sweep: Callable[[], None]

    def forget(self, found: Surveyed, *, by: str) -> Receipt:
        """Erase it all; what was begun before and not finished, too. Raises NotForgotten, ImportRuns."""
        if not (found.plan.chats or found.plan.ids or found.plan.people):
            raise NotForgotten("there is nothing of it in the memory")
        digest = digest_of(one.hash for one in found.tombstones if one.kind == "message")
        # a chat's own messages are hashed for the digest alone: its one tombstone keeps them out
        kept = [one for one in found.tombstones if one.kind != "message" or one.chat_hash not in _whole(found)]
        begun = self.store.begin(
            uuid4(), found.plan, counts=found.counts, tombstones=kept, digest=digest, by=by, at=self.clock.now()
        )
        self.resume()
        return self.store.receipt(begun)

    def resume(self) -> int:
        """Finish what was begun; returns how many receipts."""
        unfinished = self.store.unfinished()
        for receipt, plan in unfinished:
            for chat in plan.chats:
                erase_chat(self.erasure, chat)
            for chat, ids in plan.messages.items():
                self.store.erase_messages(chat, ids, now=self.clock.now())
                self.erasure.chunks(chat, ())
                self.store.mark_days(chat)
            for person in plan.people:
                self.store.erase_person(person)
            files = self.clean_files(self.store.forgotten())
            self.sweep()
            counts = {**receipt.counts, "files": files}
            self.store.finish(receipt.id, counts=counts, at=self.clock.now())
        return len(unfinished)


def _whole(found: Surveyed) -> frozenset[str]:
    return frozenset(one.hash for one in found.tombstones if one.kind == "chat")


def holds_forgotten(items: Iterable[ExportItem], forgotten: Forgotten) -> bool:
    """Whether an export shows anything that was forgotten."""
    chats: dict[str, ParsedChat] = {}
    return any(_is_forgotten(item, chats, forgotten) for item in items)


def _is_forgotten(item: ExportItem, chats: dict[str, ParsedChat], forgotten: Forgotten) -> bool:
    if isinstance(item, ParsedChat):
        chats[item.external_id] = item
        peer = item.peer_external_id
        is_with = peer is not None and forgotten.has_person(item.source, peer)
        return is_with or forgotten.has_chat(item.source, item.external_id)
    if not isinstance(item, ParsedMessage) or (chat := chats.get(item.chat_external_id)) is None:
        return False
    if item.sender_external_id and forgotten.has_person(chat.source, item.sender_external_id):
        return True
    return forgotten.is_thinned(chat.source, chat.external_id) and forgotten.has_message(
        chat.source, chat.external_id, item.external_id, item.sent_at
    )


@dataclass(frozen=True, slots=True)
class Residue:
    """Where a word still stands: a table with its rows, or a file of the home."""

    place: str
    count: int


def residues(
    words: Sequence[str], *, tables: Callable[[str], Iterator[Residue]], files: Callable[[str], Iterator[Residue]]
) -> list[Residue]:
    """Every place where one of the words stands, in whatever case."""
    return [found for word in words for search in (tables, files) for found in search(word)]
