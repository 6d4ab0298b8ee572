"""Migrations by Alembic, driven from Python: no alembic.ini, the DSN comes from the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg import sql

from pkg_pipeline.adapters.postgres.engine import DAGSTER_SCHEMA, SCHEMA, connect, require, sqlalchemy_url

LOCK = 7_310_525  # any constant: two processes must not migrate at once
FOLDER = Path(__file__).parent / "migrations"


def prepare(url: str) -> None:
    """Schemas and extension, before any revision. Raises DatabaseUnavailable."""
    with connect(url, search_path="public", autocommit=True) as connection:
        require(connection)
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        try:
            for schema in (SCHEMA, DAGSTER_SCHEMA):
                connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def upgrade(url: str, revision: str = "head") -> None:
    """Bring the memory to ``revision``; idempotent; several processes may call it at once."""
    prepare(url)
    if revision == "head" and current(url) == head():
        return
    from alembic import command

    command.upgrade(_config(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Take revisions back; data of what they made is lost."""
    from alembic import command

    command.downgrade(_config(url), revision)


def current(url: str) -> str | None:
    """The revision a database is at, or None for one that was never migrated."""
    with connect(url) as connection:
        table = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.alembic_version",)).fetchone()
        if table is None or table[0] is None:
            return None
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if found is None else found[0]


def head() -> str:
    """The newest revision: the greatest number of ``versions/NNNN_*.py``; revisions are linear."""
    return max(path.name[:4] for path in (FOLDER / "versions").glob("[0-9][0-9][0-9][0-9]_*.py"))


def _config(url: str) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["url"] = sqlalchemy_url(url, driver="psycopg", search_path=f"{SCHEMA},public")
    config.attributes["lock"] = LOCK
    return config
