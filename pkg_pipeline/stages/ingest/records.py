"""Records between the import stage and its store, and the report of an import."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.records import (
    ChatCategory,
    ChatKind,
    ExportItem,
    MessageKind,
    MessageRole,
    ParsedMessage,
    Rejected,
)

Own = tuple[int, ...] | None
"""Where the words of a message's own begin and end, in characters; None: it repeats nothing that was served (B14)."""


class ExportSource(Protocol):
    """One export file, read as a stream; ``exported_at`` is when it was written."""

    name: str
    format: str
    exported_at: datetime

    @property
    def bytes_read(self) -> int: ...

    @property
    def bytes_total(self) -> int: ...

    @property
    def sha256(self) -> str | None:
        """Of the whole file; None until it was read to its end."""
        ...

    def items(self) -> Iterator[ExportItem]: ...


@dataclass(frozen=True, slots=True)
class ChatRow:
    id: UUID
    source: str
    external_id: str
    kind: ChatKind
    category: ChatCategory | None


@dataclass(frozen=True, slots=True)
class EntityRow:
    """``name_at``: time of the latest message with this name; the latest name wins, in whatever order files come."""

    id: UUID
    source: str
    external_id: str
    name: str
    name_at: datetime
    is_self: bool


@dataclass(frozen=True, slots=True)
class ChatNames:
    """Title ("": none) and its latest message (``title_at``); metadata at ``seen_at``, the latest of the chat."""

    title: str
    title_at: datetime
    metadata: Mapping[str, Any]
    seen_at: datetime


class MessageRow(NamedTuple):
    """One stored message; a tuple for speed."""

    chat_id: UUID
    sender_entity_id: UUID | None
    sent_at: datetime
    edited_at: datetime | None
    token_count: int
    importance_score: float
    is_deleted: bool
    is_time_assumed: bool
    kind: MessageKind
    role: MessageRole | None
    importance_reason: str | None
    external_id: str
    content: str
    content_hash: str
    reply_to: str | None
    topic: str | None
    forwarded_from: str | None
    parts: list[Any] | None
    metadata: Mapping[str, Any] | None


@dataclass(slots=True)
class IngestBatch:
    """The rows of one transaction; of chats, entities and members only those that are new or changed in this import.
    ``own``: of each message.
    """

    chats: list[ChatRow] = field(default_factory=list[ChatRow])
    entities: list[EntityRow] = field(default_factory=list[EntityRow])
    members: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    messages: list[MessageRow] = field(default_factory=list[MessageRow])
    own: Sequence[Own] = ()


@dataclass(frozen=True, slots=True)
class IngestCounts:
    """``unchanged`` counts messages already stored in this or a newer version."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, other: IngestCounts) -> IngestCounts:
        return IngestCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))


class ChatExport(NamedTuple):
    """Numeric ids of all entries of one chat in one file, unreadable ones included; ``taken`` of them were stored."""

    chat_id: UUID
    evidence_at: datetime
    owner: str | None
    is_whole: bool
    numbers: NDArray[np.int64]
    taken: int


@dataclass(frozen=True, slots=True)
class HeldDeletions:
    """An export lacks so many known messages of a chat that a person has to confirm their deletion."""

    source: str
    external_id: str
    missing: int
    known: int


@dataclass(frozen=True, slots=True)
class Deletions:
    """What comparing exports changed: messages marked deleted, restored, and deletions to confirm."""

    deleted: int = 0
    restored: int = 0
    held: tuple[HeldDeletions, ...] = ()


class Unstorable(Exception):
    """The database rejects a value of a batch, which is rolled back; the message names only the kind of error."""


# ── what a file shows ─────────────────────────────────────────────────────────────────────────

NUMBER: Final = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
"""Numeric ids that grow with time; the store uses the same pattern."""


@dataclass(slots=True)
class SeenNumbers:
    """The entries of a chat, 8 bytes each. ``has_unnumbered``: an entry without a numeric id was seen."""

    numbers: array[int] = field(default_factory=lambda: array("q"))
    refused: set[int] = field(default_factory=set[int])
    has_unnumbered: bool = False

    def add(self, external_id: str | None, *, is_taken: bool) -> None:
        if external_id is None or NUMBER.fullmatch(external_id) is None:
            self.has_unnumbered = True
        else:
            self.numbers.append(int(external_id))
            if not is_taken:
                self.refuse(external_id)

    def refuse(self, external_id: str) -> None:
        if NUMBER.fullmatch(external_id):
            self.refused.add(int(external_id))

    def shown(self, chat_id: UUID, evidence_at: datetime, owner: str | None, *, is_whole: bool) -> ChatExport:
        numbers = np.unique(np.frombuffer(self.numbers, dtype=np.int64))
        return ChatExport(chat_id, evidence_at, owner, is_whole, numbers, len(numbers) - len(self.refused))


@dataclass(slots=True)
class Evidence:
    """``at``: the latest sending or editing time in the file; the export is at least that new."""

    at: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def see(self, message: ParsedMessage) -> None:
        self.at = max(self.at, message.sent_at, message.edited_at or message.sent_at)


# ── the report ───────────────────────────────────────────────────────────────────────────────

REPORTED_REJECTIONS = 1_000
"""More are counted but not listed."""


@dataclass(slots=True)
class ImportReport:
    """The result of one import. ``rejected`` lists (file, where, reason); ``rejected_count`` counts all of them."""

    files: int = 0
    chats: set[UUID] = field(default_factory=set[UUID])
    entities: set[UUID] = field(default_factory=set[UUID])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    rejected: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    rejected_count: int = 0
    warnings: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])
    """Broken or truncated files; what could be read of them is stored."""

    forgotten: int = 0
    """Messages left out because they, their chat or their sender were forgotten on request."""

    held: list[HeldDeletions] = field(default_factory=list[HeldDeletions])
    """Deletions that a person has to confirm; the messages stay until then."""

    def reject(self, file: str, rejected: Rejected) -> None:
        self.rejected_count += 1
        if rejected.is_damage and file not in self.damaged:
            self.damaged.append(file)
        if len(self.rejected) < REPORTED_REJECTIONS:
            self.rejected.append((file, rejected.where, rejected.reason))

    def to_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "chats": len(self.chats),
            "entities": len(self.entities),
            "messages_new": self.counts.new,
            "messages_updated": self.counts.updated,
            "messages_unchanged": self.counts.unchanged,
            "messages_deleted": self.counts.deleted,
            "messages_forgotten": self.forgotten,
            "rejected": [{"file": file, "where": where, "reason": reason} for file, where, reason in self.rejected],
            "rejected_count": self.rejected_count,
            "replaced_characters": self.replaced_characters,
            "warnings": self.warnings,
            "damaged": self.damaged,
            "held_deletions": [
                {"chat": f"{one.source}:{one.external_id}", "missing": one.missing, "known": one.known}
                for one in self.held
            ],
        }
