"""Items by filter and by id, on a read-only pool."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.reading import Reads
from pkg_pipeline.stages.reads.items import ItemFilter, ItemPlace, PlacedItem, StoredItem


class PostgresItemReads:
    """Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool, *, zone: ZoneInfo) -> None:
        self._reads = Reads(connections, "listing")
        self._zone = zone

    def today(self, now: datetime) -> date:
        return now.astimezone(self._zone).date()

    def page(self, wanted: ItemFilter, *, now: datetime, after: ItemPlace | None, limit: int) -> list[PlacedItem]:
        """Ids in the order of the list, after a place in it."""
        return self._reads.rows(
            PlacedItem,
            "page",
            kind=wanted.kind,
            person=wanted.person_id,
            owners=list(wanted.owners) or None,
            statuses=list(wanted.statuses) or None,
            overdue=wanted.overdue,
            now=now,
            today=self.today(now),
            after_rank=None if after is None else after.rank,
            after_due=None if after is None else after.due,
            after_age=None if after is None else after.age,
            after_id=None if after is None else after.id,
            limit=limit,
        )

    def items(self, ids: Sequence[UUID], *, now: datetime) -> list[StoredItem]:
        """In the order of ``ids``; those that are not there, or withheld, are left out."""
        return self._reads.rows(StoredItem, "items", ids=list(ids), now=now, today=self.today(now))

    def ids_between(self, first: UUID, last: UUID) -> list[UUID]:
        """At most two."""
        return self._reads.values("ids_between", first=first, last=last)
