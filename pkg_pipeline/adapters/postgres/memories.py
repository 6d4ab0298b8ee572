"""The memories of one server, a database each beside the deployment's own: made by copying, listed, dropped.

``OWN.NAME`` holds the memory NAME. ``OWN.TEMPLATE`` is what is copied, ``OWN.NEW`` one that is being made: names that
no memory can have. A memory is there from the moment its database is renamed, and gone from the moment it takes no
connections: what a killed process left before or after is cleared by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row, scalar_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import (
    Connection,
    DatabaseUnavailable,
    connect,
    libpq_url,
    value,
    with_database,
)
from pkg_pipeline.adapters.postgres.migrations import migrate

LOCK = 7_310_526
LONGEST_NAME = 63
"""Bytes; PostgreSQL cuts longer names, which could make two of them one."""

_THERE = (
    "starts_with(datname, %(begin)s) AND datallowconn AND substr(datname, length(%(begin)s) + 1) ~ '^[a-z]'"
    ' ORDER BY datname COLLATE "C"'
)
"""Databases of memories, by name, without those that are being made or dropped."""

Clean = Callable[[str], None]
"""Removes the files of a memory; may be called again."""


class MemoryUnknown(DatabaseUnavailable):
    """There is no memory of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no memory {name}; there would be one after: pkg-pipeline memories create {name}")


class MemoryExists(DatabaseUnavailable):
    """A memory of that name is there already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a memory {name} already; nothing was changed")


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """``bytes``: of its database. ``connections``: open now."""

    memory: str
    bytes: int
    connections: int


def own_database(url: str) -> str:
    """The name of the deployment's own database."""
    given = conninfo_to_dict(libpq_url(url))
    return str(given.get("dbname") or given.get("user") or "postgres")


def database_of(url: str, name: str) -> str:
    """Raises DatabaseUnavailable for a name that is too long beside the own database's."""
    found = f"{own_database(url)}.{name}"
    if len(found.encode()) > LONGEST_NAME:
        raise DatabaseUnavailable(f"{name}: a database's name has at most {LONGEST_NAME} bytes, and {found} has more")
    return found


def url_of(url: str, name: str) -> str:
    return with_database(url, database_of(url, name))


def listed(url: str) -> list[MemoryRow]:
    """By name, without those that are being made or dropped."""
    with connect(url, search_path="public", autocommit=True) as connection:
        cursor = connection.cursor(row_factory=class_row(MemoryRow))
        return cursor.execute(
            "SELECT substr(datname, length(%(begin)s) + 1) AS memory, pg_database_size(oid) AS bytes,"
            " (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datid = d.oid) AS connections"
            f" FROM pg_database AS d WHERE {_THERE}",
            {"begin": f"{own_database(url)}."},
        ).fetchall()


def names(url: str) -> list[str]:
    """As ``listed``; cheaper."""
    begin = f"{own_database(url)}."
    with connect(url, search_path="public", autocommit=True) as connection:
        found = connection.cursor(row_factory=scalar_row).execute(
            f"SELECT datname FROM pg_database WHERE {_THERE}", {"begin": begin}
        )
        return [str(database).removeprefix(begin) for database in found]


def identity(connection: Connection, database: str) -> int | None:
    """The number of a database, which one of the same name made later does not have; None where it is not there."""
    return value(connection, "SELECT oid::bigint FROM pg_database WHERE datname = %s AND datallowconn", (database,))


def others(connections: ConnectionPool) -> list[int]:
    """Numbers of the databases that belong to other memories of the same deployment as the connected one."""
    with connections.connection() as connection:
        found = connection.cursor(row_factory=scalar_row).execute(
            "WITH own AS (SELECT split_part(current_database(), '.', 1) AS name)"
            " SELECT oid::bigint FROM pg_database, own WHERE datname <> current_database()"
            " AND (datname = own.name OR starts_with(datname, own.name || '.'))"
        )
        return [int(number) for number in found]


def require(url: str, name: str) -> None:
    """Raises MemoryUnknown."""
    with connect(url, search_path="public", autocommit=True) as connection:
        if identity(connection, database_of(url, name)) is None:
            raise MemoryUnknown(name)


def create(url: str, name: str, *, prepare: Callable[[str], None], clean: Clean) -> None:
    """``prepare`` gets the URL of the copy before it is a memory, and closes what it opens. Raises MemoryExists,
    DatabaseUnavailable.
    """
    database = database_of(url, name)
    with _alone(url, clean) as connection:
        if identity(connection, database) is not None:
            raise MemoryExists(name)
        own = own_database(url)
        _do(connection, "DROP DATABASE IF EXISTS {} WITH (FORCE)", f"{own}.NEW")
        _do(connection, "CREATE DATABASE {} TEMPLATE {}", f"{own}.NEW", _template(connection, url))
        prepare(with_database(url, f"{own}.NEW"))
        _do(connection, "ALTER DATABASE {} RENAME TO {}", f"{own}.NEW", database)


def drop(url: str, name: str, *, clean: Clean) -> None:
    """With everybody's connections to it, and its files. Raises MemoryUnknown."""
    database = database_of(url, name)
    with _alone(url, clean) as connection:
        if identity(connection, database) is None:
            raise MemoryUnknown(name)
        _do(connection, "ALTER DATABASE {} WITH ALLOW_CONNECTIONS false", database)
        _finish(connection, database, name, clean)


def drop_all(url: str, *, clean: Clean) -> list[str]:
    """Every memory beside the own, and what they are copied from; returns their names."""
    found = names(url)
    for name in found:
        drop(url, name, clean=clean)
    with _alone(url, clean) as connection:
        for inner in ("NEW", "TEMPLATE"):
            _do(connection, "DROP DATABASE IF EXISTS {} WITH (FORCE)", f"{own_database(url)}.{inner}")
    return found


def _template(connection: Connection, url: str) -> str:
    """The migrated database that is copied, made or brought up to date where needed. It never holds a word."""
    template = f"{own_database(url)}.TEMPLATE"
    if identity(connection, template) is None:
        _do(connection, "CREATE DATABASE {}", template)
    migrate.upgrade(with_database(url, template))
    return template


@contextmanager
def _alone(url: str, clean: Clean) -> Iterator[Connection]:
    """One process at a time makes and drops; first what a killed one left is finished."""
    with connect(url, search_path="public", autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))  # the connection's end releases it
        begin = f"{own_database(url)}."
        half = connection.cursor(row_factory=scalar_row).execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s) AND NOT datallowconn", (begin,)
        )
        for database in half.fetchall():
            _finish(connection, str(database), str(database).removeprefix(begin), clean)
        yield connection


def _finish(connection: Connection, database: str, name: str, clean: Clean) -> None:
    """The database goes last: while it is there, the next process knows what is left to remove."""
    clean(name)
    _do(connection, "DROP DATABASE IF EXISTS {} WITH (FORCE)", database)


def _do(connection: Connection, statement: str, *databases: str) -> None:
    try:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, databases)))  # type: ignore[arg-type]
    except psycopg.errors.InsufficientPrivilege as error:
        user = connection.info.user
        raise DatabaseUnavailable(
            f"the role {user!r} may not make or drop databases; an administrator lets it by:"
            f' ALTER ROLE "{user}" CREATEDB'
        ) from error
