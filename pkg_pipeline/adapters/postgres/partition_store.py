"""Partitions that need work and the day's budget: the two things every path has to agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.summary_store import eligible
from pkg_pipeline.stages.stores import DuePartition, Eligibility, Lane, PartitionCounts


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
            return {key: tuple(marks) for key, marks in rows}

    def finish(self, asset: str, key: str, *, marks: Sequence[int], pending: int, due_at: datetime | None) -> None:
        with self._connections.connection() as connection:
            connection.execute(
                query("partitions", "finish"),
                {
                    "asset": asset,
                    "key": key,
                    "marks": list(marks),
                    "version": max(marks, default=0),
                    "pending": pending,
                    "due_at": due_at,
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

    def reserve(self, *, lane: Lane, task: str, usd: float, calls_cap: int | None, usd_cap: float) -> str | None:
        parameters = {"lane": lane, "task": task, "usd": usd, "calls_cap": calls_cap, "usd_cap": usd_cap}
        with transaction(self._connections) as connection:
            zone = {"timezone": self._timezone}
            if connection.execute(query("partitions", "reserve"), {**parameters, **zone}).fetchone() is not None:
                return None
            found = connection.execute(query("partitions", "budget_today"), {**parameters, **zone}).fetchone()
        calls, spent = found or (0, 0)
        if calls_cap is not None and calls >= calls_cap:
            return f"the {lane} lane's {calls_cap} calls of today are used up"
        return f"the {lane} lane's {usd_cap:.2f} USD of today do not cover the next call ({float(spent):.4f} spent)"

    def settle(self, *, lane: Lane, task: str, reserved_usd: float, spent_usd: float, used: bool) -> None:
        with self._connections.connection() as connection:
            connection.execute(
                query("partitions", "settle"),
                {
                    "lane": lane,
                    "task": task,
                    "reserved": reserved_usd,
                    "spent": spent_usd,
                    "used": used,
                    "timezone": self._timezone,
                },
            )
