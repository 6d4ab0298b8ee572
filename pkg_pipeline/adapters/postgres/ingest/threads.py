"""The memory's view of LangGraph threads: message times, what is folded and searchable, labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.stages.ingest.threads import Coverage, KnownThread, ThreadLabel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class PostgresThreadMemory:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def known(self, chat_id: UUID) -> KnownThread:
        with self._connections.connection() as connection:
            row = connection.execute(query("threads", "known"), {"chat": chat_id}).fetchone()
        times, checkpoint_id = row or (None, None)
        return KnownThread(
            {key: _EPOCH + timedelta(microseconds=int(micros)) for key, micros in (times or {}).items()}, checkpoint_id
        )

    def coverage(self, chat_id: UUID, message_ids: Sequence[str]) -> Coverage:
        given = {"chat": chat_id, "ids": list(message_ids)}
        with self._connections.connection() as connection:
            rows = connection.execute(query("threads", "coverage"), given).fetchall()
        days = [day for _, day, _, _ in rows if day is not None]
        return Coverage(
            missing=frozenset(key for key, _, is_covered, _ in rows if not is_covered),
            unsearchable=frozenset(key for key, _, _, is_searchable in rows if not is_searchable),
            days=(min(days), max(days)) if days else None,
        )

    def labels(self, source: str) -> Mapping[str, ThreadLabel]:
        """By thread id: its label and what is stored of it."""
        with self._connections.connection() as connection:
            rows = connection.execute(query("threads", "labels"), {"source": source}).fetchall()
        return {thread: ThreadLabel(label, messages, folds) for thread, label, messages, folds in rows}
