"""Alembic driven from Python: no alembic.ini, the URL comes from the caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row, scalar_row

from pkg_pipeline.adapters.postgres.engine import (
    DAGSTER_SCHEMA,
    SCHEMA,
    Connection,
    DatabaseUnavailable,
    connect,
    explain,
    libpq_url,
    require,
    sqlalchemy_url,
)
from pkg_pipeline.adapters.postgres.migrations.revisions import (
    BASE,
    FOLDER,
    RevisionUnknown,
    check_revision,
    head,
    revisions,
)
from pkg_pipeline.adapters.postgres.queries import query

__all__ = [
    "FOLDER",
    "Installed",
    "RevisionUnknown",
    "check_revision",
    "current",
    "downgrade",
    "head",
    "installed",
    "prepare",
    "upgrade",
]

LOCK = 7_310_525  # any constant: two processes must not migrate at once


def prepare(url: str) -> None:
    """Create schemas and extension if missing, asking for no more rights than needed. Raises DatabaseUnavailable."""
    with connect(url, search_path="public", autocommit=True) as connection:
        require(connection)
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        try:
            for schema in (SCHEMA, DAGSTER_SCHEMA):
                if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None:
                    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() is None:
                connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        except psycopg.errors.InsufficientPrivilege as error:
            raise _lacks_rights(connection.info.user, connection.info.dbname, error) from error
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def upgrade(url: str, revision: str = "head") -> None:
    """Upgrade to ``revision``; idempotent and safe to call concurrently. Raises DatabaseUnavailable, also for newer
    tables.
    """
    prepare(url)
    at = current(url)
    if at is not None and at not in revisions():
        raise DatabaseUnavailable(
            f"the tables are at revision {at}, which this program (up to {head()}) does not know; use a newer version"
        )
    if revision == "head" and at == head():
        return
    from alembic import command

    with _clear_words(url):
        command.upgrade(_config(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Loses the data of the reverted tables. Raises RevisionUnknown, DatabaseUnavailable."""
    check_revision(revision)
    at = current(url)
    if revision != BASE and (at is None or at < revision):
        raise RevisionUnknown(f"the tables are at revision {at or 'none'}: there is nothing to take back to {revision}")
    if at is None:
        return
    from alembic import command

    with _clear_words(url):
        command.downgrade(_config(url), revision)


def current(url: str) -> str | None:
    """The revision of a database, None if never migrated."""
    with connect(url) as connection:
        try:
            found = connection.cursor(row_factory=scalar_row).execute(
                f"SELECT version_num FROM {SCHEMA}.alembic_version"
            )
            return found.fetchone()
        except psycopg.errors.UndefinedTable:
            return None


class Installed(NamedTuple):
    """The revision of the tables and the zone that days are cut in."""

    revision: str | None
    timezone: str | None


def installed(connection: Connection) -> Installed | None:
    """By one statement on an ``autocommit`` connection; None where the tables cannot be read."""
    with connection.cursor(row_factory=class_row(Installed)) as cursor:
        try:
            return cursor.execute(query("work", "installed")).fetchone()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
            return None


@contextmanager
def _clear_words(url: str) -> Iterator[None]:
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege):
            given = conninfo_to_dict(libpq_url(url))
            raise _lacks_rights(str(given.get("user")), str(given.get("dbname")), error.orig) from error
        if isinstance(error.orig, psycopg.errors.DeadlockDetected):
            raise DatabaseUnavailable(
                "others are using the memory (deadlock), nothing was changed: stop dev, serve and run, or try again"
            ) from error
        if isinstance(error.orig, psycopg.OperationalError):
            raise DatabaseUnavailable(explain(error.orig, url)) from error
        raise


def _lacks_rights(user: str, database: str, error: Exception) -> DatabaseUnavailable:
    said = str(error).splitlines()[0]
    if "extension" in said:
        return DatabaseUnavailable(
            f"the role {user!r} may not install pgvector in database {database!r}; an administrator does it there by:"
            " CREATE EXTENSION vector"
        )
    return DatabaseUnavailable(
        f"the role {user!r} lacks a right in database {database!r} ({said}); its owner gives it by:"
        f' GRANT CREATE ON DATABASE "{database}" TO "{user}"'
    )


def _config(url: str) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["url"] = sqlalchemy_url(url, driver="psycopg", search_path=f"{SCHEMA},public")
    config.attributes["lock"] = LOCK
    return config
