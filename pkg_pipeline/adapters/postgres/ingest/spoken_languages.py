"""Which languages a memory's texts are in, counted over its interactions."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.records import Language


def spoken_languages(connections: ConnectionPool, *, least_share: float) -> tuple[Language, ...]:
    """Those of at least ``least_share`` (0 to 1) of the messages, commonest first. One pass over all interactions."""
    with connections.connection() as connection:
        rows = connection.execute(query("rewriting", "languages"), {"least_share": least_share}).fetchall()
    return tuple(row[0] for row in rows)
