"""What memories cost in one cluster: as a database each and as a schema each, and one API process over all of them.

    .venv/bin/python -m benchmarks.many_memories [--memories 200] [--schemas 50]

Databases are copied from a migrated template, schemas are made from the template's own dump under another name. Bytes
are what the databases of the cluster grow by. A backend's memory is what is its own (private bytes) after a look at
every table of one memory, and of all. Then every memory is asked over HTTP by its own token, twice: what the first
request takes, which opens it, and the second; what the process and the connections come to. Markdown tables.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import psycopg
from fastapi.testclient import TestClient
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine, memories
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.api.security import ApiToken
from pkg_pipeline.cli.programs.callers import NamedCallers
from pkg_pipeline.cli.programs.serving import Opened, application
from pkg_pipeline.settings import load
from pkg_pipeline.wiring import open_memory

MB = 1 << 20
SIZE = "SELECT sum(pg_database_size(oid)) FROM pg_database"
TABLES = "SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables WHERE schemaname = ANY(%s)"


def size(connection: psycopg.Connection) -> int:
    row = connection.execute(SIZE).fetchone()
    assert row is not None
    return int(row[0])


def private_bytes(url: str, schemas: list[str]) -> int:
    """Of a backend that has planned a read of every table of these schemas."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = [row[0] for row in connection.execute(TABLES, (schemas,)).fetchall()]
        for table in tables:
            connection.execute(f"SELECT * FROM {table} LIMIT 0")  # type: ignore[arg-type]
        return psutil.Process(connection.info.backend_pid).memory_full_info().uss


def copies(server: psycopg.Connection, template: str, count: int) -> tuple[list[float], int]:
    """Seconds of each copy, and the bytes of all."""
    before, seconds = size(server), list[float]()
    for number in range(count):
        started = time.perf_counter()
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (f"m{number}", template))))
        seconds.append(time.perf_counter() - started)
    return seconds, size(server) - before


def schemas(url: str, server: psycopg.Connection, count: int) -> tuple[list[float], int]:
    dumped = subprocess.run(
        [embedded.binary("pg_dump"), "--schema-only", "--schema=pkg", "--no-owner", url],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    dumped = "\n".join(line for line in dumped.splitlines() if not line.startswith("\\"))
    before, seconds = size(server), list[float]()
    with psycopg.connect(url, autocommit=True) as connection:
        for number in range(count):
            made = re.sub(r"\bpkg\b(?=[.;,\s])", f"s{number}", dumped)
            started = time.perf_counter()
            connection.execute(made)  # type: ignore[arg-type]
            seconds.append(time.perf_counter() - started)
    return seconds, size(server) - before


def answers(server_url: str, count: int, home: Path) -> dict[str, str]:
    """Each memory asked over HTTP by its own token, first in the order of their names, then by chance."""
    own = engine.with_database(server_url, "own")
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute("CREATE DATABASE own TEMPLATE template")
        for number in range(count):  # under the names that the API looks for
            names = (f"m{number}", memories.database_of(own, f"m{number}"))
            server.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*map(sql.Identifier, names)))
    os.environ.update({"DATABASE_URL": own, "PKG_HOME": str(home), "PKG_EMBEDDER": "none", "PKG_LLM": "offline"})
    digests = [hashlib.sha256(f"secret {number}".encode()).hexdigest() for number in range(count)]
    tokens = tuple(ApiToken("one", "admin", digest, f"m{number}") for number, digest in enumerate(digests))
    process = psutil.Process()
    opened = Opened(host="127.0.0.1", tokens=tokens, processes=1, named=NamedCallers(tokens))
    with (
        open_memory(load()) as memory,
        application(memory, opened) as app,
        TestClient(app, base_url="http://127.0.0.1:8321") as client,
        psycopg.connect(server_url, autocommit=True) as server,
    ):

        def ask(number: int) -> float:
            started = time.perf_counter()
            answer = client.get("/v1/entities", headers={"Authorization": f"Bearer secret {number}"})
            assert answer.status_code == 200, answer.text
            return time.perf_counter() - started

        before = process.memory_info().rss
        first = sorted(ask(number) for number in range(count))
        grown = process.memory_info().rss - before
        random.seed(1)
        again = sorted(ask(random.randrange(count)) for _ in range(1_000))
        same = sorted(ask(0) for _ in range(200))
        row = server.execute("SELECT count(*) FROM pg_stat_activity WHERE starts_with(datname, 'own.')").fetchone()
        assert row is not None
        return {
            "first request of a memory, p50; p95": f"{_ms(first, 0.5)}; {_ms(first, 0.95)} ms",
            "any memory by chance, p50; p95": f"{_ms(again, 0.5)}; {_ms(again, 0.95)} ms",
            "the same memory again, p50": f"{_ms(same, 0.5)} ms",
            f"process, for {count} open": f"{grown / MB:.0f} MB",
            "connections to all of them": str(row[0]),
            "threads": str(process.num_threads()),
        }


def _ms(found: list[float], share: float) -> str:
    return f"{found[int(len(found) * share)] * 1_000:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--schemas", type=int, default=50)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    try:
        with psycopg.connect(server_url, autocommit=True) as server:
            server.execute("CREATE DATABASE template")
            template = engine.with_database(server_url, "template")
            started = time.perf_counter()
            migrate.upgrade(template)
            fresh = time.perf_counter() - started
            copied, bytes_copied = copies(server, "template", given.memories)
            one = engine.with_database(server_url, "m0")
            started = time.perf_counter()
            for number in range(min(given.memories, 20)):
                migrate.upgrade(engine.with_database(server_url, f"m{number}"))
            look = (time.perf_counter() - started) / min(given.memories, 20)
            own = private_bytes(one, ["pkg"])
            server.execute("CREATE DATABASE together TEMPLATE template")
            together = engine.with_database(server_url, "together")
            made, bytes_made = schemas(together, server, given.schemas)
            names = [f"s{number}" for number in range(given.schemas)]
            narrow, wide = private_bytes(together, names[:1]), private_bytes(together, names)
            answered = answers(server_url, given.memories, folder / "home")
        print("| | a database each | a schema each |\n|---|---:|---:|")
        print(f"| memories made | {given.memories} | {given.schemas} |")
        print(f"| seconds of one, median | {statistics.median(copied):.2f} | {statistics.median(made):.2f} |")
        print(
            f"| MB of an empty one | {bytes_copied / given.memories / MB:.1f} | {bytes_made / given.schemas / MB:.1f} |"
        )
        print(f"| MB of a backend that knows one | {own / MB:.1f} | {narrow / MB:.1f} |")
        print(f"| MB of a backend that knows {given.schemas} | a connection to each | {wide / MB:.1f} |")
        print("\n| one API process over all of them | |\n|---|---:|")
        for said, number in answered.items():
            print(f"| {said} | {number} |")
        print(f"\nall revisions into an empty database {fresh:.2f} s; nothing to migrate {look:.2f} s a database")
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
