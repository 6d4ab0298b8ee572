"""What may still be spent, as a Protocol: reservations before a call, bills after it (P12, P32)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

from pkg_pipeline.stages.summaries.stores import Lane, Subject

Period = Literal["day", "week"]

UNANSWERED_LIMIT = 5
"""So many calls in a row without a whole answer, and the lane asks no more for a while."""

UNANSWERED_REST_SECONDS = 3_600.0
"""After that one more is tried, and the lane rests again if it brings nothing either."""


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
    run_id: str | None = None
    backfill_id: UUID | None = None
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


class BudgetStore(Protocol):
    """One row a day, lane and task, taken atomically by every path (P12, P32). Days are the database clock's."""

    def reserve(
        self,
        *,
        lane: Lane,
        task: str,
        usd: float,
        calls_cap: int | None,
        usd_cap: float,
        call: PlannedCall,
        period: Period = "day",
    ) -> Reservation | Refusal:
        """Take one call and the most it can cost, or say why not. ``usd_cap`` holds for all tasks of the lane's day
        together, ``calls_cap`` for this task's calls of the ``period``. Nothing is taken while the lane's last calls
        brought no answer. A reservation that nobody settles is booked in full when its lease ends.
        """
        ...

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        """Replace the reservation by what the ledger says was billed for the subject since; that sum in USD."""
        ...


def unanswered_reason(calls: int, lane: str) -> str:
    """What a run, the queue and the statistics say of a lane that rests."""
    return (
        f"the last {calls} calls of the {lane} lane went out and brought no whole answer; each may have been charged"
        " and is booked at the most it can cost, so nothing more is asked for an hour"
    )
