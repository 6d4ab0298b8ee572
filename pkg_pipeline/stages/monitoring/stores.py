"""What monitoring needs from storage, as Protocols the stage owns: figures, the ledger's totals, queues, the recount.

Nothing here holds a word of a conversation. Reads raise StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Sums over every day, exact at the moment of reading unless ``days_behind`` is above 0.

    ``eligible`` = ``summarized`` + ``pending`` + ``failed`` (P11). All from ``summaries`` on is about served summaries,
    whatever their interaction is now: ``generation_seconds`` … ``decisions`` are sums over them, ``versions`` counts
    them by "prompt version|model|schema version". Of the days that changed since the last recount, ``days_counted_now``
    were counted for this answer; ``days_behind`` were too many for that and stand as they were counted last.
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
    open_action_items: int = 0
    archived_messages: int = 0
    days_counted_now: int = 0
    days_behind: int = 0
    versions: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class LedgerFigures:
    """One sort of call since the beginning; today and month by the database's clock in the memory's time zone."""

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
    """What one task took from a lane's budget, reservations of calls under way included."""

    lane: str
    task: str
    calls_today: int
    calls_week: int
    usd_today: float


@dataclass(frozen=True, slots=True)
class BudgetFigures:
    """Weeks begin on Sunday; both ends are moments of the database's clock."""

    taken: Sequence[Taken]
    day_ends_at: datetime
    week_ends_at: datetime


@dataclass(frozen=True, slots=True)
class StoppedLane:
    """A lane that asks nothing until ``until``: its last ``calls`` in a row brought no whole answer (P32)."""

    lane: str
    calls: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Leftover:
    """What attempts at an asset's partitions left undone. ``put_off`` of ``pending`` go on at ``resume_at`` or later by
    the database's clock; ``due_at`` is when the first of what is too young comes of age, by the memory's.
    """

    asset: str
    partitions: int
    pending: int
    put_off: int
    resume_at: datetime | None
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """``active``: leases on interactions in force; ``active_others`` on anything else. Profiles: put off, given up."""

    active: int
    active_others: int
    profiles_put_off: int
    profiles_failed: int
    backfills: int


# ── lists ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class QueuedInteraction:
    """``retry_at`` only while it lies ahead, by the database's clock. ``is_chat_touched``: its chat is looked at again
    first. ``summary_status`` is that of the summary served meanwhile.
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
    """What somebody works on; chat and times are those of an interaction, None for a subject of another kind."""

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
    """``request`` and ``forecast`` as they were asked for and told; ``left`` interactions are still to be done."""

    id: UUID
    asset: str
    state: str
    request: Mapping[str, Any]
    forecast: Mapping[str, Any]
    requested_by: str
    requested_at: datetime
    left: int
