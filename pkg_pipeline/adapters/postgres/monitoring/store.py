"""Figures and queues read, and the days that changed counted again: ``monitoring/monitoring.sql`` and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.stages.llm.stores import UNANSWERED_REST_SECONDS
from pkg_pipeline.stages.monitoring.stores import (
    ActiveLease,
    BudgetFigures,
    FailedInteraction,
    LedgerFigures,
    Leftover,
    MemoryFigures,
    OpenBackfill,
    PendingPartition,
    QueueCounts,
    QueuedInteraction,
    StoppedLane,
    Taken,
)

MOST_DAYS_COUNTED_NOW = 20
"""Changed days that a reader counts: each takes milliseconds at some hundred interactions a day."""

DAYS_ONE_BY_ONE = 200
"""More changed days than this are counted together: one pass over the tables instead of a look at each interaction."""

HOURS_AT_ONCE = 5_000

BEGINNING = datetime(1, 1, 3, tzinfo=UTC)
FIRST = UUID(int=0)


class PostgresMonitoringStore(PostgresReadStore):
    """Implements ``MonitoringStore``; asks as the other reads do, over a pool that need not write."""

    def __init__(self, connections: ConnectionPool, *, zone: ZoneInfo) -> None:
        super().__init__(connections, zone=zone)
        self._timezone = {"timezone": zone.key}

    def figures(self, *, minimum_messages: int) -> MemoryFigures:
        return MemoryFigures(*self._rows("monitoring", "figures", _counting(minimum_messages))[0])

    def ledger(self) -> list[LedgerFigures]:
        return [LedgerFigures(*row) for row in self._rows("monitoring", "ledger", self._timezone)]

    def budgets(self) -> BudgetFigures:
        rows = self._rows("monitoring", "budgets", self._timezone)
        taken = [Taken(*row[:5]) for row in rows if row[0] is not None]
        return BudgetFigures(taken, day_ends_at=rows[0][5], week_ends_at=rows[0][6])

    def stopped_lanes(self, *, limit: int) -> list[StoppedLane]:
        parameters = {"limit": limit, "rest_seconds": UNANSWERED_REST_SECONDS}
        rows = self._rows("monitoring", "stopped_lanes", parameters)
        return [StoppedLane(lane=lane, calls=calls, until=until) for lane, calls, until in rows]

    def leftovers(self) -> list[Leftover]:
        return [Leftover(*row) for row in self._rows("monitoring", "leftovers", {})]

    def queue_counts(self) -> QueueCounts:
        return QueueCounts(*self._rows("monitoring", "counts", {})[0])

    def waiting(
        self, *, after: tuple[date, datetime, UUID] | None, limit: int, minimum_messages: int, gap_seconds: float
    ) -> list[QueuedInteraction]:
        day, ended_at, identity = after or (BEGINNING.date(), BEGINNING, FIRST)
        parameters = {
            "after_day": day,
            "after_at": ended_at,
            "after_id": identity,
            "limit": limit,
            "gap": gap_seconds,
            **_counting(minimum_messages),
        }
        return [QueuedInteraction(*row) for row in self._rows("monitoring", "waiting", parameters)]

    def active(self, *, after: tuple[str, UUID] | None, limit: int) -> list[ActiveLease]:
        kind, identity = after or ("", FIRST)
        parameters = {"after_kind": kind, "after_id": identity, "limit": limit}
        return [ActiveLease(*row) for row in self._rows("monitoring", "active", parameters)]

    def failed(
        self, *, after: tuple[datetime, UUID] | None, limit: int, minimum_messages: int
    ) -> list[FailedInteraction]:
        parameters = {**_behind(after), "limit": limit, "minimum": minimum_messages}
        return [FailedInteraction(*row) for row in self._rows("monitoring", "failed", parameters)]

    def partitions(self, *, after: tuple[str, str] | None, limit: int) -> list[PendingPartition]:
        asset, key = after or ("", "")
        parameters = {"after_asset": asset, "after_key": key, "limit": limit}
        return [PendingPartition(*row) for row in self._rows("monitoring", "partitions", parameters)]

    def backfills(self, *, after: tuple[datetime, UUID] | None, limit: int) -> list[OpenBackfill]:
        rows = self._rows("monitoring", "backfills", {**_behind(after), "limit": limit})
        return [OpenBackfill(*row) for row in rows]


class PostgresStatisticsKeeper:
    """Implements ``StatisticsKeeper``. A killed recount leaves the marks of what it had not come to."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def recount(self, *, minimum_messages: int) -> int:
        with self._connections.connection() as connection, _alone(connection) as is_alone:
            if not is_alone:
                return 0
            found = connection.execute(query("monitoring", "days_to_count"), {"minimum": minimum_messages})
            days = [row[0] for row in found]
            for chunk in _chunks(days, 1 if len(days) <= DAYS_ONE_BY_ONE else len(days)):
                _count_days(connection, chunk, minimum_messages)
            hours = [row[0] for row in connection.execute(query("monitoring", "hours_to_count"))]
            for chunk in _chunks(hours, HOURS_AT_ONCE):
                _count_hours(connection, chunk, self._timezone)
            return len(days)


@contextmanager
def _alone(connection: Connection) -> Iterator[bool]:
    """Whether nobody else counts now. Held by the session: a transaction's snapshot may be older than its lock."""
    held = connection.execute(query("monitoring", "lock")).fetchone() == (True,)
    try:
        yield held
    finally:
        if held and not connection.broken:
            connection.execute(query("monitoring", "unlock"))


@contextmanager
def _snapshot(connection: Connection) -> Iterator[None]:
    """One transaction in which every statement sees the same: marks and what they stand for together."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            yield
    finally:
        if not connection.broken:
            connection.isolation_level = None


def _count_days(connection: Connection, days: Sequence[date], minimum_messages: int) -> None:
    parameters = {"days": list(days), "minimum": minimum_messages}
    with _snapshot(connection):
        for name in ("drop_day_marks", "drop_days", "keep_days"):
            connection.execute(query("monitoring", name), parameters)


def _count_hours(connection: Connection, hours: Sequence[datetime], timezone: str) -> None:
    with _snapshot(connection):
        touched = connection.execute(
            query("monitoring", "drop_hour_marks"), {"hours": list(hours), "timezone": timezone}
        )
        parameters = {"days": [row[0] for row in touched], "timezone": timezone}
        for name in ("drop_ledger_days", "keep_ledger_days"):
            connection.execute(query("monitoring", name), parameters)


def _chunks(found: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def _counting(minimum_messages: int) -> dict[str, int]:
    return {"minimum": minimum_messages, "most_days": MOST_DAYS_COUNTED_NOW}


def _behind(after: tuple[datetime, UUID] | None) -> dict[str, Any]:
    moment, identity = after or (BEGINNING, FIRST)
    return {"after_at": moment, "after_id": identity}
