"""What one run that asks a model may still do: the lane's budget, and whether the model is there at all.

Shared by the run's threads. What an interaction means by it is in ``summarize``, who is next in ``summaries``.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from uuid import UUID

from pkg_pipeline.stages.llm.stores import BudgetStore, Period, PlannedCall, Refusal, Reservation
from pkg_pipeline.stages.summaries.stores import Lane, Subject

TASK = "interaction_summary"

TROUBLE_LIMIT = 3
"""So many questions in a row without an answer mean the service, not the interactions: the run stops asking."""


class OutOfBudget(Exception):
    """A cap of the day or week is reached: work stops, nothing fails (P32)."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Run:
    """The caps of one lane as this run sees them, and how the model answers it. ``usd_cap`` is a day's over all tasks
    of the lane, ``calls_cap`` this task's over a ``period``.

    ``tries_unanswered``: a question whose answer broke off is asked so often in all, each time out of the budget.
    ``stop_reason`` is set once nothing more is to be asked; ``rest_seconds`` is how long it stays so.
    """

    def __init__(
        self,
        budgets: BudgetStore,
        *,
        lane: Lane,
        calls_cap: int | None,
        usd_cap: float,
        period: Period = "day",
        task: str = TASK,
        run_id: str | None = None,
        backfill_id: UUID | None = None,
        lease_seconds: float = 300.0,
    ) -> None:
        self.task = task
        self.tries_unanswered = 3
        self.run_id = run_id
        self.backfill_id = backfill_id
        self.lane: Lane = lane
        self.stop_reason: str | None = None
        self.rest_seconds = 0.0
        self._budgets = budgets
        self._calls_cap = calls_cap
        self._usd_cap = usd_cap
        self._period: Period = period
        self._lease_seconds = lease_seconds
        self._trouble = 0
        self._lock = threading.Lock()

    @property
    def is_stopped(self) -> bool:
        return self.stop_reason is not None

    def take(self, usd: float, call: PlannedCall) -> Reservation:
        """One call and the most it may cost, on this run's account. Raises ``OutOfBudget``."""
        found = self._budgets.reserve(
            lane=self.lane,
            task=self.task,
            usd=usd,
            calls_cap=self._calls_cap,
            usd_cap=self._usd_cap,
            call=replace(call, run_id=self.run_id, backfill_id=self.backfill_id, lease_seconds=self._lease_seconds),
            period=self._period,
        )
        if isinstance(found, Reservation):
            return found
        if found.is_for_all:
            self._stop(found.reason, found.retry_after_seconds)
        raise OutOfBudget(found)

    def settle(self, reservation: Reservation, *, subject: Subject) -> float:
        """What it did cost, by the ledger."""
        return self._budgets.settle(reservation, lane=self.lane, task=self.task, subject=subject)

    def answered(self) -> None:
        with self._lock:
            self._trouble = 0

    def unavailable(self, reason: str, wait_seconds: float) -> None:
        with self._lock:
            self._trouble += 1
            is_down = self._trouble >= TROUBLE_LIMIT
        if is_down:
            self._stop(f"the model does not answer: {reason}", wait_seconds)

    def misconfigured(self, reason: str) -> None:
        self._stop(reason, 0.0)

    def _stop(self, reason: str, rest_seconds: float) -> None:
        with self._lock:
            if self.stop_reason is None:
                self.stop_reason, self.rest_seconds = reason, rest_seconds
