"""Clears what is derived, in one transaction: a kill leaves all of it or nothing (B8)."""

from __future__ import annotations

from typing import NamedTuple

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.statements import Statements

SQL, LEDGER = Statements("rebuilding"), Statements("ledger")


class Derived(NamedTuple):
    """How many rows there are of each; ``kept_answers``: of models, taken again for the same questions."""

    summaries: int
    readings: int
    items: int
    facts: int
    profiles: int
    kept_answers: int


class PostgresRebuilding:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def count(self) -> Derived:
        found = SQL.rows(self._connections, "count", Derived)
        return found[0]

    def clear(self) -> Derived:
        """Returns what went. The next run makes it again."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock")
            found = SQL.rows(connection, "count", Derived)
            SQL.run(connection, "mark")
            LEDGER.run(connection, "revive")
            SQL.run(connection, "clear")
        return found[0]
