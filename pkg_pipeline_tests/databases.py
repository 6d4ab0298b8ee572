"""A throw-away PostgreSQL server with a migrated template, shared by all who name the same folder. Not the tests."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import fasteners
import psycopg

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded, postmaster

TEMPLATE = "pkg_template"
ENOUGH_BYTES = 4_000_000_000
UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "'128MB'"}
"""Crash safety is tested on servers of their own. Every database that goes is looked for in all buffers."""


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


def remove(folder: Path) -> None:
    """End the server and remove the folder."""
    if embedded.is_initialised(folder / "pg"):
        embedded.stop(folder / "pg", mode="immediate")
    shutil.rmtree(folder, ignore_errors=True)
