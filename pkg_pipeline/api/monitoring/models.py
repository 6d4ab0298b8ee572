"""Answers of the monitoring routes for OpenAPI; a test compares them with what is served."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from pkg_pipeline.api.models import Answer


class PutOff(Answer):
    """Rows that a budget, a retry or a service in trouble holds back, and when the first of them go on."""

    rows: int
    until: datetime | None


class TaskBudget(Answer):
    task: str
    period: Literal["day", "week"]
    calls: int
    calls_cap: int | None
    resets_at: datetime


class LaneBudget(Answer):
    """Money of today over all tasks of the lane, reservations of calls under way included."""

    lane: Literal["live", "backfill"]
    usd_taken: float
    usd_cap: float | None = Field(description="Null where nothing is paid")
    is_used_up: bool
    resets_at: datetime
    stop_reason: str | None = Field(description="Why the lane asks nothing now, besides its caps")
    tasks: list[TaskBudget]


class ServedTokens(Answer):
    served: int
    tokens: int
    hypothetical_tokens: int = Field(description="Without compression")
    saved_share: float | None = Field(description="0 to 1; null while nothing was served")


class Served(Answer):
    """What was served lately, and what that saved."""

    days: int
    contexts: ServedTokens
    windows: ServedTokens


class Stats(Answer):
    """Figures of the memory. Means are over served summaries and null while there is none."""

    total_interactions: int
    summarized_interactions: int = Field(description="Eligible, with a summary that says what the interaction says now")
    summarization_coverage: float | None = Field(description="Summarised of eligible, 0 to 1")
    pending_in_queue: int = Field(description="Eligible without such a summary and not given up, due or not")
    oldest_unsummarized: datetime | None = Field(description="When the oldest pending interaction ended")
    avg_summarization_time_ms: float | None
    avg_compression_ratio: float | None
    total_cost_today: float = Field(description="USD, by the ledger, in the memory's time zone")
    total_cost_month: float
    avg_cost_per_summary: float | None
    avg_key_points_per_summary: float | None
    avg_decisions_per_summary: float | None
    total_open_action_items: int = Field(description="Not overdue and overdue ones; no lapsed and perhaps kept ones")
    overdue_action_items: int
    perhaps_done_action_items: int = Field(description="Perhaps kept: what was said is not sure")
    lapsed_action_items: int = Field(description="Due, or said, long ago, and nothing was heard since")
    eligible_interactions: int = Field(description="Completed, with enough messages, not in a mass chat")
    failed_interactions: int
    stale_summaries: int = Field(
        description="Made by another prompt, model or schema version; they count as summarised"
    )
    archived_messages: int
    days_behind: int = Field(
        description="Days that stand as they were counted last, since too many changed at once, as in a first import;"
        " at 0 every figure is exact"
    )
    put_off: PutOff
    served: Served
    budget: list[LaneBudget]


class QueueList(Answer):
    """Rows have the columns of their list: ids, times, attempts and a reason; never a word of a conversation."""

    items: list[dict[str, Any]]
    next: str | None


class QueueLists(Answer):
    waiting: QueueList
    active: QueueList
    failed: QueueList
    partitions: QueueList
    backfills: QueueList


class ProfilesQueue(Answer):
    put_off: int
    failed: int


class StoppedLane(Answer):
    """A lane whose last calls brought no whole answer: nothing more is asked until then."""

    lane: Literal["live", "backfill"]
    reason: str
    until: datetime


class BatchesQueue(Answer):
    open: int = Field(description="Message batches on their way")
    questions: int


class Queue(Answer):
    """How many of each, and the first rows of every list."""

    waiting: int = Field(description="Eligible interactions that nobody works on yet, due or not")
    active: int
    failed: int
    profiles: ProfilesQueue
    partitions: int = Field(description="Partitions of which an attempt left something undone")
    backfills: int
    batches: BatchesQueue
    stopped: list[StoppedLane]
    lists: QueueLists
