"""Budgets of LLM calls: the one place that every call asks (P12, P32)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements, fields_of
from pkg_pipeline.stages.llm.stores import (
    UNANSWERED_LIMIT,
    UNANSWERED_REST_SECONDS,
    Caps,
    Period,
    PlannedCall,
    Refusal,
    Reservation,
    unanswered_reason,
)
from pkg_pipeline.stages.ports import Lane, Subject

SQL = Statements("budgets")
LANES: tuple[Lane, ...] = get_args(Lane)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """Used amounts including open reservations: USD of the lane's day over all tasks, calls of one task's period."""

    usd: float
    calls: int
    day_ends_in_seconds: float
    period_ends_in_seconds: float


class PostgresBudgetStore:
    """Implements ``BudgetStore``. Days and weeks are those of the database clock in its zone."""

    def __init__(self, connections: ConnectionPool, *, timezone: str, unanswered_limit: int = UNANSWERED_LIMIT) -> None:
        self._connections = connections
        self._unanswered_limit = unanswered_limit
        self._timezone = timezone

    def reserve(self, *, task: str, usd: float, caps: Caps, call: PlannedCall) -> Reservation | Refusal:
        with self._connections.connection() as connection, connection.pipeline(), connection.transaction():
            return self.reserve_in(connection, task=task, usd=usd, caps=caps, call=call)

    def reserve_in(
        self, connection: Connection, *, task: str, usd: float, caps: Caps, call: PlannedCall
    ) -> Reservation | Refusal:
        """Within the transaction of the caller."""
        lane = call.billing.lane
        asked = {"usd": usd, "calls_cap": caps.calls, "usd_cap": caps.usd, "asked_task": call.task}
        asked |= {"subject_kind": call.subject.kind, "subject_id": call.subject.id}
        span = {"lane": lane, "task": task, "period": caps.period, "timezone": self._timezone}
        SQL.run(connection, "lock_lane", lane=lane)
        SQL.run(connection, "settle_lost", lane=lane)
        unanswered = SQL.one(connection, "unanswered", lane=lane, rest_seconds=UNANSWERED_REST_SECONDS)
        if unanswered and unanswered.calls >= self._unanswered_limit and unanswered.seconds_left > 0:
            return Refusal(unanswered_reason(unanswered.calls, lane), unanswered.seconds_left)
        given = {**fields_of(call), **fields_of(call.billing), **asked, **span}
        if (taken := SQL.one(connection, "reserve", Reservation, **given)) is not None:
            return taken
        state = _state(connection, span)
        if caps.calls is not None and state.calls >= caps.calls:
            when = "this week" if caps.period == "week" else "today"
            return Refusal(f"the {lane} lane's {caps.calls} calls of {when} are used up", state.period_ends_in_seconds)
        if usd > caps.usd > 0:
            reason = f"one call may cost {usd:.4f} USD, more than the {lane} lane's {caps.usd:.2f} USD of a day"
            return Refusal(reason, state.day_ends_in_seconds, is_for_all=False)
        reason = f"the {lane} lane's {caps.usd:.2f} USD of today do not cover the next call ({state.usd:.4f} taken)"
        return Refusal(reason, state.day_ends_in_seconds)

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        given = {"id": reservation.id, "day": reservation.day, "lane": lane, "task": task}
        billed = SQL.value(self._connections, "settle", **given, subject_kind=subject.kind, subject_id=subject.id)
        return billed or 0.0

    def settle_lost(self) -> None:
        for lane in LANES:
            with self._connections.connection() as connection, connection.transaction():
                SQL.run(connection, "lock_lane", lane=lane)
                SQL.run(connection, "settle_lost", lane=lane)

    def state(self, *, lane: Lane, task: str, period: Period = "day") -> BudgetState:
        """Nothing is reserved."""
        return _state(self._connections, {"lane": lane, "task": task, "period": period, "timezone": self._timezone})


def _state(on: Connection | ConnectionPool, span: dict[str, Any]) -> BudgetState:
    (found,) = SQL.rows(on, "state", BudgetState, **span)
    return found
