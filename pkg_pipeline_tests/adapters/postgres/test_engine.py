"""Forms of a database URL, the words for a failed connection, what a server must be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout
from sqlalchemy.engine import make_url

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("given_url", "plain"),
    [
        ("postgres://u:p@h/d", "postgresql://u:p@h/d"),
        ("postgresql+psycopg://u:p@h:5433/d", "postgresql://u:p@h:5433/d"),
        ("postgresql+psycopg2://u@h/d?sslmode=require", "postgresql://u@h/d?sslmode=require"),
        (" postgresql://u:p%40ss@h/d\n", "postgresql://u:p%40ss@h/d"),
        ("postgresql://u:p#s?s@h/d", "postgresql://u:p%23s%3Fs@h/d"),
        ("postgresql://u@[::1]:5433/d", "postgresql://u@[::1]:5433/d"),
        ("postgresql:///d?host=/run/pg&port=5433", "postgresql:///d?host=%2Frun%2Fpg&port=5433"),
        ("postgresql://u@/d?host=/run/pg", "postgresql://u@/d?host=%2Frun%2Fpg"),
        ("postgresql://a:1,b:2/d", "postgresql:///d?host=a%2Cb&port=1%2C2"),
    ],
)
def test_forms_of_a_url(given_url: str, plain: str) -> None:
    assert engine.libpq_url(given_url) == plain
    assert engine.libpq_url(plain) == plain


@pytest.mark.parametrize(
    "url",
    ["mysql://u:secret@h/d", "host=h password=secret", "", "postgresql://u:sec/ret@h/d", "postgresql://u:sec@ret@h/d",
     "postgresql://u:%zzsecret@h/d", "postgresql://u:secret@h:port/d", "postgresql://u:secret@h/d?nonsense=1"],
)  # fmt: skip
def test_what_is_no_url_is_said_without_repeating_it(url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="DATABASE_URL") as refused:
        engine.libpq_url(url)
    assert "secret" not in str(refused.value)
    assert "ret@h" not in str(refused.value)
    assert refused.value.__cause__ is None, "libpq's own words repeat the piece that it stumbled over"


@given(user=WORDS, password=WORDS, database=WORDS)
def test_every_character_survives_into_libpq_and_sqlalchemy(user: str, password: str, database: str) -> None:
    from urllib.parse import quote

    url = f"postgresql://{quote(user, safe='')}:{quote(password, safe='')}@h:5433/{quote(database, safe='')}"
    if "@" in database:
        return  # as good as always a password that was not encoded
    read = conninfo_to_dict(engine.libpq_url(url))
    assert (read["user"], read["password"], read["dbname"]) == (user, password, database)
    again = make_url(engine.sqlalchemy_url(url, driver="psycopg", search_path="pkg,public"))
    assert (again.username, again.password, again.database) == (user, password, database)
    assert again.query["options"] == "-csearch_path=pkg,public"


def test_options_of_the_url_stay_beside_ours() -> None:
    url = engine.sqlalchemy_url("postgresql://h/d?options=-cwork_mem%3D1MB", driver="psycopg2", search_path="dagster")
    assert make_url(url).query["options"] == "-cwork_mem=1MB -csearch_path=dagster"


def test_another_database_of_the_same_server() -> None:
    assert engine.with_database("postgresql://u:p@h/a?sslmode=require", "b c") == (
        "postgresql://u:p@h/b%20c?sslmode=require"
    )


URL = "postgresql://anna:geheim%21@db.example:5433/memory"


@pytest.mark.parametrize(
    ("libpq", "said"),
    [
        ('FATAL:  password authentication failed for user "anna"', "refused the user or password"),
        ("fe_sendauth: no password supplied", "refused the user or password"),
        ('FATAL:  database "memory" does not exist', "has no database 'memory'"),
        ('FATAL:  role "anna" does not exist', "has no role 'anna'"),
        ('FATAL:  permission denied for database "memory"', "grant CONNECT"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "anna"', "pg_hba.conf"),
        ("FATAL:  the database system is starting up", "still starting"),
        ("FATAL:  sorry, too many clients already", "no free connection"),
        ('FATAL:  too many connections for role "anna"', "no free connection"),
        ("connection timeout expired", "did not answer within 10 s"),
        ("failed to resolve host 'db.example': Name or service not known", "is not known"),
        ("connection failed: Connection refused", "nothing listens at db.example:5433"),
        ("something odd about geheim! and geheim%21", "something odd about *** and ***"),
        ("", "no reason given"),
    ],
)
def test_each_failure_has_its_line(libpq: str, said: str) -> None:
    line = engine.explain(psycopg.OperationalError(libpq), URL)
    assert said in line
    assert "db.example" in line
    assert "geheim" not in line
    assert "\n" not in line


class FakeConnection:
    """A server of some version with or without pgvector."""

    def __init__(self, version: int, extension: tuple[str | None] | None) -> None:
        self.info = SimpleNamespace(server_version=version)
        self._extension = extension

    def cursor(self, **_: object) -> Any:
        row = self._extension and {"place": self._extension[0]}
        return SimpleNamespace(execute=lambda _: SimpleNamespace(fetchone=lambda: row))


@pytest.mark.parametrize(
    ("version", "extension", "said"),
    [
        (140012, (None,), "PostgreSQL 14 is too old: 15 or newer"),
        (90624, (None,), "PostgreSQL 9 is too old"),
        (150000, None, "no pgvector"),
        (150000, ("extensions",), "ALTER EXTENSION vector SET SCHEMA public"),
        (150000, (None,), None),
        (180004, ("public",), None),
    ],
)
def test_what_a_server_must_be(version: int, extension: tuple[str | None] | None, said: str | None) -> None:
    server = cast(engine.Connection, FakeConnection(version, extension))
    if said is None:
        engine.require(server)
        return
    with pytest.raises(DatabaseUnavailable, match=said):
        engine.require(server)


def test_a_pool_for_reading_cannot_write(database_url: str) -> None:
    pool = engine.pool(database_url, size=1, readonly=True)
    try:
        with engine.transaction(pool) as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("DELETE FROM messages")
    finally:
        pool.close()


def test_who_comes_after_one_that_waited_in_vain_waits_a_second_until_there_is_a_connection(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float | None] = []
    take = ConnectionPool.getconn
    is_down = True

    def getconn(self: ConnectionPool, timeout: float | None = None) -> Any:
        waits.append(timeout)
        if is_down:
            raise PoolTimeout("none")
        return take(self, timeout)

    monkeypatch.setattr(ConnectionPool, "getconn", getconn)
    with engine.pool(database_url, size=1, wait_seconds=20) as pool:
        for _ in range(3):
            with pytest.raises(PoolTimeout), pool.connection():
                pass
        is_down = False
        for _ in range(2):
            with pool.connection() as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(PoolTimeout), pool.connection():
            raise PoolTimeout("of another pool")
        with pool.connection(timeout=5):
            pass
    assert waits == [20, 1, 1, 1, 20, 20, 5]
