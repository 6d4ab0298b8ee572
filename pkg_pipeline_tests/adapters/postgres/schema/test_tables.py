"""The tables of record say what the migrations make, both ways; what is written from them is up to date."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from pkg_pipeline.adapters.postgres import engine, queries
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.schema import generate
from pkg_pipeline.adapters.postgres.schema.parts import VIEWS
from pkg_pipeline.adapters.postgres.schema.tables import METADATA, SCHEMA

MADE_LATER = re.compile(r"alembic_version|archived_messages_\d{4}_\d\d")
"""By Alembic, and by the archive: a partition for each month."""

CATALOG = r"""
WITH found AS (
    SELECT c.oid, c.relname AS name, c.reloptions, pg_get_partkeydef(c.oid) AS partitions FROM pg_class c
    WHERE c.relnamespace = 'pkg'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname <> 'alembic_version'
)
SELECT name, 'table', '', concat_ws(' ', array_to_string(reloptions, ','), partitions, obj_description(oid, 'pg_class'))
FROM found
UNION ALL
SELECT name, 'column', a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
    a.attstorage, pg_get_expr(d.adbin, d.adrelid), col_description(found.oid, a.attnum))
FROM found JOIN pg_attribute a ON a.attrelid = found.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL
SELECT name, 'constraint', k.conname, pg_get_constraintdef(k.oid)
FROM found JOIN pg_constraint k ON k.conrelid = found.oid
UNION ALL
SELECT name, 'index', i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
FROM found JOIN pg_index i ON i.indrelid = found.oid
ORDER BY 1, 2, 3
"""


def catalog(database_url: str) -> set[tuple[str, ...]]:
    """Tables, columns, constraints, indexes and comments as the server itself describes them."""
    with engine.connect(database_url) as connection:
        return {tuple(row) for row in connection.execute(CATALOG).fetchall()}


def differences(database_url: str, metadata: sa.MetaData) -> list[Any]:
    # with public as the default schema every table of pkg carries its schema's name, here as there
    database = sa.create_engine(engine.sqlalchemy_url(database_url, driver="psycopg", search_path="public"))
    try:
        with database.connect() as connection:
            context = MigrationContext.configure(
                connection,
                opts={
                    "include_schemas": True,
                    "include_name": lambda name, kind, parents: (
                        name == SCHEMA if kind == "schema" else not (kind == "table" and MADE_LATER.fullmatch(name))
                    ),
                    "compare_type": True,
                    "compare_server_default": True,
                },
            )
            return compare_metadata(context, metadata)
    finally:
        database.dispose()


def test_a_migrated_database_has_the_tables_of_record(database_url: str) -> None:
    assert differences(database_url, METADATA) == []


def test_what_the_tables_make_and_what_the_migrations_make_do_not_differ(database_url: str) -> None:
    migrated = catalog(database_url)
    migrate.downgrade(database_url, "base")
    database = sa.create_engine(engine.sqlalchemy_url(database_url, driver="psycopg", search_path="pkg,public"))
    METADATA.create_all(database)
    database.dispose()
    declared = catalog(database_url)
    assert declared - migrated == set()
    assert migrated - declared == set()
    assert len(declared) > 700  # something was compared


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ALTER TABLE chats DROP CONSTRAINT chats_kind_check", "chats_kind_check"),
        ("DROP INDEX items_open", "items_open"),
        ("COMMENT ON COLUMN messages.sent_at IS 'something else'", "something else"),
        ("COMMENT ON TABLE leases IS NULL", "Who works on what"),
        ("CREATE TABLE stray (id int)", "stray"),
    ],
)
def test_the_catalog_tells_a_constraint_an_index_a_comment_and_a_table(
    database_url: str, change: str, expected: str
) -> None:
    before = catalog(database_url)
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(change)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert expected in str(before ^ catalog(database_url))


def test_views_have_the_columns_that_statements_may_name(database_url: str) -> None:
    with engine.connect(database_url) as connection:
        found = connection.execute(
            "SELECT table_name, array_agg(column_name::text) FROM information_schema.columns"
            " WHERE table_schema = 'pkg' GROUP BY table_name"
        ).fetchall()
    there = {name: set(columns) for name, columns in found}
    assert len(VIEWS) > 5
    assert {name: set(view.c.keys()) for name, view in VIEWS.items()} == {name: there[name] for name in VIEWS}


def test_every_table_and_column_says_what_it_holds() -> None:
    silent = [str(column) for table in METADATA.tables.values() for column in table.columns if not column.comment]
    assert silent == [table.name for table in METADATA.tables.values() if not table.comment] == []


def test_the_columns_on_the_page_are_those_of_the_tables() -> None:
    page = generate.PAGE.read_text(encoding="utf-8")
    assert page == generate.page(page), "run make docs"


def test_the_page_names_every_table_and_its_queries_run(database_url: str) -> None:
    page = generate.PAGE.read_text(encoding="utf-8")
    described = page[: page.index("## Example queries")]
    assert [name for name in METADATA.tables if f"`{name.removeprefix(f'{SCHEMA}.')}`" not in described] == []
    queries_of_page = [text for text in page.split("```sql")[1].split("```")[0].split(";") if text.strip()]
    assert len(queries_of_page) >= 4
    with engine.connect(database_url, autocommit=True, search_path="public") as connection:
        for query in queries_of_page:
            connection.execute(query)  # type: ignore[arg-type]


def test_the_sources_of_the_marts_are_those_of_the_tables() -> None:
    assert generate.SOURCES.read_text(encoding="utf-8") == generate.sources(), "run make docs"


def test_the_text_of_the_reads_is_that_of_their_statements() -> None:
    assert queries.COMPILED.read_bytes() == generate.statements(), "run make docs"


def test_months_of_the_archive_are_no_difference(database_url: str) -> None:
    before = catalog(database_url)
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE archived_messages_2025_01 (LIKE archived_messages INCLUDING ALL);"
            "ALTER TABLE archived_messages ATTACH PARTITION archived_messages_2025_01"
            " FOR VALUES FROM ('2025-01-01') TO ('2025-02-01')"
        )
    assert differences(database_url, METADATA) == []
    assert catalog(database_url) == before


def test_the_comparison_sees_a_type_a_null_an_index_and_a_table(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE chats ALTER COLUMN title TYPE varchar(9), ALTER COLUMN title SET NOT NULL")
        connection.execute("DROP INDEX messages_chat_time")
        connection.execute("CREATE TABLE stray (id int)")
    found = str(differences(database_url, METADATA))
    for expected in ("modify_type", "modify_nullable", "messages_chat_time", "stray"):
        assert expected in found
