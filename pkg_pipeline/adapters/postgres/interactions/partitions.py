"""Partitions that need work: what every path has to agree on. Money is ``llm.budget``'s business."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.stages.partitions import DuePartition, FinishedPartition


class PostgresPartitionStore:
    """Implements ``stages.partitions.PartitionStore``."""

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
