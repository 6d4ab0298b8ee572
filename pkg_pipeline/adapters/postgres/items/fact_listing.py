"""Facts by filter and by id, on a read-only pool."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.stages.reads.facts import FactFilter, StoredFact


class PostgresFactReads:
    """Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._reads = Reads(connections, "fact_listing")

    def page(self, wanted: FactFilter, *, after: tuple[datetime, UUID] | None, limit: int) -> list[StoredFact]:
        return self._reads.rows(
            StoredFact,
            "page",
            entity=wanted.entity_id,
            fact_type=wanted.fact_type,
            statuses=list(wanted.statuses) or None,
            after_at=None if after is None else after[0],
            after_id=None if after is None else after[1],
            limit=limit,
        )

    def fact(self, fact_id: UUID) -> StoredFact | None:
        """None also of one that rests on a deleted message."""
        return self._reads.first(StoredFact, "fact", id=fact_id)

    def ids_between(self, first: UUID, last: UUID) -> list[UUID]:
        """At most two."""
        return self._reads.values("ids_between", first=first, last=last)
