"""Statistics and budgets (P30, P32), explained in docs/monitoring.md. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.llm.stores import UNANSWERED_LIMIT, unanswered_reason
from pkg_pipeline.stages.monitoring.stores import (
    BudgetFigures,
    ItemFigures,
    LedgerFigures,
    Leftover,
    MemoryFigures,
    ServedFigures,
    StoppedLane,
)

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore

USD_DIGITS = 6
SERVED_DAYS = 30
"""Days of the figures on what was served."""


@dataclass(frozen=True, slots=True)
class CallsCap:
    """At most ``calls`` paid calls of a task in the live lane per day or Sunday-based week (P12)."""

    task: str
    calls: int
    period: Literal["day", "week"]


@dataclass(frozen=True, slots=True)
class MonitoringParams:
    """Current versions, which make all others stale (B5); ``usd_caps``: per day and lane (P32)."""

    minimum_messages: int
    due_after_seconds: float
    gap_seconds: float
    prompts: frozenset[str]
    model: str
    schema_version: int
    usd_caps: Mapping[str, float] = field(default_factory=dict[str, float])
    calls_caps: Sequence[CallsCap] = ()
    unanswered_limit: int = UNANSWERED_LIMIT


@dataclass(frozen=True, slots=True)
class Statistics:
    memory: MemoryFigures
    items: ItemFigures
    served: Sequence[ServedFigures]
    ledger: Sequence[LedgerFigures]
    budgets: BudgetFigures
    leftovers: Sequence[Leftover]
    stopped: Sequence[StoppedLane]
    params: MonitoringParams

    @property
    def coverage(self) -> float | None:
        """Summarised / eligible, 0 to 1; None if nothing is eligible."""
        return self.memory.summarized / self.memory.eligible if self.memory.eligible else None

    @property
    def stale(self) -> int:
        """Served summaries of another prompt, model or schema (B5); they count as summarised."""
        return sum(number for version, number in self.memory.versions.items() if not self._is_current(version))

    @property
    def put_off(self) -> int:
        """Work deferred by budget, retry or service to a later time."""
        return sum(one.put_off for one in self.leftovers)

    @property
    def put_off_until(self) -> datetime | None:
        return min((one.resume_at for one in self.leftovers if one.resume_at is not None), default=None)

    def _is_current(self, version: str) -> bool:
        prompt, _, rest = version.partition("|")
        return prompt in self.params.prompts and rest == f"{self.params.model}|{self.params.schema_version}"

    def to_json(self) -> dict[str, Any]:
        """The names of P30 in order, then the rest."""
        memory = self.memory
        return {
            "total_interactions": memory.interactions,
            "summarized_interactions": memory.summarized,
            "summarization_coverage": None if self.coverage is None else round(self.coverage, 6),
            "pending_in_queue": memory.pending,
            "oldest_unsummarized": None if memory.oldest_pending_at is None else iso(memory.oldest_pending_at),
            "avg_summarization_time_ms": _mean(memory.generation_seconds * 1000, memory.summaries, 3),
            "avg_compression_ratio": _mean(memory.compression_ratios, memory.summaries, 2),
            "total_cost_today": round(sum(one.cost_today_usd for one in self.ledger), USD_DIGITS),
            "total_cost_month": round(sum(one.cost_month_usd for one in self.ledger), USD_DIGITS),
            "avg_cost_per_summary": _mean(memory.cost_usd, memory.summaries, USD_DIGITS),
            "avg_key_points_per_summary": _mean(memory.key_points, memory.summaries, 2),
            "avg_decisions_per_summary": _mean(memory.decisions, memory.summaries, 2),
            "total_open_action_items": self.items.open,
            "overdue_action_items": self.items.overdue,
            "perhaps_done_action_items": self.items.perhaps_done,
            "lapsed_action_items": self.items.lapsed,
            "eligible_interactions": memory.eligible,
            "failed_interactions": memory.failed,
            "stale_summaries": self.stale,
            "archived_messages": memory.archived_messages,
            "days_behind": memory.days_behind,
            "put_off": {
                "rows": self.put_off,
                "until": None if self.put_off_until is None else iso(self.put_off_until),
            },
            "served": {"days": SERVED_DAYS, **{f"{one.kind}s": _served_json(one) for one in self.served}},
            "budget": [lane_json(one) for one in self.lanes()],
        }

    def lanes(self) -> list[LaneBudget]:
        stopped = {one.lane: one for one in self.stopped}
        return [_lane(name, self.budgets, self.params, stopped.get(name)) for name in ("live", "backfill")]


@dataclass(frozen=True, slots=True)
class TaskBudget:
    """Calls of one task in its period; ``cap`` None: no cap."""

    task: str
    period: Literal["day", "week"]
    calls: int
    cap: int | None
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class LaneBudget:
    """Today's spending of a lane over all tasks, and the calls of each (P32)."""

    lane: str
    usd_taken: float
    usd_cap: float | None
    resets_at: datetime
    tasks: Sequence[TaskBudget]
    stopped: StoppedLane | None = None

    @property
    def is_used_up(self) -> bool:
        """No call at all, or none of one task, can be reserved now."""
        spent = self.usd_cap is not None and self.usd_taken >= self.usd_cap
        return spent or any(one.cap is not None and one.calls >= one.cap for one in self.tasks)


