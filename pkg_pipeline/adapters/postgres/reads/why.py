"""Where a served line comes from, on a read-only pool."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.stages.reads.why import Line, Reader, SaidMessage


class PostgresWhyReads:
    """Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._reads = Reads(connections, "why")

    def line(self, line_id: UUID) -> Line | None:
        return self._reads.first(Line, "line", id=line_id)

    def ids_between(self, first: UUID, last: UUID) -> list[UUID]:
        """At most two."""
        return self._reads.values("line_ids_between", first=first, last=last)

    def said(self, chat_id: UUID, keys: Sequence[str]) -> list[SaidMessage]:
        return self._reads.rows(SaidMessage, "said", chat=chat_id, keys=list(keys))

    def reading(self, interaction_id: UUID) -> Reader | None:
        return self._reads.first(Reader, "reading", interaction=interaction_id)
