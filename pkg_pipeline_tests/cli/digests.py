"""What a memory holds, as numbers that two memories can be compared by."""

from __future__ import annotations

import psycopg
from psycopg import sql

_EACH = """
SELECT count(*), coalesce(md5(string_agg(row, E'\\n' ORDER BY row COLLATE "C")), '')
FROM (SELECT t::text AS row FROM pkg.{} AS t) AS rows
"""


def digest(url: str) -> dict[str, tuple[int, str]]:
    """Rows and a hash of the ordered contents of every table of schema ``pkg``; empty without the schema."""
    found: dict[str, tuple[int, str]] = {}
    with psycopg.connect(url.replace("+psycopg", ""), options="-cTimeZone=UTC -cextra_float_digits=3") as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pkg' ORDER BY 1").fetchall()
        for (name,) in names:
            row = connection.execute(sql.SQL(_EACH).format(sql.Identifier(name))).fetchone()
            assert row is not None
            found[name] = (row[0], row[1])
    return found
