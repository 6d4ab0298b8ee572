"""What the writing stages need from storage, as Protocols they own. The reads have theirs in ``read_stores``."""

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
    Quarantined,
    Rejected,
    SummaryContent,
    SummaryInput,
    Usage,
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


# ── summaries ─────────────────────────────────────────────────────────────────────────────────

Lane = Literal["live", "backfill"]


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What counts as due (P11, P12, P19); all of it arrives as arguments, nothing is read from a clock in SQL."""

    now: datetime
    due_after_seconds: float
    minimum_messages: int
    attempt_limit: int
    prompt_version: str
    model: str
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """One interaction under a lease. ``token`` is the fencing token the result is saved with."""

    source: SummaryInput
    token: int
    attempts: int
    token_count: int
    parent_summary_id: UUID | None
    parent_revision: int


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One attempted LLM call (B6), written in its own transaction before its result is used."""

    interaction_id: UUID
    request_hash: str
    task: str
    model: str
    prompt_version: str
    lane: Lane
    outcome: str
    usage: Usage
    cost_usd: float
    duration_seconds: float
    run_id: str | None = None
    request_id: str | None = None
    error: str | None = None
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryRow:
    id: UUID
    source: SummaryInput
    content: SummaryContent
    prompt_version: str
    model: str
    parent_summary_id: UUID | None
    revision_count: int
    source_token_count: int
    summary_token_count: int
    cost_usd: float
    generation_seconds: float
    quarantined: tuple[Quarantined, ...]


class SummaryStore(Protocol):
    """Claims due interactions and keeps their summaries. No transaction stays open across a call."""

    def claim(
        self, days: tuple[date, date], *, eligibility: Eligibility, limit: int, holder: str, lease_seconds: float
    ) -> list[Claimed]: ...

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        """An answer already paid for: (text, usage, stop reason) (B8)."""
        ...

    def record(self, row: LedgerRow) -> None: ...

    def publish(self, row: SummaryRow, *, token: int, fact_confidence: float) -> bool:
        """Save, link, release the lease; False when the lease was lost to another worker."""
        ...

    def fail(
        self, claimed: Claimed, *, eligibility: Eligibility, error: str, retry_after_seconds: float, counts: bool
    ) -> None:
        """Record an attempt (P19), or with ``counts`` False only put the work off; release the lease."""
        ...


class BudgetStore(Protocol):
    """One row a day, lane and task, taken atomically by every path (P12, P32)."""

    def reserve(self, *, lane: Lane, task: str, usd: float, calls_cap: int | None, usd_cap: float) -> str | None:
        """Take one call and its estimated price; None when taken, else the reason why not."""
        ...

    def settle(self, *, lane: Lane, task: str, reserved_usd: float, spent_usd: float, used: bool) -> None: ...


# ── partitions ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class DuePartition:
    """A partition that needs work, with the version and attempt that make its run key."""

    asset: str
    key: str
    version: int
    attempt: int


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """What is left in a day after an attempt. ``due_at`` is when more of it can be done, by the memory's clock."""

    summarized: int
    pending: int
    failed: int
    due_at: datetime | None


class PartitionStore(Protocol):
    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        """Keys in ascending order whose marks or leftovers are due."""
        ...

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        """The marks each key has now; only these are taken away when it is done."""
        ...

    def finish(self, asset: str, key: str, *, marks: Sequence[int], pending: int, due_at: datetime | None) -> None: ...

    def counts(self, days: tuple[date, date], *, eligibility: Eligibility) -> Mapping[date, PartitionCounts]: ...
