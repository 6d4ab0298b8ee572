"""One read over a pool whose connections are not looked at before use. What is asked is the business of each store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.engine import STALE_PLANS
from pkg_pipeline.stages.reads.stores import StoreUnavailable

POOL_WAIT_SECONDS = 5.0


def read_rows(connections: ConnectionPool, text: LiteralString, given: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows of a statement with numbered parameters. Raises StoreUnavailable; tried twice.

    A restarted server leaves idle connections broken, and a change of the schema the plans that they keep: only using
    them tells.
    """
    try:
        return _rows(connections, text, given, keeps_plan=True)
    except (StoreUnavailable, *STALE_PLANS):
        connections.check()
        return _rows(connections, text, given, keeps_plan=False)


def _rows(
    connections: ConnectionPool, text: LiteralString, given: Sequence[Any], *, keeps_plan: bool
) -> list[tuple[Any, ...]]:
    try:
        with (
            connections.connection(timeout=POOL_WAIT_SECONDS) as connection,
            psycopg.RawCursor(connection) as cursor,
        ):
            return cursor.execute(text, given, prepare=keeps_plan).fetchall()
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable("the database does not answer") from error
