"""What an empty memory costs in one cluster: as a database of its own, and as a schema of one database.

    .venv/bin/python -m benchmarks.many_memories [--memories 200] [--schemas 50]

Databases are copied from a migrated template, schemas are made from the template's own dump under another name. Bytes
are what the databases of the cluster grow by. A backend's memory is what is its own (private bytes) after a look at
every table of one memory, and of all. A Markdown table.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded

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
        print("| | a database each | a schema each |\n|---|---:|---:|")
        print(f"| memories made | {given.memories} | {given.schemas} |")
        print(f"| seconds of one, median | {statistics.median(copied):.2f} | {statistics.median(made):.2f} |")
        print(
            f"| MB of an empty one | {bytes_copied / given.memories / MB:.1f} | {bytes_made / given.schemas / MB:.1f} |"
        )
        print(f"| MB of a backend that knows one | {own / MB:.1f} | {narrow / MB:.1f} |")
        print(f"| MB of a backend that knows {given.schemas} | a connection to each | {wide / MB:.1f} |")
        print(f"\nall revisions into an empty database {fresh:.2f} s; nothing to migrate {look:.2f} s a database")
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
