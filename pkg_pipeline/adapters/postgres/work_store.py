"""What only the orchestration asks of the tables: how much waits. Read-only, one index each; no mark is taken here."""

from __future__ import annotations

from datetime import datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query


class PostgresWorkStore:
    """Counts for sensors, checks and ``run``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def silent_interactions(self, *, before: datetime) -> int:
        """Interactions still marked active whose last message is older than ``before``."""
        return self._count("silent_interactions", {"before": before})

    def pending(self, asset: str) -> int:
        """Rows that finished attempts left undone, over all partitions of ``asset``."""
        return self._count("pending", {"asset": asset})

    def has_summaries(self) -> bool:
        """Whether anything is summarised: what is made out of summaries has nothing to do before."""
        return self._count("live_summaries", {}) > 0

    def _count(self, name: str, parameters: dict[str, object]) -> int:
        with self._connections.connection() as connection:
            found = connection.execute(query("work", name), parameters).fetchone()
        return int(found[0]) if found is not None else 0
