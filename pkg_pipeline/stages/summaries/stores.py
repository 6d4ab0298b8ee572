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
from pkg_pipeline.memory.summary.increments import KnownSummary
from pkg_pipeline.stages.summaries.source_stores import SourceStore, TooSmall

# ── summaries ─────────────────────────────────────────────────────────────────────────────────

NOBODY = UUID(int=0)

Lane = Literal["live", "backfill"]

"""What a cap of calls is counted over: a local day, or a local week that begins on Sunday."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run takes besides, or of, what is due: given-up ones again, stale ones again (B5), or nothing but what one
    backfill chose and has not done (P31).
    """

    retry_failed: bool = False
    redo_stale: bool = False
    backfill_id: UUID | None = None


ALL_DUE = Scope()


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What counts as due (P11, P12, P19). Age is reckoned from ``now``, the memory's clock; leases, ``retry_at`` and
    budgets follow the database's. ``gap_seconds``: an interaction is complete when the silence is longer. A summary is
    stale that none of ``current_versions``, ``model`` and ``schema_version`` made.
    """

    now: datetime
    due_after_seconds: float
    minimum_messages: int
    attempt_limit: int
    prompt_version: str
    model: str
    current_versions: tuple[str, ...]
    schema_version: int
    gap_seconds: float = 0.0
    scope: Scope = ALL_DUE


@dataclass(frozen=True, slots=True)
class Claimed:
    """One interaction under a lease. ``token`` is the fencing token the result is saved with.

    ``attempts`` and ``deferrals`` are those of this very input, prompt and model. A long one comes without its
    messages: they are read through ``SourceStore``. ``known`` is the summary that stands, ``adopted``
    are those that do not and whose items are still served here.
    """

    source: SummaryInput
    token: int
    attempts: int
    token_count: int
    day: date
    parent_summary_id: UUID | None
    parent_revision: int
    deferrals: int = 0
    chat_id: UUID = NOBODY
    message_count: int = 0
    known: KnownSummary | None = None
    adopted: tuple[SummaryContent, ...] = ()

    @property
    def lease_id(self) -> UUID:
        return self.source.interaction_id

    @property
    def is_long(self) -> bool:
        return self.message_count > 0 and not self.source.messages


SubjectKind = Literal["interaction", "profile", "question", "session"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about; forget follows it (B3). A profile's id is that of its row, one entity in one week; a
    question's is made of its words (``hashing.question_id``), which are kept nowhere; a session's is its chat's.
    """

    kind: SubjectKind
    id: UUID

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One attempted LLM call (B6), written in its own transaction before its result is used."""

    subject: Subject
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
    backfill_id: UUID | None = None


SummaryMethod = Literal["whole", "windows", "update"]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """What is published. ``source`` may lack the messages of a long interaction; ``message_ids`` are all of them.

    ``cost_usd`` is this attempt's; of a paid model what earlier attempts paid and no row has is added (P14).
    """

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
    message_ids: tuple[str, ...]
    method: SummaryMethod = "whole"
    window_count: int = 1
    schema_version: int = 1
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing was published. ``counts`` is False for transport, quota and budget: they are no attempt (P19).

    ``quarantined`` is the last answer that the gate refused, with its reason, for people to look at.
    """

    error: str
    retry_after_seconds: float
    counts: bool
    quarantined: tuple[str, str] | None = None
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has no current summary and is due: interactions, their prompts (P18), their messages and text tokens.

    ``later``: interactions that become due without anybody doing anything.
    """

    interactions: int
    prompts: int
    messages: int
    message_tokens: int
    later: int = 0


class LeaseStore(Protocol):
    """Who works on what: due interactions under leases. No transaction stays open across a call."""

    def claim(
        self,
        days: tuple[date, date],
        *,
        eligibility: Eligibility,
        limit: int,
        holder: str,
        lease_seconds: float,
        without: Sequence[UUID] = (),
    ) -> list[Claimed]:
        """Due interactions under leases, fewest attempts first, then oldest first; none of ``without``."""
        ...

    def renew(self, claimed: Sequence[Claimed], *, lease_seconds: float) -> None:
        """The heartbeat: leases that are still ours run from now again."""
        ...

    def release(self, claimed: Sequence[Claimed]) -> None:
        """Gives back what was not worked on; leases that are no longer ours stay with their new holder."""
        ...


class LedgerStore(Protocol):
    """What was asked, answered and paid (B6, B8)."""

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        """An answer already paid for: (text, usage, stop reason) (B8)."""
        ...

    def record(self, row: LedgerRow) -> None: ...

    def refuse(self, request_hash: str, *, reason: str) -> None:
        """The answer kept under this hash did not pass: it is never replayed."""
        ...


class SummaryStore(LeaseStore, LedgerStore, SourceStore, Protocol):
    """All that the summaries stage needs; kept together because publication releases the lease it is made under."""

    def revive(self, *, prompt_version: str, model: str) -> int:
        """What failed under another prompt or model is due again (P19); how many interactions."""
        ...

    def publish(self, row: SummaryRow, *, token: int, fact_confidence: float) -> bool:
        """Save, link, release the lease in one transaction; False, and nothing saved, when another worker has it."""
        ...

    def too_small(self, days: tuple[date, date], *, eligibility: Eligibility) -> list[TooSmall]:
        """What is to be let go in the closed range of days."""
        ...

    def let_go(
        self, found: TooSmall, *, keep: Sequence[UUID], lost: Sequence[Quarantined], minimum_messages: int
    ) -> bool:
        """Supersede it without a successor; of its items and facts only ``keep`` is served on. False if it changed."""
        ...

    def fail(self, claimed: Claimed, failure: Failure, *, eligibility: Eligibility) -> None:
        """Record an attempt (P19), or with ``counts`` False only put the work off; release the lease."""
        ...


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
    """What is left in a day. Two clocks, never mixed: ``due_at`` is when something too young now comes of age, by the
    memory's; ``resume_at`` when something put off, leased or just left can go on, by the database's.
    """

    summarized: int
    pending: int
    failed: int
    quarantined: int
    due_at: datetime | None
    resume_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FinishedPartition:
    """A partition after an attempt. ``rest_seconds``: nothing put off goes on earlier (budget, service)."""

    key: str
    marks: Sequence[int]
    pending: int
    due_at: datetime | None
    resume_at: datetime | None = None
    rest_seconds: float = 0.0


class PartitionStore(Protocol):
    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        """Keys in ascending order whose marks or leftovers are due."""
        ...

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        """The marks of each key that has marks or leftovers; only these are taken away when it is done."""
        ...

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        """Records attempts, all in one transaction."""
        ...

    def counts(self, days: tuple[date, date], *, eligibility: Eligibility) -> Mapping[date, PartitionCounts]: ...
