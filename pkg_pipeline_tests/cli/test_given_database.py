"""DATABASE_URL: the whole way over TCP with a password, and one clear line for everything that can be wrong."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import psycopg
import pytest

from pkg_pipeline_tests.cli.clusters import OLDER, PASSWORD, Cluster, cluster
from pkg_pipeline_tests.cli.digests import digest
from pkg_pipeline_tests.cli.processes import Program, Said, dialogue, short_folder, written


@pytest.fixture(scope="module")
def tcp() -> Iterator[Cluster]:
    with short_folder() as folder, cluster(folder) as started:
        yield started


def says_no_password(said: Said) -> None:
    for secret in (PASSWORD, "g@h", "g%40h", "e#im", "e%23im"):
        assert secret not in said.out + said.err


def test_the_whole_way_over_tcp(program: Program, tcp: Cluster) -> None:
    url = tcp.create_database("whole")
    file = written(program.home.parent / "chat.jsonl", dialogue())
    assert program.ok("init", "--json", DATABASE_URL=url).json["database"] == "given"
    driver = url.replace("postgresql://", "postgresql+psycopg://")
    assert program.ok("import", file, "--json", DATABASE_URL=driver).json["messages_new"] == 6
    short = url.replace("postgresql://", "postgres://") + "?sslmode=prefer&application_name=mine"
    assert "4,500 USD" in program.ok("context", "Olga Petrova", DATABASE_URL=short).out
    assert program.ok("db", "status", "--json", DATABASE_URL=url).json["running"] is True
    for command in ("start", "stop"):
        program("db", command, DATABASE_URL=url).failed("DATABASE_URL")
    file = program.home.parent / "memory.backup"
    says_no_password(program.ok("backup", file, DATABASE_URL=url))
    before = digest(url)  # with the settings that go along, which the backup writes down first
    said = program.ok("uninstall", "--yes", "--json", DATABASE_URL=url).json
    assert said["schemas"] == ["pkg", "dagster"]
    assert digest(url) == {}
    says_no_password(program.ok("restore", file, "--yes", DATABASE_URL=url))
    assert digest(url) == before
    assert not program.data.exists(), "no embedded database is made beside a given one"


def test_a_backup_goes_into_a_server_of_an_older_version(program: Program, tcp: Cluster) -> None:
    source = tcp.create_database("newer")
    program.ok("import", written(program.home.parent / "chat.jsonl", dialogue()), DATABASE_URL=source)
    file = program.home.parent / "memory.backup"
    program.ok("backup", file, DATABASE_URL=source)
    with short_folder() as folder, cluster(folder, major=OLDER) as older:
        program.ok("restore", file, "--yes", DATABASE_URL=older.url())
        assert digest(older.url()) == digest(source)


def test_whom_it_refuses(program: Program, tcp: Cluster) -> None:
    for url, words in (
        (tcp.url(password="wrong"), ("refused the user or password",)),
        (tcp.url(user="nobody"), ("refused the user or password",)),
        (tcp.url(database="nowhere"), ("no database 'nowhere'",)),
        (f"postgresql://owner@127.0.0.1:{tcp.port}/memory", ("refused the user or password",)),
        (tcp.url().replace(f":{tcp.port}", ":notaport"), ("percent-encoded",)),
        (f"postgresql://owner:{PASSWORD}@127.0.0.1:{tcp.port}/memory", ("percent-encoded",)),
        ("host=127.0.0.1 dbname=memory", ("must begin with postgresql://",)),
        (tcp.url().replace("127.0.0.1", "no.such.host.invalid"), ("no.such.host.invalid",)),
    ):
        for command in (("entities",), ("doctor",)) if "wrong" in url else (("entities",),):
            said = program(*command, DATABASE_URL=url)
            says_no_password(said)
            if command == ("entities",):
                said.failed("PostgreSQL" if "refused" in words[0] else "", *words)
            else:
                assert said.code == 1
                assert words[0] in said.out


def test_nothing_listens(program: Program) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program("entities", DATABASE_URL=f"postgresql://o:p@127.0.0.1:{port}/m").failed(
        f"127.0.0.1:{port}", "nothing listens"
    )
    program("db", "status", "--json", DATABASE_URL="postgresql:///m?host=/nowhere").failed(
        "/nowhere", "nothing listens"
    )


def test_a_role_that_may_not_create(program: Program, tcp: Cluster) -> None:
    tcp.execute("CREATE ROLE guest LOGIN PASSWORD 'x'")
    tcp.execute("CREATE DATABASE guarded")
    url = tcp.url(user="guest", password="x", database="guarded")
    program("init", DATABASE_URL=url).failed("'guest'", "'guarded'", "GRANT CREATE ON DATABASE")
    tcp.execute("CREATE EXTENSION vector", database="guarded")
    for schema in ("pkg", "dagster"):
        tcp.execute("CREATE SCHEMA {} AUTHORIZATION guest", schema, database="guarded")
    assert program.ok("init", "--json", DATABASE_URL=url).json["revision"], "what an administrator made is enough"


def test_a_role_that_may_not_install_pgvector(program: Program, tcp: Cluster) -> None:
    url = tcp.create_database("plain", extension=False)
    program("init", DATABASE_URL=url).failed("'owner'", "'plain'", "CREATE EXTENSION vector")


def test_pgvector_in_another_schema(program: Program, tcp: Cluster) -> None:
    url = tcp.create_database("elsewhere", extension=False)
    tcp.execute("CREATE SCHEMA extensions", database="elsewhere")
    tcp.execute("CREATE EXTENSION vector SCHEMA extensions", database="elsewhere")
    program("init", DATABASE_URL=url).failed("extensions", "SET SCHEMA public")


def test_a_server_without_pgvector(program: Program) -> None:
    with short_folder() as folder, cluster(folder, vector=False) as bare:
        program("init", DATABASE_URL=bare.url()).failed("no pgvector", "postgresql-NN-pgvector")
        said = program("doctor", "--json", DATABASE_URL=bare.url())
        assert any("no pgvector" in problem for problem in said.json["problems"])


def test_a_server_that_goes_away_is_one_line(program: Program) -> None:
    with short_folder() as folder, cluster(folder) as leaving:
        url = leaving.url()
        program.ok("init", DATABASE_URL=url)
    program("entities", DATABASE_URL=url).failed("nothing listens")


def test_all_connections_taken(program: Program, tcp: Cluster) -> None:
    url = tcp.create_database("narrow")
    program.ok("init", DATABASE_URL=url)
    tcp.execute("ALTER ROLE owner CONNECTION LIMIT 1")
    try:
        with psycopg.connect(url):
            program("entities", DATABASE_URL=url).failed("no free connection")
    finally:
        tcp.execute("ALTER ROLE owner CONNECTION LIMIT -1")
