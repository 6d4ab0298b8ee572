"""Ledger and budget ports (B6, B8, P12, P32)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import Billing, Lane, LlmAttempt, Subject

Period = Literal["day", "week"]
"""Of a call cap: a local day, or a local week from Sunday."""

UNANSWERED_LIMIT = 5
"""Unanswered calls in a row after which a lane pauses."""

UNANSWERED_REST_SECONDS = 3_600.0
"""Length of the pause; then one call is tried."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One try of a call (B6), written in its own transaction before its result is used. ``also``: what else it is
    about; ``subject`` None: that was forgotten. ``id``: of a question in a batch, so that it is written once.
    ``counted_tokens``: of the prompt, as we count them (B12).
    """

    subject: Subject | None
    billing: Billing
    request_hash: str
    task: str
    model: str
    prompt_version: str
    outcome: str
    usage: Usage
    cost_usd: float
    duration_seconds: float
    request_id: str | None = None
    error: str | None = None
    reply: str | None = None
    also: tuple[Subject, ...] = ()
    id: UUID | None = None
    counted_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing was published. ``counts`` False: transport, quota or budget, no attempt (P19). ``quarantined``: last
    invalid answer with reason, for review.
    """

    error: str
    retry_after_seconds: float
    counts: bool
    quarantined: tuple[str, str] | None = None
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Caps:
    """``usd`` per day over the lane's tasks; ``calls`` of one task per ``period``, None: no cap (P12, P32)."""

    usd: float
    calls: int | None = None
    period: Period = "day"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call to reserve under a lease. ``task`` may be part of the paying task (an update of a summary)."""

    subject: Subject
    request_hash: str
    task: str
    model: str
    prompt_version: str
    billing: Billing
    lease_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money and one call from the budget of ``day``, settled there."""

    id: UUID
    day: date
    usd: float
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused reservation. ``retry_after_seconds``: to the next budget day or week. ``is_for_all`` False: this call
    alone exceeds the cap.
    """

    reason: str
    retry_after_seconds: float
    is_for_all: bool = True


class LedgerStore(Protocol):
    """Requests, answers and costs (B6, B8)."""

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        """Paid answer: (text, usage, stop reason) (B8)."""
        ...

    def record(self, row: LedgerRow) -> None: ...

    def calibration(self, model: str) -> float | None:
        """Tokens that the model reports for one of ours; None before enough calls (B12)."""
        ...

    def refuse(self, request_hash: str, *, reason: str) -> None:
        """The answer of this hash is invalid: never replay it."""
        ...


class BudgetStore(Protocol):
    """One row per day (database clock), lane and task, updated atomically (P12, P32)."""

    def reserve(self, *, task: str, usd: float, caps: Caps, call: PlannedCall) -> Reservation | Refusal:
        """Reserve one call at its maximal cost, or say why not; refused while the lane is paused. Unsettled
        reservations are booked in full when the lease ends.
        """
        ...

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        """Replace the reservation by the ledger's cost for the subject since; returns it in USD."""
        ...

    def settle_lost(self) -> None:
        """Book what dead processes may have spent once their leases end. Repeatable."""
        ...


def unanswered_reason(calls: int, lane: str) -> str:
    return (
        f"the last {calls} calls of the {lane} lane went out and brought no whole answer; each may have been charged"
        " and is booked at the most it can cost, so nothing more is asked for an hour"
    )


def recorder(ledger: LedgerStore) -> Callable[[LlmAttempt], None]:
    """Records tries without an answer; ``ask`` records the answered one."""

    def record(attempt: LlmAttempt) -> None:
        if attempt.outcome != "ok":
            ledger.record(_row_of(attempt))

    return record


def _row_of(attempt: LlmAttempt) -> LedgerRow:
    if attempt.subject is None:
        raise ValueError("a call about nothing has no place in the ledger")
    lost = "no whole answer; booked at the most it can cost" if attempt.outcome == "unknown" else None
    return LedgerRow(
        subject=attempt.subject,
        billing=attempt.billing,
        request_hash=attempt.request_hash,
        task=attempt.task,
        model=attempt.model,
        prompt_version=attempt.prompt_version,
        outcome=attempt.outcome,
        usage=attempt.usage or Usage(0, 0),
        cost_usd=attempt.cost_usd,
        duration_seconds=attempt.duration_seconds,
        request_id=attempt.request_id,
        counted_tokens=attempt.counted_tokens,
        error=f"HTTP {attempt.status_code}" if attempt.status_code else attempt.stop_reason or lost,
    )
