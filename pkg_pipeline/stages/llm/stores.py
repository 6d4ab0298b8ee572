"""Ledger and budget: what was asked, answered and paid (B6, B8), and what may still be spent (P12, P32)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import Billing, Lane, LlmAttempt, Subject

Period = Literal["day", "week"]
"""What a cap of calls is counted over: a local day, or a local week that begins on Sunday."""

UNANSWERED_LIMIT = 5
"""So many calls in a row without a whole answer, and the lane asks no more for a while."""

UNANSWERED_REST_SECONDS = 3_600.0
"""After that one more is tried, and the lane rests again if it brings nothing either."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One attempted LLM call (B6), written in its own transaction before its result is used."""

    subject: Subject
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
class Caps:
    """``usd`` of a day over all tasks of the lane; ``calls`` of one task in a ``period``, None: no cap (P12, P32)."""

    usd: float
    calls: int | None = None
    period: Period = "day"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call about to be made, and for how long its asker is waited for: what the ledger is told of an asker that died.

    ``task`` may be a part of the task whose budget pays (an update of a summary).
    """

    subject: Subject
    request_hash: str
    task: str
    model: str
    prompt_version: str
    billing: Billing
    lease_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money and one call taken from the budget of ``day``; it is settled there, whatever day it is by then."""

    id: UUID
    day: date
    usd: float
    taken_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was taken. ``retry_after_seconds`` is the time to the next budget day, or week where that is used up.

    ``is_for_all`` is False where this one call alone costs more than a whole day's cap: others may still fit.
    """

    reason: str
    retry_after_seconds: float
    is_for_all: bool = True


class LedgerStore(Protocol):
    """What was asked, answered and paid (B6, B8)."""

    def replay(self, request_hash: str) -> tuple[str, Usage, str] | None:
        """An answer already paid for: (text, usage, stop reason) (B8)."""
        ...

    def record(self, row: LedgerRow) -> None: ...

    def refuse(self, request_hash: str, *, reason: str) -> None:
        """The answer kept under this hash did not pass: it is never replayed."""
        ...


class BudgetStore(Protocol):
    """One row a day, lane and task, taken atomically by every path (P12, P32). Days are the database clock's."""

    def reserve(self, *, task: str, usd: float, caps: Caps, call: PlannedCall) -> Reservation | Refusal:
        """Take one call and the most it can cost, or say why not. Nothing is taken while the lane's last calls brought
        no answer. A reservation that nobody settles is booked in full when its lease ends.
        """
        ...

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        """Replace the reservation by what the ledger says was billed for the subject since; that sum in USD."""
        ...

    def settle_lost(self) -> None:
        """Books what processes that are gone may have spent, once their leases ended. As often as one likes."""
        ...


def unanswered_reason(calls: int, lane: str) -> str:
    """What a run, the queue and the statistics say of a lane that rests."""
    return (
        f"the last {calls} calls of the {lane} lane went out and brought no whole answer; each may have been charged"
        " and is booked at the most it can cost, so nothing more is asked for an hour"
    )


def recorder(ledger: LedgerStore) -> Callable[[LlmAttempt], None]:
    """Writes down every try that brought no answer; the one that did is recorded with its answer by ``ask``."""

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
        error=f"HTTP {attempt.status_code}" if attempt.status_code else attempt.stop_reason or lost,
    )
