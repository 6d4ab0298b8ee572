"""What the ingest and interactions stages need from storage, as Protocols they own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, Protocol
from uuid import UUID

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
    title: str | None
    metadata: Mapping[str, Any]


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
class MessageRow:
    chat_id: UUID
    external_id: str
    sender_entity_id: UUID | None
    sent_at: datetime
    edited_at: datetime | None
    is_deleted: bool
    is_outgoing: bool
    is_time_assumed: bool
    kind: MessageKind
    role: MessageRole | None
    content: str
    content_hash: str
    token_count: int
    importance_score: float
    importance_reason: str | None
    reply_to: str | None
    topic: str | None
    forwarded_from: str | None
    parts: list[Any] | None
    metadata: Mapping[str, Any] | None


@dataclass(slots=True)
class IngestBatch:
    """What one transaction takes in. Chats and entities are those not yet known to this import."""

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


class IngestStore(Protocol):
    """Takes messages in; every call is one transaction and may be repeated."""

    def known_selves(self, source: str) -> list[str]:
        """External ids that are me on this source, from earlier imports."""
        ...

    def begin(self, *, batch_id: UUID, file: str, format_name: str) -> None: ...

    def write(self, batch: IngestBatch, *, exported_at: datetime) -> IngestCounts: ...

    def name(self, *, titles: Mapping[UUID, tuple[str, datetime]], names: Mapping[UUID, tuple[str, datetime]]) -> None:
        """The latest title of each chat and name of each entity, as of the message that carried it."""
        ...

    def finish(
        self,
        *,
        batch_id: UUID,
        failed: bool,
        sha256: str | None,
        counts: Mapping[str, int],
        rejected: Sequence[Rejected],
    ) -> None: ...


# ── interactions ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SegmentMessage:
    """One message of a chat's touched stretch, in the chat's order."""

    id: int
    external_id: str
    sent_at: datetime
    sender_entity_id: UUID | None
    reply_to: str | None
    is_deleted: bool
    content_hash: str
    token_count: int
    content: str


@dataclass(frozen=True, slots=True)
class ParticipantRow:
    entity_id: UUID
    role: Literal["self", "other"]
    message_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class InteractionRow:
    """``belongings`` lists (entity, message id, sent_at) for groups (P34); direct chats need none."""

    id: UUID
    day: date
    started_at: datetime
    ended_at: datetime
    status: Literal["active", "completed"]
    message_count: int
    token_count: int
    language: Language
    first_external_id: str
    input_hash: str
    participants: tuple[ParticipantRow, ...]
    belongings: tuple[tuple[UUID, int, datetime], ...] = ()


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """A touched chat. ``members`` maps entity to (names, is_self); ``category`` None means an ordinary chat."""

    id: UUID
    source: str
    external_id: str
    kind: ChatKind
    category: ChatCategory | None
    members: Mapping[UUID, tuple[tuple[str, ...], bool]]


class ChatSegment(Protocol):
    """One touched chat inside one transaction: read its stretch in chunks, save interactions, finish."""

    @property
    def chat(self) -> ChatInfo: ...

    def chunks(self) -> Iterator[list[SegmentMessage]]: ...

    def save(self, rows: Sequence[InteractionRow], *, due_after_seconds: float, minimum_messages: int) -> None:
        """Upsert; a day whose eligible interactions changed is marked due ``due_after_seconds`` after their end."""
        ...

    def finish(self) -> int:
        """Drop interactions of the stretch that are no more, move what they held; returns how many changed in all."""
        ...


class InteractionStore(Protocol):
    def dirty_chats(self) -> list[UUID]:
        """Chats with marks, those with the oldest mark first."""
        ...

    def open_chat(
        self, chat_id: UUID, *, gap_seconds: float, mass_senders: int
    ) -> AbstractContextManager[ChatSegment]: ...

    def complete_silent(self, *, before: datetime) -> int:
        """Interactions that ended before ``before`` become completed; returns how many."""
        ...

    def refresh_totals(self) -> int:
        """Running totals of the entities that saved interactions touched; returns how many entities."""
        ...
