"""Connections to PostgreSQL: URLs, the pool, checks of the server."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, LiteralString, Protocol, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from psycopg.abc import Params
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import RowFactory, dict_row, scalar_row
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres import as_sent as as_sent  # registers its adapter

SCHEMA = "pkg"
DAGSTER_SCHEMA = "dagster"
OLDEST_SERVER = 150000
CONNECT_TIMEOUT_SECONDS = 10
WAIT_SECONDS = 30.0
STARVED_WAIT_SECONDS = 1.0

SEARCH_OPTIONS = "-chnsw.ef_search=1000 -chnsw.iterative_scan=relaxed_order -chnsw.max_scan_tuples=40000"
"""How far a vector index is searched; set per connection, which saves a round trip per search."""

Connection = psycopg.Connection[tuple[Any, ...]]
Row = TypeVar("Row")

QUIET = logging.NullHandler()
"""The pool raises its errors; without a handler Python would also print every retry."""

STALE_PLANS = (
    psycopg.errors.FeatureNotSupported,  # "cached plan must not change result type"
    psycopg.errors.InvalidSqlStatementName,  # not prepared: the schema changed
)
"""Errors of prepared statements after a migration; another connection succeeds."""

SCHEMA_CHANGES = (
    *STALE_PLANS,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedObject,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InternalError_,  # e.g. dropped during the lookup
)
"""Errors of statements that ran during a migration."""


class DatabaseUnavailable(Exception):
    """The server cannot be used; the message is one line with the cause and what to do."""


def libpq_url(url: str) -> str:
    """A SQLAlchemy or postgres URL as a percent-encoded libpq URL. Raises DatabaseUnavailable, never quoting the URL
    (passwords).
    """
    scheme, separator, rest = url.strip().partition("://")
    if not separator or scheme.split("+")[0] not in ("postgres", "postgresql"):
        raise DatabaseUnavailable("DATABASE_URL must begin with postgresql://")
    unreadable = DatabaseUnavailable(
        "DATABASE_URL cannot be read; it is postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and special characters of"
        " the user or password must be percent-encoded (p%40ss for p@ss)"
    )
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(f"postgresql://{rest}").items() if value}
    except psycopg.Error:
        raise unreadable from None
    host, port, database = (given.pop(key, "") for key in ("host", "port", "dbname"))
    if "@" in host + database or not all(part.isdigit() for part in port.split(",") if part):
        raise unreadable
    user, password = given.pop("user", ""), given.pop("password", "")
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    if host and not set(host) & set("/,@"):
        place = f"[{host}]" if ":" in host else quote(host, safe="")
        place += f":{port}" if port else ""
    else:
        place = ""
        given = {key: value for key, value in (("host", host), ("port", port)) if value} | given
    query = f"?{urlencode(given, quote_via=quote, safe='')}" if given else ""
    return f"postgresql://{login}{'@' if login else ''}{place}/{quote(database, safe='')}{query}"


def with_options(url: str, **options: str) -> str:
    parts = urlsplit(libpq_url(url))
    query = {**dict(parse_qsl(parts.query)), **options}
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{urlencode(query, quote_via=quote, safe='')}"


def with_database(url: str, database: str) -> str:
    parts = urlsplit(libpq_url(url))
    return f"{parts.scheme}://{parts.netloc}/{quote(database, safe='')}{'?' + parts.query if parts.query else ''}"


def sqlalchemy_url(url: str, *, driver: str, search_path: str) -> str:
    given = with_options(url, options=_options(libpq_url(url), f"-csearch_path={search_path}"))
    return given.replace("postgresql://", f"postgresql+{driver}://", 1)


def connect(url: str, *, search_path: str = f"{SCHEMA},public", autocommit: bool = False) -> Connection:
    """Raises DatabaseUnavailable."""
    url = libpq_url(url)
    try:
        return psycopg.connect(
            url,
            autocommit=autocommit,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            options=_options(url, f"-csearch_path={search_path} -cTimeZone=UTC"),
            application_name="pkg_pipeline",
        )
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(explain(error, url)) from error


def _options(url: str, ours: str) -> str:
    """The options of the URL, then ours, which take precedence."""
    return f"{conninfo_to_dict(url).get('options') or ''} {ours}".strip()


def explain(error: Exception, url: str) -> str:
    """One line for a failed connection: cause, place, remedy. Never shows the password."""
    given = conninfo_to_dict(libpq_url(url))
    place = str(given.get("host") or "the local socket")
    where = f"{place}:{given['port']}" if given.get("port") and not place.startswith("/") else place
    database, user = given.get("dbname") or given.get("user"), given.get("user")
    text = str(error)
    for marks, words in (
        (("password authentication failed", "no password supplied"), "refused the user or password of DATABASE_URL"),
        (('database "', "does not exist"), f"has no database {database!r}; create it or correct DATABASE_URL"),
        (("permission denied for database",), f"does not let {user!r} into the database {database!r}; grant CONNECT"),
        (('role "', "does not exist"), f"has no role {user!r}; correct the user in DATABASE_URL"),
        (("pg_hba.conf",), f"does not let {user!r} in from this machine; see its pg_hba.conf, or sslmode"),
        (("starting up", "in recovery mode", "not yet accepting"), "is still starting; try again in a moment"),
        (("shutting down",), "is just ending; start it again"),
        (
            ("too many clients", "too many connections", "remaining connection slots"),
            "has no free connection; raise max_connections or stop other programs",
        ),
        (("timeout expired", "timed out"), f"did not answer within {CONNECT_TIMEOUT_SECONDS} s"),
    ):
        # "does not exist" needs the other mark too; else any mark matches
        if (all if marks[-1] == "does not exist" else any)(mark in text for mark in marks):
            return f"PostgreSQL at {where} {words}"
    if any(mark in text for mark in ("resolve host", "translate host name", "Name or service not known")):
        return f"the host {where} of DATABASE_URL is not known"
    if "refused" in text or "No such file" in text:
        return f"nothing listens at {where}: start PostgreSQL there, or correct or unset DATABASE_URL"
    lines = [line.strip() for line in without_password(text, url).splitlines() if line.strip()]
    return f"no PostgreSQL at {where}: {lines[-1] if lines else 'no reason given'}"


def value(connection: Connection, statement: LiteralString, given: Params | None = None) -> Any:
    """The first column of the first row, None where there is none."""
    return connection.cursor(row_factory=scalar_row).execute(statement, given).fetchone()


def without_password(text: str, url: str) -> str:
    """``text`` with the password of ``url`` masked."""
    password = str(conninfo_to_dict(libpq_url(url)).get("password") or "")
    for form in {password, quote(password, safe="")} - {""}:
        text = text.replace(form, "***")
    return text


def require(connection: Connection) -> None:
    """Check server version and pgvector. Raises DatabaseUnavailable."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise DatabaseUnavailable(
            f"PostgreSQL {version // 10000} is too old: {OLDEST_SERVER // 10000} or newer is needed"
        )
    found = (
        connection.cursor(row_factory=dict_row)
        .execute(
            "SELECT (SELECT nspname FROM pg_namespace WHERE oid = extnamespace) AS place"
            " FROM pg_available_extensions LEFT JOIN pg_extension ON extname = name WHERE name = 'vector'"
        )
        .fetchone()
    )
    if found is None:
        raise DatabaseUnavailable(
            "this PostgreSQL has no pgvector: install the package postgresql-NN-pgvector on its machine"
            " or use an image such as pgvector/pgvector"
        )
    if found["place"] not in (None, "public"):
        raise DatabaseUnavailable(
            f"pgvector lies in schema {found['place']} of this database; an administrator moves it by:"
            " ALTER EXTENSION vector SET SCHEMA public"
        )


