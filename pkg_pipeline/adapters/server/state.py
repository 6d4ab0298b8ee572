"""The state of a PostgreSQL server process by its pid file, socket and child processes. Read-only."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

STUCK_SECONDS = 3.0
"""A server that accepts nobody while all its processes sleep is stuck, e.g. told to shut down while recovering from a
crash.
"""

State = Literal["ready", "busy", "gone"]


@dataclass(frozen=True, slots=True)
class PidFile:
    """``postmaster.pid``. ``status``: starting, ready or stopping; it survives a crash, and says ready while a crashed
    process is recovered.
    """

    pid: int
    port: str
    socket_folder: Path
    status: str

    @property
    def socket(self) -> Path:
        return self.socket_folder / f".s.PGSQL.{self.port}"


def state(folder: Path) -> State:
    """``ready``: accepts clients; ``busy``: starts, recovers or stops; ``gone``."""
    found = pid_file(folder)
    if found is None:
        return "gone"
    if found.status == "ready" and _listens(found.socket) and not _turns_away(found):
        return "ready"
    return "busy" if is_server(found.pid, folder) else "gone"


def pid_file(folder: Path) -> PidFile | None:
    """``postmaster.pid`` as far as written, or None."""
    try:
        lines = (folder / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        pid = int(lines[0])
    except (OSError, IndexError, ValueError):
        return None
    port, place = (lines[3].strip(), lines[4].strip()) if len(lines) > 4 else ("", "")
    return PidFile(pid, port, Path(place), lines[7].strip() if len(lines) > 7 else "")


def is_server(pid: int, folder: Path) -> bool:
    """Whether the process is the server of ``folder``: pids are reused."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith("postgres"):
            return False
        return str(folder) in process.cmdline()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # cannot be inspected: wait rather than start a second one


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
        except (BlockingIOError, TimeoutError):
            return True  # its connection queue is full
        except OSError:
            return False
    return True


def _turns_away(found: PidFile) -> bool:
    """Whether it rejects clients as starting, recovering or stopping."""
    from psycopg import conninfo, pq  # imported only if a server runs

    address = {"host": str(found.socket_folder), "port": found.port, "dbname": "postgres", "user": "postgres"}
    given = conninfo.make_conninfo(**address, connect_timeout=2)
    return pq.PGconn.ping(os.fsencode(given)) == pq.Ping.REJECT


class Standstill:
    """Tells, polled, whether a server is stuck."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._since = time.monotonic()

    def is_reached(self) -> bool:
        """Whether nothing has changed for ``STUCK_SECONDS``."""
        if _moves(self._folder):
            self._since = time.monotonic()
        return time.monotonic() - self._since > STUCK_SECONDS


def _moves(folder: Path) -> bool:
    """Whether any of the server's processes works or recovers."""
    import psutil

    found = pid_file(folder)
    if found is None:
        return True
    try:
        server = psutil.Process(found.pid)
        family = [server, *server.children()]
        if any(process.status() != psutil.STATUS_SLEEPING for process in family):
            return True
        return any(" startup" in "".join(process.cmdline()) for process in family)
    except psutil.Error:
        return True
