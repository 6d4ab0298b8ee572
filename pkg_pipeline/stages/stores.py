"""What the summaries stage and the partitions need from storage, as Protocols the stages own.

Messages and interactions have theirs in ``message_stores``, the reads in ``read_stores``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput, Usage

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
    day: date
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


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing was published. ``counts`` is False for transport, quota and budget: they are no attempt (P19).

    ``quarantined`` is the last answer that the gate refused, with its reason, for people to look at.
    """

    error: str
    retry_after_seconds: float
    counts: bool
    quarantined: tuple[str, str] | None = None


class SummaryStore(Protocol):
    """Claims due interactions and keeps their summaries. No transaction stays open across a call."""

    def claim(
        self, days: tuple[date, date], *, eligibility: Eligibility, limit: int, holder: str, lease_seconds: float
    ) -> list[Claimed]: ...

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        """An answer already paid for: (text, usage, stop reason) (B8)."""
        ...

    def record(self, row: LedgerRow) -> None: ...

    def refuse(self, request_hash: str, *, reason: str) -> None:
        """The answer kept under this hash did not pass: it is never replayed."""
        ...

    def publish(self, row: SummaryRow, *, token: int, fact_confidence: float) -> bool:
        """Save, link, release the lease; False when the lease was lost to another worker."""
        ...

    def fail(self, claimed: Claimed, failure: Failure, *, eligibility: Eligibility) -> None:
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
    quarantined: int
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
