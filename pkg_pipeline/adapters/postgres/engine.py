"""Connections to PostgreSQL: DSN forms, the pool, what the server must be. No statement of the memory is here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg_pool import ConnectionPool

SCHEMA = "pkg"
DAGSTER_SCHEMA = "dagster"
OLDEST_SERVER = 150000
CONNECT_TIMEOUT_SECONDS = 10

Connection = psycopg.Connection[tuple[Any, ...]]


class DatabaseUnavailable(Exception):
    """The server cannot be used; the message is one line that says why and what to do."""


def libpq_url(url: str) -> str:
    """A SQLAlchemy or postgres URL in libpq's form, without driver names."""
    parts = urlsplit(url)
    scheme = parts.scheme.split("+")[0]
    if scheme not in ("postgres", "postgresql"):
        raise DatabaseUnavailable("DATABASE_URL must begin with postgresql://")
    return urlunsplit(("postgresql", *parts[1:])) if parts.netloc else "postgresql://" + url.split("://", 1)[1]


def with_options(url: str, **options: str) -> str:
    """The URL with query parameters added or replaced."""
    parts = urlsplit(libpq_url(url))
    query = {**dict(parse_qsl(parts.query)), **options}
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(query, quote_via=quote)}"


def with_database(url: str, database: str) -> str:
    """The same server, another database."""
    parts = urlsplit(libpq_url(url))
    return f"{parts.scheme}://{parts.netloc}/{database}{'?' + parts.query if parts.query else ''}"


def sqlalchemy_url(url: str, *, driver: str, search_path: str) -> str:
    """For tools that want SQLAlchemy's form (Alembic, Dagster's storage)."""
    given = with_options(url, options=f"-csearch_path={search_path}")
    return given.replace("postgresql://", f"postgresql+{driver}://", 1)


def connect(url: str, *, search_path: str = f"{SCHEMA},public", autocommit: bool = False) -> Connection:
    """One connection. Raises DatabaseUnavailable with one clear line."""
    try:
        return psycopg.connect(
            libpq_url(url),
            autocommit=autocommit,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            options=f"-csearch_path={search_path} -cTimeZone=UTC",
            application_name="pkg_pipeline",
        )
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(explain(error, url)) from error


def explain(error: Exception, url: str) -> str:
    """One line for a failed connection: what is wrong, where, what to do. Never shows the password."""
    parts = urlsplit(libpq_url(url))
    place = parts.hostname or dict(parse_qsl(parts.query)).get("host") or "the local socket"
    where = f"{place}:{parts.port}" if parts.port else place
    text = str(error)
    if "password authentication failed" in text or "no password supplied" in text:
        return f"PostgreSQL at {where} refused the user or password of DATABASE_URL"
    if "does not exist" in text and "database" in text:
        return f"PostgreSQL at {where} has no database {parts.path.lstrip('/')!r}; create it or correct DATABASE_URL"
    if "role" in text and "does not exist" in text:
        return f"PostgreSQL at {where} has no role {parts.username!r}; correct the user in DATABASE_URL"
    if "starting up" in text or "recovery" in text:
        return f"PostgreSQL at {where} is still starting; try again in a moment"
    if "too many clients" in text or "remaining connection slots" in text:
        return f"PostgreSQL at {where} has no free connection; raise max_connections or stop other programs"
    if "timeout" in text:
        return f"PostgreSQL at {where} did not answer within {CONNECT_TIMEOUT_SECONDS} s"
    if "could not translate host name" in text or "Name or service not known" in text:
        return f"the host {where} of DATABASE_URL is not known"
    return f"no PostgreSQL at {where}: {text.strip().splitlines()[-1].strip()}"


def require(connection: Connection) -> None:
    """The server's version and pgvector. Raises DatabaseUnavailable."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise DatabaseUnavailable(
            f"PostgreSQL {version // 10000} is too old: {OLDEST_SERVER // 10000} or newer is needed"
        )
    found = connection.execute(
        "SELECT count(*) FILTER (WHERE installed_version IS NOT NULL), count(*)"
        " FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if found is None or found[1] == 0:
        raise DatabaseUnavailable(
            "this PostgreSQL has no pgvector: install the package postgresql-NN-pgvector on its machine"
            " or use an image such as pgvector/pgvector"
        )


def pool(url: str, *, size: int, search_path: str = f"{SCHEMA},public", readonly: bool = False) -> ConnectionPool:
    """A pool of ``size`` connections, opened; the caller closes it."""
    options = f"-csearch_path={search_path} -cTimeZone=UTC -cjit=off"
    if readonly:
        options += " -cdefault_transaction_read_only=on"
    return ConnectionPool(
        libpq_url(url),
        min_size=1,
        max_size=size,
        open=True,
        check=ConnectionPool.check_connection,
        kwargs={
            "options": options,
            "application_name": "pkg_pipeline",
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "autocommit": True,
        },
    )


@contextmanager
def transaction(connections: ConnectionPool) -> Iterator[Connection]:
    """One transaction on a pooled connection."""
    with connections.connection() as connection, connection.transaction():
        yield connection
