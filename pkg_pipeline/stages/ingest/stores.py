"""What the ingest and interactions stages need from storage, as Protocols they own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.records import (
    ChatCategory,
    ChatKind,
    Language,
    MessageKind,
    MessageRole,
    ParsedChat,
    ParsedMessage,
    ParsedOwner,
    Rejected,
)

# ── ingest ────────────────────────────────────────────────────────────────────────────────────

ExportItem = ParsedOwner | ParsedChat | ParsedMessage | Rejected


class ExportSource(Protocol):
    """One file of one format, read as a stream. ``exported_at`` is when the file was written."""

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
    """``name_at`` is the latest message that carried the name; the latest name wins whatever the order of files."""

    id: UUID
    source: str
    external_id: str
    name: str
    name_at: datetime
    is_self: bool


@dataclass(frozen=True, slots=True)
class ChatNames:
    """What a file calls a chat: its title as of the latest message exported under it ("" where it has none), and its
    metadata as of ``seen_at``, the latest message of all.
    """

    title: str
    title_at: datetime
    metadata: Mapping[str, Any]
    seen_at: datetime


class MessageRow(NamedTuple):
    """One message as it is stored. A tuple, since one is made and written for every line of an import."""

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
    """What one transaction takes in. Chats, entities and members are those that this import has not written yet, or of
    which it knows something new.
    """

    chats: list[ChatRow] = field(default_factory=list[ChatRow])
    entities: list[EntityRow] = field(default_factory=list[EntityRow])
    members: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    messages: list[MessageRow] = field(default_factory=list[MessageRow])


@dataclass(frozen=True, slots=True)
class IngestCounts:
    """``unchanged`` counts messages that were there as they are, older versions among them."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, other: IngestCounts) -> IngestCounts:
        return IngestCounts(
            self.new + other.new,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.deleted + other.deleted,
        )


class ChatExport(NamedTuple):
    """What one file shows of one chat: the numbers of all its entries, those that could not be read among them.

    See ``memory.vanished`` for the rest; ``taken`` is how many of the entries went in, each counted once.
    """

    chat_id: UUID
    evidence_at: datetime
    owner: str | None
    is_whole: bool
    numbers: NDArray[np.int64]
    taken: int


@dataclass(frozen=True, slots=True)
class HeldDeletions:
    """So many messages of a chat that an export lacks that a person has to say whether they are deleted."""

    source: str
    external_id: str
    missing: int
    known: int


@dataclass(frozen=True, slots=True)
class Deletions:
    """What comparing exports changed: messages that are taken for deleted now, that are back, and what waits."""

    deleted: int = 0
    restored: int = 0
    held: tuple[HeldDeletions, ...] = ()


class Unstorable(Exception):
    """The database refuses a value in a batch and keeps nothing of it; the message names the kind of refusal only."""


# ── interactions ──────────────────────────────────────────────────────────────────────────────


class SegmentMessage(NamedTuple):
    """One message of a chat's touched stretch, in the chat's order; ``place`` is the chat's in its batch.

    ``answers`` and ``answered_at`` are sender and time of the live message replied to, given for groups. ``content``
    is whole in groups; elsewhere its beginning, enough to tell the language.
    """

    place: int
    id: int
    external_id: str
    sent_at: datetime
    sender_entity_id: UUID | None
    is_deleted: bool
    content_hash: str
    token_count: int
    is_important: bool
    content: str
    answers: UUID | None
    answered_at: datetime | None


@dataclass(frozen=True, slots=True)
class ParticipantRow:
    entity_id: UUID
    role: Literal["self", "other"]
    message_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class Belongings:
    """The messages of an interaction that belong to an entity (P34): ids and times in microseconds, both int64 (n,)."""

    entity_id: UUID
    message_ids: NDArray[np.int64]
    sent_at_us: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class InteractionRow:
    """``belongings`` are given for groups (P34); in direct chats everything belongs to the other side."""

    id: UUID
    chat_id: UUID
    day: date
    started_at: datetime
    ended_at: datetime
    status: Literal["active", "completed"]
    message_count: int
    token_count: int
    important_count: int
    language: Language
    first_external_id: str
    input_hash: str
    participants: tuple[ParticipantRow, ...]
    belongings: tuple[Belongings, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """A touched chat. ``members`` maps entity to (names, is_self); ``category`` None means an ordinary chat."""

    id: UUID
    source: str
    external_id: str
    kind: ChatKind
    category: ChatCategory | None
    members: Mapping[UUID, tuple[tuple[str, ...], bool]]

    @property
    def is_mass(self) -> bool:
        """P34: what the view ``eligible_chats`` leaves out."""
        return self.category == "mass" or (self.category is None and self.kind == "channel")
