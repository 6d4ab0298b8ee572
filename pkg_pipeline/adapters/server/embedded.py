"""The embedded PostgreSQL: one server per data folder, shared by all processes that use it. The process:
``postmaster.py``.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from pkg_pipeline.adapters.server import postmaster
from pkg_pipeline.adapters.server import state as server_state
from pkg_pipeline.adapters.server.postmaster import LOG_SEGMENT_BYTES, ServerFailed, binary

__all__ = [
    "FILES_BESIDE",
    "EmbeddedError",
    "binary",
    "disk_is_full",
    "dsn",
    "is_initialised",
    "is_running",
    "keep",
    "leave",
    "remove",
    "revived",
    "running",
    "start",
    "stop",
]

FILES_BESIDE = (".lock", ".starting", ".keep", ".part")
"""Suffixes of files beside the data folder ``postgres``."""


NO_SPACE = os.strerror(errno.ENOSPC)

RECHECK_SECONDS = 2.0
_USES: list[tuple[Path, int]] = []
"""Folders used by this process, each with its lock."""


class EmbeddedError(Exception):
    """The embedded server cannot be used; the message has reason and remedy."""


def dsn(folder: Path, database: str = "postgres") -> str:
    """The libpq URL of a running server. Raises EmbeddedError."""
    folder = _resolved(folder)
    found = server_state.pid_file(folder)
    if found is None or server_state.state(folder) != "ready":
        raise EmbeddedError(f"the embedded PostgreSQL in {folder} is not running; start it by: pkg-pipeline db start")
    place = quote(os.fsencode(found.socket_folder), safe="")
    # the port overrides PGPORT of the environment
    return f"postgresql://postgres@/{database}?host={place}&port={found.port}"


def is_initialised(folder: Path) -> bool:
    """A database is created whole or not at all."""
    return (_resolved(folder) / "PG_VERSION").exists()


def is_running(folder: Path) -> bool:
    return server_state.state(_resolved(folder)) == "ready"


def start(folder: Path) -> str:
    """Start the server, creating it on first use; returns its URL. Safe to call concurrently. Does not count as a user
    (see ``running``).
    """
    folder = _resolved(folder)
    if server_state.state(folder) != "ready":
        with _clear_words(folder, "start"), _locked(folder, ".starting", fcntl.LOCK_EX):
            if not is_initialised(folder):
                postmaster.create(folder)
            postmaster.launch(folder)
    return dsn(folder)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The server while needed; the last user stops it, unless ``keep`` was set. May be nested and used by several
    threads.

    Users hold a shared file lock, which the kernel frees on a kill; who gets it exclusively was the last.
    """
    folder = _resolved(folder)
    with _locked(folder, ".lock", fcntl.LOCK_SH) as lock:
        _USES.append((folder, lock))
        try:
            yield start(folder)
        finally:
            _USES.remove((folder, lock))
            if _is_last(lock) and not _kept(folder).exists():
                stop(folder)


def leave() -> None:
    """End all uses of this process at once; the next start recovers."""
    while _USES:
        folder, lock = _USES.pop()
        if all(other != folder for other, _ in _USES) and _is_last(lock) and not _kept(folder).exists():
            stop(folder, mode="immediate")
        os.close(lock)


@contextmanager
def revived(folder: Path) -> Iterator[None]:
    """Restart a server that crashed (disk full) while in use; one that was shut down stays down."""
    folder = _resolved(folder)
    ended = threading.Event()

    def watch() -> None:
        standstill = server_state.Standstill(folder)
        while not ended.wait(RECHECK_SECONDS):
            now = server_state.state(folder)
            if now == "ready":
                standstill = server_state.Standstill(folder)
                continue
            with suppress(EmbeddedError, ServerFailed):
                if postmaster.has_crashed(folder) if now == "gone" else standstill.is_reached():
                    start(folder)

    thread = threading.Thread(target=watch, name="server watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(RECHECK_SECONDS)


def keep(folder: Path, *, kept: bool) -> None:
    """Whether the server runs on without users (``db start``, ``db stop``)."""
    marker = _kept(_resolved(folder))
    if kept:
        with _clear_words(folder, "start"):
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
    else:
        marker.unlink(missing_ok=True)


def stop(folder: Path, *, mode: Literal["fast", "immediate"] = "fast") -> bool:
    """Stop the server in ``mode`` fast or immediate, whoever uses it; False if none was running."""
    folder = _resolved(folder)
    with _clear_words(folder, "stop"):
        return postmaster.end(folder, mode=mode)


def remove(folder: Path) -> None:
    """Stop the server and delete its data folder."""
    stop(folder)
    shutil.rmtree(_resolved(folder))


def disk_is_full(folder: Path) -> str:
    return (
        f"the disk that holds {folder} is full: free some space there and do the same again; what was committed is kept"
    )


def _resolved(folder: Path) -> Path:
    return folder.expanduser().resolve()


def _kept(folder: Path) -> Path:
    return folder.with_name(folder.name + ".keep")


@contextmanager
def _locked(folder: Path, suffix: str, kind: int) -> Iterator[int]:
    """A flock of its own open file, so two in one process exclude each other; not inherited. Raises EmbeddedError."""
    path = folder.with_name(folder.name + suffix)
    with _clear_words(folder, "start"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, kind)
        yield lock
    finally:
        os.close(lock)


def _is_last(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _clear_words(folder: Path, what: str) -> Iterator[None]:
    try:
        yield
    except ServerFailed as failure:
        # a full disk may prevent the log too
        if NO_SPACE in str(failure) or shutil.disk_usage(folder.parent).free < LOG_SEGMENT_BYTES:
            raise EmbeddedError(disk_is_full(folder)) from failure
        raise EmbeddedError(f"the embedded PostgreSQL in {folder} did not {what}: {failure}") from failure
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise EmbeddedError(disk_is_full(folder)) from error
        where = error.filename or folder
        raise EmbeddedError(
            f"{where}: {error.strerror}; PKG_HOME must be a folder that this user can write to"
        ) from error