class _Pool(ConnectionPool):
    """Closes connections whose prepared statements a migration made unusable. After one timeout further callers wait at
    most ``STARVED_WAIT_SECONDS``: the several steps that end a run would otherwise add up to minutes.
    """

    _is_starved = False

    @contextmanager
    def connection(self, timeout: float | None = None) -> Iterator[Connection]:
        is_there = False
        wait = self.timeout if timeout is None else timeout
        try:
            with super().connection(min(wait, STARVED_WAIT_SECONDS) if self._is_starved else wait) as connection:
                is_there, self._is_starved = True, False
                try:
                    yield connection
                except SCHEMA_CHANGES:
                    connection.close()
                    raise
        except PoolTimeout:
            self._is_starved |= not is_there
            raise


class MakePool(Protocol):
    """As ``pool``."""

    def __call__(
        self,
        url: str,
        *,
        size: int,
        readonly: bool = False,
        is_checked: bool | None = None,
        wait_seconds: float = WAIT_SECONDS,
        now: datetime | None = None,
    ) -> ConnectionPool: ...


def pool(
    url: str,
    *,
    size: int,
    search_path: str = f"{SCHEMA},public",
    readonly: bool = False,
    is_checked: bool | None = None,
    wait_seconds: float = WAIT_SECONDS,
    now: datetime | None = None,
) -> ConnectionPool:
    """An open pool of ``size`` connections; the caller closes it.

    ``readonly`` pools plan each statement once (generic plans) and by default skip the check of a connection before use
    (``is_checked``): readers retry instead. ``wait_seconds`` bounds the wait for a free connection. ``now``: where the
    memory's clock is pinned, so that the tables tell since when it knows something by that clock (B11).
    """
    logging.getLogger("psycopg").addHandler(QUIET)
    url = libpq_url(url)
    return _Pool(
        url,
        min_size=1,
        max_size=size,
        open=True,
        timeout=wait_seconds,
        check=ConnectionPool.check_connection if (not readonly if is_checked is None else is_checked) else None,
        kwargs=pooled(url, search_path=search_path, readonly=readonly, now=now),
    )


def pooled(
    url: str, *, search_path: str = f"{SCHEMA},public", readonly: bool = False, now: datetime | None = None
) -> dict[str, Any]:
    """How a connection of a pool is opened."""
    options = _options(url, f"-csearch_path={search_path} -cTimeZone=UTC -cjit=off {SEARCH_OPTIONS}")
    if now is not None:
        options += f" -cpkg.now={now.isoformat()}"
    if readonly:
        options += " -cdefault_transaction_read_only=on -cplan_cache_mode=force_generic_plan"
    return {
        "options": options,
        "application_name": "pkg_pipeline",
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        "autocommit": True,
    }


@contextmanager
def transaction(connections: ConnectionPool) -> Iterator[Connection]:
    with connections.connection() as connection, connection.transaction():
        yield connection


@contextmanager
def server_cursor(
    connection: Connection, name: str, row_factory: RowFactory[Row]
) -> Iterator[psycopg.ServerCursor[Row]]:
    """A cursor of the server that is closed whatever happens: where the connection died unseen, psycopg's own
    ``close`` fails and leaves it open. That failure hides no earlier one, but nothing ends well with it.
    """
    cursor = connection.cursor(name, row_factory=row_factory)
    try:
        yield cursor
        cursor.close()
    except BaseException:
        with suppress(psycopg.OperationalError):
            cursor.close()
        raise
    finally:
        cursor.close()  # by now the connection is known to be dead, or the cursor is closed
