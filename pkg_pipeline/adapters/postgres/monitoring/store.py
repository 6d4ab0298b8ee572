"""Reads figures and queues; recounts changed days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import scalar_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.stages.llm.stores import UNANSWERED_REST_SECONDS
from pkg_pipeline.stages.monitoring.stores import (
    ActiveLease,
    BudgetFigures,
    FailedInteraction,
    ItemFigures,
    LedgerFigures,
    Leftover,
    MemoryFigures,
    OpenBackfill,
    PendingPartition,
    QueueCounts,
    QueuedInteraction,
    ServedFigures,
    StoppedLane,
    Taken,
)

MOST_DAYS_COUNTED_NOW = 20
"""Changed days counted while reading: milliseconds each."""

DAYS_ONE_BY_ONE = 200
"""More are recounted in one pass over the tables."""

HOURS_AT_ONCE = 5_000

BEGINNING = datetime(1, 1, 3, tzinfo=UTC)
FIRST = UUID(int=0)


class PostgresMonitoringStore(Reads):
    """Read-only. Lists begin behind ``after``, the key of the last row."""

    def __init__(self, connections: ConnectionPool, *, zone: ZoneInfo) -> None:
        super().__init__(connections, "monitoring")
        self._timezone = zone.key
        self._zone = zone

    def figures(self, *, minimum_messages: int) -> MemoryFigures:
        (found,) = self.rows(MemoryFigures, "figures", **_counting(minimum_messages))
        return found

    def items(self, now: datetime) -> ItemFigures:
        (found,) = self.rows(ItemFigures, "items", now=now, today=now.astimezone(self._zone).date())
        return found

    def served(self, *, days: int) -> list[ServedFigures]:
        """Of contexts, then of windows, by the database's clock."""
        return self.rows(ServedFigures, "served", days=days)

    def ledger(self) -> list[LedgerFigures]:
        return self.rows(LedgerFigures, "ledger", timezone=self._timezone)

    def budgets(self) -> BudgetFigures:
        rows = self.named("budgets", timezone=self._timezone)
        taken = [
            Taken(row.lane, row.task, row.calls_today, row.calls_week, row.usd_today)
            for row in rows
            if row.lane is not None
        ]
        return BudgetFigures(taken, day_ends_at=rows[0].day_ends_at, week_ends_at=rows[0].week_ends_at)

    def stopped_lanes(self, *, limit: int) -> list[StoppedLane]:
        return self.rows(StoppedLane, "stopped_lanes", limit=limit, rest_seconds=UNANSWERED_REST_SECONDS)

    def leftovers(self) -> list[Leftover]:
        return self.rows(Leftover, "leftovers")

    def queue_counts(self) -> QueueCounts:
        (found,) = self.rows(QueueCounts, "counts")
        return found

    def waiting(
        self, *, after: tuple[date, datetime, UUID] | None, limit: int, minimum_messages: int, gap_seconds: float
    ) -> list[QueuedInteraction]:
        day, at, key = after or (BEGINNING.date(), BEGINNING, FIRST)
        behind = {"after_day": day, "after_at": at, "after_id": key}
        counting = _counting(minimum_messages)
        return self.rows(QueuedInteraction, "waiting", **behind, **counting, limit=limit, gap=gap_seconds)

    def active(self, *, after: tuple[str, UUID] | None, limit: int) -> list[ActiveLease]:
        kind, key = after or ("", FIRST)
        return self.rows(ActiveLease, "active", after_kind=kind, after_id=key, limit=limit)

    def failed(
        self, *, after: tuple[datetime, UUID] | None, limit: int, minimum_messages: int
    ) -> list[FailedInteraction]:
        at, key = after or (BEGINNING, FIRST)
        return self.rows(FailedInteraction, "failed", after_at=at, after_id=key, limit=limit, minimum=minimum_messages)

    def partitions(self, *, after: tuple[str, str] | None, limit: int) -> list[PendingPartition]:
        asset, key = after or ("", "")
        return self.rows(PendingPartition, "partitions", after_asset=asset, after_key=key, limit=limit)

    def backfills(self, *, after: tuple[datetime, UUID] | None, limit: int) -> list[OpenBackfill]:
        at, key = after or (BEGINNING, FIRST)
        return self.rows(OpenBackfill, "backfills", after_at=at, after_id=key, limit=limit)


class PostgresStatisticsKeeper:
    """Recounts dirty days and hours; a killed recount keeps the remaining marks."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def recount(self, *, minimum_messages: int) -> int:
        """Returns how many days were counted; 0 at once while another process recounts."""
        with self._connections.connection() as connection, _alone(connection) as is_alone:
            if not is_alone:
                return 0
            days = _values(connection, "days_to_count", minimum=minimum_messages)
            for chunk in _chunks(days, 1 if len(days) <= DAYS_ONE_BY_ONE else len(days)):
                _count_days(connection, chunk, minimum_messages)
            for chunk in _chunks(_values(connection, "hours_to_count"), HOURS_AT_ONCE):
                _count_hours(connection, chunk, self._timezone)
            return len(days)

    def set_least_summarised(self, tokens: int) -> None:
        """From now on conversations of fewer ``tokens`` are not summarised (P11); all days are then counted anew."""
        kept = {"key": "summary_min_tokens", "value": str(tokens)}
        with self._connections.connection() as connection:
            if connection.execute(query("work", "carry_setting"), kept).rowcount:
                connection.execute(query("monitoring", "count_all_anew"))


def _values(connection: Connection, name: str, **parameters: Any) -> list[Any]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(query("monitoring", name), parameters).fetchall()


@contextmanager
def _alone(connection: Connection) -> Iterator[bool]:
    """A session-level lock: a transaction's snapshot may be older than its lock."""
    held = connection.execute(query("monitoring", "lock")).fetchone() == (True,)
    try:
        yield held
    finally:
        if held and not connection.broken:
            connection.execute(query("monitoring", "unlock"))


@contextmanager
def _snapshot(connection: Connection) -> Iterator[None]:
    """One repeatable-read transaction: marks and counted rows are of the same snapshot."""
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
        days = _values(connection, "drop_hour_marks", hours=list(hours), timezone=timezone)
        parameters = {"days": days, "timezone": timezone}
        for name in ("drop_ledger_days", "keep_ledger_days"):
            connection.execute(query("monitoring", name), parameters)


def _chunks(found: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def _counting(minimum_messages: int) -> dict[str, int]:
    return {"minimum": minimum_messages, "most_days": MOST_DAYS_COUNTED_NOW}
