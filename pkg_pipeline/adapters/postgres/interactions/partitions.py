"""The store of partitions that need work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of
from pkg_pipeline.stages.partitions import DuePartition, FinishedPartition

SQL = Statements("partitions")


class PostgresPartitionStore:
    """Implements ``stages.partitions.PartitionStore``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, asset: str, *, now: datetime, limit: int | None = None) -> list[DuePartition]:
        return SQL.rows(self._connections, "due", DuePartition, asset=asset, now=now, limit=limit)

    def begin(self, asset: str, keys: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, ...]]:
        del now
        rows = SQL.rows(self._connections, "begin", asset=asset, keys=list(keys))
        return {row.partition_key: tuple(row.marks or ()) for row in rows}

    def finish(self, asset: str, done: Sequence[FinishedPartition]) -> None:
        if not done:
            return
        columns = columns_of(done, "key", "pending", "due_at", "resume_at", "rest_seconds")
        with transaction(self._connections) as connection:
            if marks := [mark for one in done for mark in one.marks]:
                SQL.run(connection, "drop_marks", marks=marks)
            versions = [max(one.marks, default=0) for one in done]
            SQL.run(connection, "finish", asset=asset, versions=versions, **columns)
