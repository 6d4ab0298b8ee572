"""The records of the summaries stage, and the one store it works with."""

from __future__ import annotations

from collections.abc import Mapping
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
    messages: they are read through ``PostgresSummaryStore``. ``known`` is the summary that stands, ``adopted``
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
class Waiting:
    """What has no current summary and is due: interactions, their prompts (P18), their messages and text tokens.

    ``later``: interactions that become due without anybody doing anything.
    """

    interactions: int
    prompts: int
    messages: int
    message_tokens: int
    later: int = 0


@dataclass(frozen=True, slots=True)
class DayCounts:
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
class TooSmall:
    """A summary that rests on what is said no more, of a conversation too small to be summarised again (P11, P29).

    ``texts`` are today's texts of what its items rest on.
    """

    summary_id: UUID
    interaction_id: UUID
    content: SummaryContent
    texts: Mapping[str, str]
