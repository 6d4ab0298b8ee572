"""Some rows of an asset's table for Dagster's pages: ids, counts, times and states, no text."""

from __future__ import annotations

from datetime import date
from typing import Any, LiteralString, cast

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from sqlalchemy import BigInteger, Boolean, Column, Date, DateTime, Float, Integer, Numeric, Uuid, select
from sqlalchemy.dialects.postgresql.psycopg import dialect

from pkg_pipeline.adapters.postgres.schema.conversations import INTERACTIONS, MESSAGES
from pkg_pipeline.adapters.postgres.schema.items import ITEMS
from pkg_pipeline.adapters.postgres.schema.sessions import SESSION_SUMMARIES
from pkg_pipeline.adapters.postgres.schema.tables import METADATA, SCHEMA

ROWS = 10
COLUMNS = 12
WORDLESS = (BigInteger, Boolean, Date, DateTime, Float, Integer, Numeric, Uuid)
PARTITION = {"entity_relationship_profiles": "week", "archived_messages": "month"}
"""The partition column of a table; others use the day of their interaction."""

NEWEST = {
    "messages": (MESSAGES.c.id,),
    "interactions": (INTERACTIONS.c.day, INTERACTIONS.c.ended_at),
    "items": (ITEMS.c.last_at, ITEMS.c.id),
    "session_summaries": (SESSION_SUMMARIES.c.id,),
}
"""The indexed order of assets without partitions, newest first."""


def is_wordless(column: Column[Any]) -> bool:
    """Whether the column holds no text: numbers, times, ids, or values of a fixed list."""
    return isinstance(column.type, WORDLESS) or bool(column.info["one_of"])


def preview(connections: ConnectionPool, asset: str, partition: str | None) -> list[dict[str, Any]]:
    """At most ``ROWS`` rows of a partition, or the newest ones."""
    table = METADATA.tables[f"{SCHEMA}.{asset}"]
    found = select(*[column for column in table.columns if is_wordless(column)][:COLUMNS]).limit(ROWS)
    if partition is None:
        found = found.order_by(*(column.desc() for column in NEWEST[asset]))
    elif asset in PARTITION:
        found = found.where(table.c[PARTITION[asset]] == date.fromisoformat(partition)).order_by(*table.primary_key)
    else:
        found = found.join(INTERACTIONS, INTERACTIONS.c.id == table.c.interaction_id)
        found = found.where(INTERACTIONS.c.day == date.fromisoformat(partition)).order_by(INTERACTIONS.c.ended_at)
    compiled = found.compile(dialect=dialect(paramstyle="pyformat"))
    with connections.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(cast(LiteralString, str(compiled)), compiled.params).fetchall()
