"""Runs several programs as one, each in its process group: started together, waited for, ended together."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from pkg_pipeline.adapters.process_environment import end_with_parent
from pkg_pipeline.cli.terminal import CommandFailed

POLL_SECONDS = 0.1
POLITE_SECONDS = 15.0
"""Wait after SIGINT. Dagster's programs end within a few seconds."""
FIRM_SECONDS = 5.0

Probe = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Program:
    """A child process. ``ready`` tells when it answers; ``address`` is printed then."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    ready: Probe
    address: str | None = None
    start_seconds: float = 120.0


class Stopped(Exception):
    """SIGINT, SIGTERM or SIGHUP was received."""


class Group:
    """The running programs. Use as ``with supervised(...) as group``."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._running: list[tuple[Program, subprocess.Popen[bytes]]] = []
        self.stop = threading.Event()

    def start(self, programs: Sequence[Program], on_ready: Callable[[Program], None]) -> None:
        """Starts all and waits until each answers. Raises CommandFailed if one ends or takes too long."""
        for program in programs:
            self._running.append((program, self._spawn(program)))
        waiting = list(programs)
        started = time.monotonic()
        while waiting:
            self._raise_if_ended()
            for program in list(waiting):
                if program.ready():
                    waiting.remove(program)
                    on_ready(program)
                elif time.monotonic() - started > program.start_seconds:
                    raise CommandFailed(f"{program.name} did not answer; see {self._log(program)}")
            self._pause()

    def wait(self) -> None:
        """Returns on a signal; raises CommandFailed when a program ends by itself."""
        with contextlib.suppress(Stopped):
            while True:
                self._raise_if_ended()
                self._pause()

    def end(self) -> None:
        """Ends every group and waits for it; safe to call twice."""
        steps = ((signal.SIGINT, POLITE_SECONDS), (signal.SIGTERM, FIRM_SECONDS), (signal.SIGKILL, FIRM_SECONDS))
        for number, seconds in steps:
            alive = [child for _, child in self._running if _group_lives(child)]
            if not alive:
                break
            for child in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, number)
            deadline = time.monotonic() + seconds
            while any(_group_lives(child) for child in alive) and time.monotonic() < deadline:
                time.sleep(POLL_SECONDS)
        self._running.clear()

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        with self._log(program).open("wb") as log:
            return subprocess.Popen(
                list(program.command),
                env=dict(program.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_parent if sys.platform == "linux" else None,
            )

    def _log(self, program: Program) -> Path:
        return self._log_folder / f"{program.name}.log"

    def _pause(self) -> None:
        if self.stop.wait(POLL_SECONDS):
            raise Stopped

    def _raise_if_ended(self) -> None:
        for program, child in self._running:
            if (code := child.poll()) is not None:
                raise CommandFailed(
                    f"{program.name} ended {_how(code)}; the rest is stopped. Its log is {self._log(program)}"
                    f"{_last_line(self._log(program))}"
                )


@contextmanager
def supervised(log_folder: Path) -> Iterator[Group]:
    """A group that ends with the block; signals set its ``stop``."""
    log_folder.mkdir(parents=True, exist_ok=True)
    group = Group(log_folder)

    def on_signal(number: int, frame: FrameType | None) -> None:
        del number, frame
        group.stop.set()

    # our handlers also undo the SIG_IGN that a background job inherits for SIGINT
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield group
    finally:
        group.end()
        for number, handler in before.items():
            signal.signal(number, handler)


# ── probes ────────────────────────────────────────────────────────────────────────────────────


def http_answers(asked: str | Request, *, holding: str = "") -> Probe:
    """Ready once a GET of ``asked`` gives a 200 with ``holding`` in its body; without proxy."""

    def probe() -> bool:
        try:
            with build_opener(ProxyHandler({})).open(asked, timeout=5) as answer:
                return answer.status == 200 and holding in answer.read().decode(errors="replace")
        except (URLError, OSError, ValueError):
            return False

    return probe


def socket_answers(path: Path) -> Probe:
    """Ready once something listens on the unix socket."""

    def probe() -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            return client.connect_ex(str(path)) == 0

    return probe


def free_port(host: str, port: int, *, option: str) -> int:
    """``port``, or for 0 a free one. Raises CommandFailed if another program has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port in TIME_WAIT counts as free
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandFailed(
                f"port {port} on {host} is taken ({error.strerror}); choose another by {option}"
            ) from error
        return int(probe.getsockname()[1])


# ── processes ─────────────────────────────────────────────────────────────────────────────────


def _group_lives(child: subprocess.Popen[bytes]) -> bool:
    """Whether any process of the group is running."""
    child.poll()
    try:
        os.killpg(child.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _how(code: int) -> str:
    return f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _last_line(log: Path) -> str:
    try:
        lines = [
            line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
        ]
    except OSError:
        return ""
    return f": {lines[-1][:300]}" if lines else ""
