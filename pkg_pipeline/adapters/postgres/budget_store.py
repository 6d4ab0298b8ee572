"""What may still be spent, and what was: the one place that every call of every lane and task asks (P12, P32)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.stages.stores import Lane, Period, Refusal, Reservation, Subject


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What is taken, open reservations included: money of the lane's day over all tasks, calls of one task's period."""

    usd: float
    calls: int
    day_ends_in_seconds: float
    period_ends_in_seconds: float


class PostgresBudgetStore:
    """Implements ``stages.stores.BudgetStore``. Days and weeks are the database clock's in the memory's time zone."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def reserve(
        self,
        *,
        lane: Lane,
        task: str,
        usd: float,
        calls_cap: int | None,
        usd_cap: float,
        period: Period = "day",
    ) -> Reservation | Refusal:
        parameters = {
            "lane": lane,
            "task": task,
            "usd": usd,
            "calls_cap": calls_cap,
            "usd_cap": usd_cap,
            "period": period,
            "timezone": self._timezone,
        }
        with self._connections.connection() as connection, connection.pipeline(), connection.transaction():
            connection.execute(query("budgets", "lock_lane"), parameters)
            taken = connection.execute(query("budgets", "reserve"), parameters).fetchone()
            if taken is not None:
                return Reservation(day=taken[0], usd=usd, taken_at=taken[1])
            state = _state(connection, parameters)
        if calls_cap is not None and state.calls >= calls_cap:
            span = "this week" if period == "week" else "today"
            return Refusal(f"the {lane} lane's {calls_cap} calls of {span} are used up", state.period_ends_in_seconds)
        if usd > usd_cap > 0:
            reason = f"one call may cost {usd:.4f} USD, more than the {lane} lane's {usd_cap:.2f} USD of a day"
            return Refusal(reason, state.day_ends_in_seconds, is_for_all=False)
        reason = f"the {lane} lane's {usd_cap:.2f} USD of today do not cover the next call ({state.usd:.4f} taken)"
        return Refusal(reason, state.day_ends_in_seconds)

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        with self._connections.connection() as connection:
            row = connection.execute(
                query("budgets", "settle"),
                {
                    "day": reservation.day,
                    "taken_at": reservation.taken_at,
                    "reserved": reservation.usd,
                    "lane": lane,
                    "task": task,
                    "subject_kind": subject.kind,
                    "subject_id": subject.id,
                },
            ).fetchone()
        return 0.0 if row is None else float(row[0])

    def state(self, *, lane: Lane, task: str, period: Period = "day") -> BudgetState:
        """What is taken now; nothing is reserved."""
        with self._connections.connection() as connection:
            return _state(connection, {"lane": lane, "task": task, "period": period, "timezone": self._timezone})


def _state(connection: Connection, parameters: dict[str, Any]) -> BudgetState:
    row = connection.execute(query("budgets", "state"), parameters).fetchone()
    assert row is not None, "the statement always gives a row"
    return BudgetState(*row)
