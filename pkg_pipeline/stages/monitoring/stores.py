"""Records that monitoring reads: figures, ledger totals, queues. No conversation text. Reads raise StoreUnavailable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Sums over all days, exact unless ``days_behind`` > 0.

    ``eligible`` = ``summarized`` + ``pending`` + ``failed`` (P11). From ``summaries`` on all is about served summaries;
    ``generation_seconds`` … ``decisions`` are sums, ``versions`` counts by "prompt version|model|schema version". Of
    the days changed since the last recount, ``days_counted_now`` were counted for this answer, ``days_behind`` have
    their old counts.
    """

    interactions: int = 0
    eligible: int = 0
    summarized: int = 0
    pending: int = 0
    failed: int = 0
    oldest_pending_at: datetime | None = None
    summaries: int = 0
    generation_seconds: float = 0.0
    compression_ratios: float = 0.0
    cost_usd: float = 0.0
    key_points: int = 0
    decisions: int = 0
    archived_messages: int = 0
    days_counted_now: int = 0
    days_behind: int = 0
    versions: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """Action items that are not settled; ``overdue`` ones are ``open``, the others are apart (B16)."""

    open: int = 0
    overdue: int = 0
    perhaps_done: int = 0
    lapsed: int = 0


@dataclass(frozen=True, slots=True)
class ServedFigures:
    """What was served lately: tokens, and tokens of the same without compression (T3)."""

    kind: Literal["context", "window"]
    served: int
    tokens: int
    hypothetical_tokens: int


@dataclass(frozen=True, slots=True)
class LedgerFigures:
    """Calls of one kind in all; today and month by the database clock in the memory's time zone."""

    lane: str
    task: str
    model: str
    outcome: str
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    duration_seconds: float
    cost_usd: float
    cost_today_usd: float
    cost_month_usd: float


@dataclass(frozen=True, slots=True)
class Taken:
    """A task's use of a lane's budget, open reservations included."""

    lane: str
    task: str
    calls_today: int
    calls_week: int
    usd_today: float


@dataclass(frozen=True, slots=True)
class BudgetFigures:
    """Weeks begin on Sunday; times of the database clock."""

    taken: Sequence[Taken]
    day_ends_at: datetime
    week_ends_at: datetime


@dataclass(frozen=True, slots=True)
class StoppedLane:
    """A lane paused until ``until`` after ``calls`` unanswered calls in a row (P32)."""

    lane: str
    calls: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Leftover:
    """Unfinished partitions of an asset. ``resume_at``: when ``put_off`` of ``pending`` may go on (database clock);
    ``due_at``: when the first is old enough (memory's clock).
    """

    asset: str
    partitions: int
    pending: int
    put_off: int
    resume_at: datetime | None
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """``active``: leases in force on interactions, ``active_others`` on other subjects. ``batch_questions``: on their
    way in ``batches``; what they are about is ``active``.
    """

    active: int
    active_others: int
    profiles_put_off: int
    profiles_failed: int
    backfills: int
    batches: int = 0
    batch_questions: int = 0


# ── lists ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class QueuedInteraction:
    """``retry_at`` only if in the future (database clock). ``is_chat_touched``: its chat has to be rebuilt first.
    ``summary_status``: of the summary served meanwhile.
    """

    interaction_id: UUID
    source: str
    chat_external_id: str
    day: date
    started_at: datetime
    ended_at: datetime
    messages: int
    attempts: int
    retry_at: datetime | None
    last_error: str | None
    is_chat_touched: bool
    summary_status: str | None


@dataclass(frozen=True, slots=True)
class FailedInteraction:
    interaction_id: UUID
    source: str
    chat_external_id: str
    day: date
    started_at: datetime
    ended_at: datetime
    messages: int
    attempts: int
    failed_at: datetime
    last_error: str


@dataclass(frozen=True, slots=True)
class ActiveLease:
    """A lease in force; chat and times only for interactions."""

    kind: str
    subject_id: UUID
    holder: str
    expires_at: datetime
    source: str | None
    chat_external_id: str | None
    started_at: datetime | None
    ended_at: datetime | None
    messages: int | None
    attempts: int


@dataclass(frozen=True, slots=True)
class PendingPartition:
    asset: str
    key: str
    pending: int
    attempts: int
    due_at: datetime | None
    resume_at: datetime | None
    attempted_at: datetime


@dataclass(frozen=True, slots=True)
class OpenBackfill:
    """An open backfill; ``left`` interactions are to do."""

    id: UUID
    asset: str
    state: str
    request: Mapping[str, Any]
    forecast: Mapping[str, Any]
    requested_by: str
    requested_at: datetime
    left: int
