"""A run's caps and the model's availability, shared by its threads."""

from __future__ import annotations

import threading

from pkg_pipeline.stages.llm.stores import BudgetStore, Caps, PlannedCall, Refusal, Reservation
from pkg_pipeline.stages.ports import Billing, Subject

TROUBLE_LIMIT = 3
"""Unanswered questions in a row after which the run stops asking."""


class OutOfBudget(Exception):
    """A cap of the day or week is reached: work is deferred (P32)."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Run:
    """Paid by ``billing`` within ``caps``, from the budget of ``task``. ``tries_unanswered``: tries of an unanswered
    question, each with a reservation.

    ``stop_reason`` is set once it stops asking, for ``rest_seconds``.
    """

    def __init__(
        self,
        budgets: BudgetStore,
        billing: Billing,
        caps: Caps,
        *,
        task: str,
        lease_seconds: float = 300.0,
        tries_unanswered: int = 3,
    ) -> None:
        self.billing, self.task, self.lease_seconds = billing, task, lease_seconds
        self.tries_unanswered = tries_unanswered
        self.stop_reason: str | None = None
        self.rest_seconds = 0.0
        self._budgets, self.caps = budgets, caps
        self._trouble = 0
        self._lock = threading.Lock()

    @property
    def is_stopped(self) -> bool:
        return self.stop_reason is not None

    def take(self, usd: float, call: PlannedCall) -> Reservation:
        """Reserve one call. Raises ``OutOfBudget``."""
        found = self._budgets.reserve(task=self.task, usd=usd, caps=self.caps, call=call)
        if isinstance(found, Reservation):
            return found
        if found.is_for_all:
            self.stop(found.reason, found.retry_after_seconds)
        raise OutOfBudget(found)

    def settle(self, reservation: Reservation, *, subject: Subject) -> float:
        return self._budgets.settle(reservation, lane=self.billing.lane, task=self.task, subject=subject)

    def answered(self) -> None:
        with self._lock:
            self._trouble = 0

    def unavailable(self, reason: str, wait_seconds: float) -> None:
        with self._lock:
            self._trouble += 1
            is_down = self._trouble >= TROUBLE_LIMIT
        if is_down:
            self.stop(f"the model does not answer: {reason}", wait_seconds)

    def misconfigured(self, reason: str) -> None:
        self.stop(reason, 0.0)

    def stop(self, reason: str, rest_seconds: float) -> None:
        """The first reason counts."""
        with self._lock:
            if self.stop_reason is None:
                self.stop_reason, self.rest_seconds = reason, rest_seconds
