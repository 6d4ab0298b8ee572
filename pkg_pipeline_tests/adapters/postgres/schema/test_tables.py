"""The shape of record says what the migrations make."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.schema.tables import METADATA, SCHEMA

MADE_LATER = re.compile(r"alembic_version|archived_messages_\d{4}_\d\d")
"""By Alembic, and by the archive: a partition for each month."""


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


def test_months_of_the_archive_are_no_difference(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE archived_messages_2025_01 (LIKE archived_messages INCLUDING ALL);"
            "ALTER TABLE archived_messages ATTACH PARTITION archived_messages_2025_01"
            " FOR VALUES FROM ('2025-01-01') TO ('2025-02-01')"
        )
    assert differences(database_url, METADATA) == []


def test_the_comparison_sees_a_type_a_null_an_index_and_a_table(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE chats ALTER COLUMN title TYPE varchar(9), ALTER COLUMN title SET NOT NULL")
        connection.execute("DROP INDEX messages_chat_time")
        connection.execute("CREATE TABLE stray (id int)")
    found = str(differences(database_url, METADATA))
    for expected in ("modify_type", "modify_nullable", "messages_chat_time", "stray"):
        assert expected in found
