"""A throw-away PostgreSQL server with a migrated template, shared by all who name the same folder. Not the tests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import fasteners
import psycopg
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded, postmaster

TEMPLATE = "pkg_template"
ENOUGH_BYTES = 4_000_000_000
UNSAFE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "'128MB'",
    "autovacuum": "off",
}
"""Crash safety is tested on servers of their own. Every database that goes is looked for in all buffers. An autovacuum
comes when a machine is busy enough for it: its snapshot keeps rows that a test's own VACUUM is to remove, and its
statistics change plans.
"""


def new_folder() -> Path:
    """An empty folder with a short name, in memory where there is room: nobody keeps what is written there."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ENOUGH_BYTES
    return Path(tempfile.mkdtemp(prefix="pkgt-", dir=memory if roomy else None))


def start(folder: Path, **settings: str) -> str:
    """The URL of the folder's server, started and prepared by whoever asks first, with ``settings`` over ``UNSAFE``."""
    with fasteners.InterProcessLock(folder / "lock"):
        if not (folder / "ready").exists():
            postmaster.create(folder / "pg")
            with (folder / "pg" / "postgresql.auto.conf").open("a", encoding="utf-8") as written:
                written.writelines(f"{name} = {value}\n" for name, value in {**UNSAFE, **settings}.items())
            url = embedded.start(folder / "pg")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {TEMPLATE}")
            migrate.upgrade(engine.with_database(url, TEMPLATE))
            (folder / "ready").touch()
    return embedded.dsn(folder / "pg")


class Kept(NamedTuple):
    """A database to be copied: nobody may be connected to it."""

    url: str
    note: str


def kept(server_url: str, name: str, make: Callable[[str], str], *, like: str = TEMPLATE) -> Kept:
    """The server's database of this name, made once by whoever asks first: ``make`` fills a copy of ``like`` at its URL
    and returns a note to keep beside it.
    """
    making = f"{name}_making"
    with psycopg.connect(server_url, autocommit=True) as connection:

        def run(statement: str, *names: str) -> None:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]

        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))
        noted = "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s"
        found = connection.execute(noted, (name,)).fetchone()
        if found is None:
            run("DROP DATABASE IF EXISTS {} WITH (FORCE)", making)
            run("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", making, like)
            found = (make(engine.with_database(server_url, making)),)
            connection.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(making), found[0]))
            run("ALTER DATABASE {} RENAME TO {}", making, name)
    return Kept(engine.with_database(server_url, name), found[0])


def remove(folder: Path) -> None:
    """End the server and remove the folder."""
    if embedded.is_initialised(folder / "pg"):
        embedded.stop(folder / "pg", mode="immediate")
    shutil.rmtree(folder, ignore_errors=True)
