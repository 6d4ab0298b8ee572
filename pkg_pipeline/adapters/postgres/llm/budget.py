"""What may still be spent, and what was: the one place that every call of every lane and task asks (P12, P32)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query
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

LANES: tuple[Lane, ...] = get_args(Lane)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What is taken, open reservations included: money of the lane's day over all tasks, calls of one task's period."""

    usd: float
    calls: int
    day_ends_in_seconds: float
    period_ends_in_seconds: float


class PostgresBudgetStore:
    """Implements ``stages.llm.stores.BudgetStore``. Days and weeks are the database clock's in its zone."""

    def __init__(self, connections: ConnectionPool, *, timezone: str, unanswered_limit: int = UNANSWERED_LIMIT) -> None:
        self._connections = connections
        self._unanswered_limit = unanswered_limit
        self._timezone = timezone

    def reserve(self, *, task: str, usd: float, caps: Caps, call: PlannedCall) -> Reservation | Refusal:
        lane = call.billing.lane
        parameters = {
            "lane": lane,
            "task": task,
            "usd": usd,
            "calls_cap": caps.calls,
            "usd_cap": caps.usd,
            "period": caps.period,
            "timezone": self._timezone,
            "rest_seconds": UNANSWERED_REST_SECONDS,
            "asked_task": call.task,
            "subject_kind": call.subject.kind,
            "subject_id": call.subject.id,
            "request_hash": call.request_hash,
            "model": call.model,
            "prompt_version": call.prompt_version,
            "run_id": call.billing.run_id,
            "backfill_id": call.billing.backfill_id,
            "lease_seconds": call.lease_seconds,
        }
        with self._connections.connection() as connection, connection.pipeline(), connection.transaction():
            rows = connection.cursor(row_factory=dict_row)
            connection.execute(query("budgets", "lock_lane"), parameters)
            connection.execute(query("budgets", "settle_lost"), parameters)
            unanswered = rows.execute(query("budgets", "unanswered"), parameters).fetchone() or {"calls": 0}
            if unanswered["calls"] >= self._unanswered_limit and unanswered["seconds_left"] > 0:
                return Refusal(unanswered_reason(unanswered["calls"], lane), unanswered["seconds_left"])
            taken = rows.execute(query("budgets", "reserve"), parameters).fetchone()
            if taken is not None:
                return Reservation(id=taken["id"], day=taken["day"], usd=usd, taken_at=taken["taken_at"])
            state = _state(connection, parameters)
        if caps.calls is not None and state.calls >= caps.calls:
            span = "this week" if caps.period == "week" else "today"
            return Refusal(f"the {lane} lane's {caps.calls} calls of {span} are used up", state.period_ends_in_seconds)
        if usd > caps.usd > 0:
            reason = f"one call may cost {usd:.4f} USD, more than the {lane} lane's {caps.usd:.2f} USD of a day"
            return Refusal(reason, state.day_ends_in_seconds, is_for_all=False)
        reason = f"the {lane} lane's {caps.usd:.2f} USD of today do not cover the next call ({state.usd:.4f} taken)"
        return Refusal(reason, state.day_ends_in_seconds)

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        with self._connections.connection() as connection:
            row = (
                connection.cursor(row_factory=dict_row)
                .execute(
                    query("budgets", "settle"),
                    {
                        "id": reservation.id,
                        "day": reservation.day,
                        "lane": lane,
                        "task": task,
                        "subject_kind": subject.kind,
                        "subject_id": subject.id,
                    },
                )
                .fetchone()
            )
        return 0.0 if row is None else float(row["usd"])

    def settle_lost(self) -> None:
        for lane in LANES:
            with self._connections.connection() as connection, connection.transaction():
                connection.execute(query("budgets", "lock_lane"), {"lane": lane})
                connection.execute(query("budgets", "settle_lost"), {"lane": lane})

    def state(self, *, lane: Lane, task: str, period: Period = "day") -> BudgetState:
        """What is taken now; nothing is reserved."""
        with self._connections.connection() as connection:
            return _state(connection, {"lane": lane, "task": task, "period": period, "timezone": self._timezone})


def _state(connection: Connection, parameters: dict[str, Any]) -> BudgetState:
    row = connection.execute(query("budgets", "state"), parameters).fetchone()
    assert row is not None, "the statement always gives a row"
    return BudgetState(*row)
