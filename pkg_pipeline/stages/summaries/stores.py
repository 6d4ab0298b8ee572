"""Records between the summaries stage and its store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.increments import KnownSummary

if TYPE_CHECKING:
    pass

NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Scope:
    """Widens or narrows a run: given-up ones, stale ones (B5), or one backfill's open selection (P31). ``in_batches``:
    what is asked first goes into message batches.
    """

    retry_failed: bool = False
    redo_stale: bool = False
    backfill_id: UUID | None = None
    in_batches: bool = False


ALL_DUE = Scope()


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What is due (P11, P12, P19). Ages use ``now``, the memory's clock; leases, ``retry_at`` and budgets the database
    clock.

    An interaction is complete after ``gap_seconds`` of silence; a summary is stale if made by none of
    ``current_versions``, ``model`` and ``schema_version``.
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
    """One interaction under a lease; ``token`` is the fencing token.

    ``attempts`` and ``deferrals`` count for this input, prompt and model. Long interactions come without messages.
    ``known``: the current summary.
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

    @property
    def lease_id(self) -> UUID:
        return self.source.interaction_id

    @property
    def is_long(self) -> bool:
        return self.message_count > 0 and not self.source.messages


SummaryMethod = Literal["whole", "windows", "update"]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A summary to publish; ``source`` may lack messages of a long interaction, ``message_ids`` has all. ``cost_usd``:
    of this attempt; unrecorded costs of earlier ones are added (P14).
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
class Waiting:
    """Due without a current summary: interactions, messages, text tokens. ``later``: not yet due.

    ``prompts``: of those asked about alone (P18); ``joined`` interactions of ``joined_tokens`` may be asked about
    together.
    """

    interactions: int
    prompts: int
    messages: int
    message_tokens: int
    later: int = 0
    joined: int = 0
    joined_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Joining:
    """Which short talks one question takes: up to ``most`` (1: none are joined)."""

    window_messages: int
    most: int
    short_tokens: int


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What is left in a day. ``due_at``: next one old enough (memory's clock); ``resume_at``: next deferred or leased
    one (database clock).
    """

    summarized: int
    pending: int
    failed: int
    quarantined: int
    due_at: datetime | None
    resume_at: datetime | None = None
