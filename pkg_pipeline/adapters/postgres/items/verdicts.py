"""A person's verdicts on items: kept, and applied to the items in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.items.store import refolded
from pkg_pipeline.adapters.postgres.statements import Statements, fields_of
from pkg_pipeline.memory.items.records import PersonDecision
from pkg_pipeline.stages.items.deciding import DecidedItem

SQL, ITEMS = Statements("verdicts"), Statements("items")


class PostgresVerdictStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def decide(self, item_id: UUID, decide: Callable[[DecidedItem], Sequence[PersonDecision]]) -> bool:
        """Keep the verdicts that ``decide`` makes of the item, and fold it anew; False if there is no such item."""
        with transaction(self._connections) as connection:
            ITEMS.run(connection, "lock")
            kind = SQL.value(connection, "kind", id=item_id)
            if kind is None:
                return False
            verdicts = decide(DecidedItem(kind, tuple(SQL.rows(connection, "of_item", PersonDecision, id=item_id))))
            for one in verdicts:
                SQL.run(connection, "keep", **fields_of(one))
            if verdicts:
                # talks before that were shown the item as it was then
                refolded(connection, [item_id], after=(verdicts[0].at, UUID(int=0)))
        return True
