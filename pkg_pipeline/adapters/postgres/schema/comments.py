"""Writes the comments of tables and columns into a migrated database."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.schema import SetColumnComment, SetTableComment

from pkg_pipeline.adapters.postgres.schema.tables import METADATA, SCHEMA

_PRESENT = text(
    """
    SELECT c.relname, a.attname, d.description
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = a.attnum
    WHERE c.relnamespace = to_regnamespace(:schema) AND c.relkind IN ('r', 'p')
    UNION ALL
    SELECT c.relname, NULL, obj_description(c.oid, 'pg_class') FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(:schema) AND c.relkind IN ('r', 'p')
    """
)


def write_comments(connection: Connection) -> None:
    """Writes those that differ, in one round trip; columns of later revisions are skipped."""
    present = {(table, column): said for table, column, said in connection.execute(_PRESENT, {"schema": SCHEMA})}
    missing = [
        SetTableComment(table)
        for table in METADATA.sorted_tables
        if table.comment != present.get((table.name, None), table.comment)
    ]
    missing += [
        SetColumnComment(column)
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.comment != present.get((table.name, column.name), column.comment)
    ]
    if missing:
        # the driver takes several statements at once only without parameters
        connection.exec_driver_sql("; ".join(str(one.compile(connection)) for one in missing))