def statistics(store: PostgresMonitoringStore, params: MonitoringParams, *, now: datetime) -> Statistics:
    """``now``: of the memory's clock; ledger and budget follow the database's."""
    return Statistics(
        memory=store.figures(minimum_messages=params.minimum_messages),
        items=store.items(now),
        served=store.served(days=SERVED_DAYS),
        ledger=store.ledger(),
        budgets=store.budgets(),
        leftovers=store.leftovers(),
        stopped=store.stopped_lanes(limit=params.unanswered_limit),
        params=params,
    )


def _served_json(one: ServedFigures) -> dict[str, int | float | None]:
    share = 1 - one.tokens / one.hypothetical_tokens if one.hypothetical_tokens else None
    return {
        "served": one.served,
        "tokens": one.tokens,
        "hypothetical_tokens": one.hypothetical_tokens,
        "saved_share": None if share is None else round(share, 4),
    }


def stopped_json(stopped: StoppedLane) -> dict[str, Any]:
    return {
        "lane": stopped.lane,
        "reason": unanswered_reason(stopped.calls, stopped.lane),
        "until": iso(stopped.until),
    }


def lane_json(budget: LaneBudget) -> dict[str, Any]:
    return {
        "lane": budget.lane,
        "usd_taken": round(budget.usd_taken, USD_DIGITS),
        "usd_cap": budget.usd_cap,
        "is_used_up": budget.is_used_up,
        "resets_at": iso(budget.resets_at),
        "stop_reason": None if budget.stopped is None else stopped_json(budget.stopped)["reason"],
        "tasks": [
            {
                "task": one.task,
                "period": one.period,
                "calls": one.calls,
                "calls_cap": one.cap,
                "resets_at": iso(one.resets_at),
            }
            for one in budget.tasks
        ],
    }


def _lane(name: str, budgets: BudgetFigures, params: MonitoringParams, stopped: StoppedLane | None) -> LaneBudget:
    taken = {one.task: one for one in budgets.taken if one.lane == name}
    caps = {cap.task: cap for cap in params.calls_caps} if name == "live" else {}
    tasks: list[TaskBudget] = []
    for task in sorted({*taken, *caps}):
        cap, found = caps.get(task), taken.get(task)
        weekly = cap is not None and cap.period == "week"
        calls = 0 if found is None else found.calls_week if weekly else found.calls_today
        if calls or cap is not None:
            ends_at = budgets.week_ends_at if weekly else budgets.day_ends_at
            tasks.append(TaskBudget(task, "week" if weekly else "day", calls, cap.calls if cap else None, ends_at))
    return LaneBudget(
        lane=name,
        usd_taken=sum(one.usd_today for one in taken.values()),
        usd_cap=params.usd_caps.get(name),
        resets_at=budgets.day_ends_at,
        tasks=tuple(tasks),
        stopped=stopped,
    )


def _mean(total: float, count: int, digits: int) -> float | None:
    return round(total / count, digits) if count else None
