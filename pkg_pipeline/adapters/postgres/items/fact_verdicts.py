"""A person's verdicts on facts: kept, and applied in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.items.fact_rows import Known, settle_facts
from pkg_pipeline.adapters.postgres.items.store import mark
from pkg_pipeline.adapters.postgres.statements import Statements, fields_of
from pkg_pipeline.stages.items.fact_deciding import AlikeFact, DecidedFact, KeptVerdict

SQL, ITEMS = Statements("fact_verdicts"), Statements("items")


class PostgresFactVerdictStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def decide(self, fact_id: UUID, decide: Callable[[DecidedFact], list[KeptVerdict]]) -> bool:
        """Keep what ``decide`` makes of the fact, and apply it; False if there is no such fact."""
        with transaction(self._connections) as connection:
            ITEMS.run(connection, "lock")
            fact = SQL.one(connection, "fact", DecidedFact, id=fact_id)
            if fact is None:
                return False
            given = {"entity_id": fact.entity_id, "about_name": fact.about_name, "told_by": fact.told_by}
            alike = SQL.rows(connection, "alike", AlikeFact, fact_type=fact.fact_type, **given)
            _keep(connection, decide(replace(fact, alike=tuple(alike))))
        return True

    def add(self, verdict: KeptVerdict) -> None:
        with transaction(self._connections) as connection:
            ITEMS.run(connection, "lock")
            _keep(connection, [verdict])


def _keep(connection: Connection, verdicts: list[KeptVerdict]) -> None:
    """Each later than the ones before, also where the clock stands."""
    last = SQL.value(connection, "last_at")
    for one in verdicts:
        last = one.at if last is None else max(one.at, last + timedelta(microseconds=1))
        row = {**fields_of(replace(one, at=last)), "message_ids": list(one.message_ids)}
        SQL.run(connection, "keep", **row)
    people = {Known.of(one.entity_id, one.about_name, one.told_by) for one in verdicts}
    if touched := settle_facts(connection, people):
        mark(connection, touched)
