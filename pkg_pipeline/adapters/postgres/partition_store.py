"""Partitions that need work and the day's budget: the two things every path has to agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.summary_store import eligible
from pkg_pipeline.stages.stores import (
    DuePartition,
    Eligibility,
    FinishedPartition,
    Lane,
    PartitionCounts,
    Refusal,
    Reservation,
    Subject,
)


class PostgresPartitionStore:
    """Implements ``stages.stores.PartitionStore``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        with self._connections.connection() as connection:
            rows = connection.execute(query("partitions", "due"), {"asset": asset, "now": now, "limit": limit})
            return [DuePartition(asset, key, version, attempts + 1) for key, version, attempts in rows]

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        del now
        with self._connections.connection() as connection:
            rows = connection.execute(query("partitions", "begin"), {"asset": asset, "keys": list(keys)})
            return {key: tuple(marks or ()) for key, marks in rows}

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        if not done:
            return
        marks = [mark for one in done for mark in one.marks]
        with transaction(self._connections) as connection:
            if marks:
                connection.execute(query("partitions", "drop_marks"), {"marks": marks})
            connection.execute(
                query("partitions", "finish"),
                {
                    "asset": asset,
                    "keys": [one.key for one in done],
                    "versions": [max(one.marks, default=0) for one in done],
                    "pending": [one.pending for one in done],
                    "due_at": [one.due_at for one in done],
                    "resume_at": [one.resume_at for one in done],
                    "rest": [one.rest_seconds for one in done],
                },
            )

    def counts(self, days: tuple[date, date], *, eligibility: Eligibility) -> Mapping[date, PartitionCounts]:
        with self._connections.connection() as connection:
            rows = connection.execute(query("summaries", "counts"), eligible(eligibility, days))
            return {row[0]: PartitionCounts(*row[1:]) for row in rows}


class PostgresBudgetStore:
    """Implements ``stages.stores.BudgetStore``. The day is the database clock's in the memory's time zone."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def reserve(
        self, *, lane: Lane, task: str, usd: float, calls_cap: int | None, usd_cap: float
    ) -> Reservation | Refusal:
        parameters = {
            "lane": lane,
            "task": task,
            "usd": usd,
            "calls_cap": calls_cap,
            "usd_cap": usd_cap,
            "timezone": self._timezone,
        }
        with self._connections.connection() as connection:
            taken = connection.execute(query("partitions", "reserve"), parameters).fetchone()
            if taken is not None:
                return Reservation(day=taken[0], usd=usd, taken_at=taken[1])
            found = connection.execute(query("partitions", "budget_today"), parameters).fetchone()
        assert found is not None, "the statement always gives a row"
        calls, spent, seconds = found
        if calls_cap is not None and calls >= calls_cap:
            return Refusal(f"the {lane} lane's {calls_cap} calls of today are used up", seconds)
        if usd > usd_cap > 0:
            reason = f"one call may cost {usd:.4f} USD, more than the {lane} lane's {usd_cap:.2f} USD of a day"
            return Refusal(reason, seconds, is_for_all=False)
        reason = f"the {lane} lane's {usd_cap:.2f} USD of today do not cover the next call ({float(spent):.4f} taken)"
        return Refusal(reason, seconds)

    def settle(self, reservation: Reservation, *, lane: Lane, task: str, subject: Subject) -> float:
        with self._connections.connection() as connection:
            row = connection.execute(
                query("partitions", "settle"),
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
