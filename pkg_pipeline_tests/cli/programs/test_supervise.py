"""Programs as one, with small real children: started, waited for, ended with all they started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pkg_pipeline.cli.programs.supervise import Program, Stopped, free_port, http_answers, socket_answers, supervised
from pkg_pipeline.cli.terminal import CommandFailed

SERVER = """
import socket, sys
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen()
while True: server.accept()[0].close()
"""
STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").close()
time.sleep(600)
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(600)
"""


def program(name: str, code: str, *arguments: str, ready: Callable[[], bool] = lambda: True) -> Program:
    return Program(name, [sys.executable, "-S", "-c", code, *arguments], dict(os.environ), ready, start_seconds=30)


def mine() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


def test_each_is_ready_when_it_answers_and_none_is_left(tmp_path: Path) -> None:
    names: list[str] = []
    before = mine()
    with supervised(tmp_path) as group:
        paths = [tmp_path / "a", tmp_path / "b"]
        group.start(
            [program(path.name, SERVER, str(path), ready=socket_answers(path)) for path in paths],
            lambda one: names.append(one.name),
        )
        assert sorted(names) == ["a", "b"]
        assert len(mine()) == len(before) + 2
    assert mine() == before


def test_one_that_ends_early_ends_all_with_a_clear_line(tmp_path: Path) -> None:
    before = mine()
    with supervised(tmp_path) as group, pytest.raises(CommandFailed) as failed:
        group.start(
            [
                program("steady", SERVER, str(tmp_path / "s"), ready=socket_answers(tmp_path / "s")),
                program("weak", "import sys; print('no such table'); sys.exit(3)", ready=lambda: False),
            ],
            lambda _: None,
        )
    assert str(failed.value).startswith("weak ended with exit code 3; the rest is stopped.")
    assert str(failed.value).endswith(": no such table")
    assert mine() == before


def test_one_that_dies_later_is_noticed_too(tmp_path: Path) -> None:
    with supervised(tmp_path) as group:
        group.start([program("short", "import time; time.sleep(0.3)")], lambda _: None)
        with pytest.raises(CommandFailed, match="short ended with exit code 0"):
            group.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_waiting_and_the_handlers_come_back(tmp_path: Path, number: signal.Signals) -> None:
    before, children = signal.getsignal(number), mine()
    with supervised(tmp_path) as group:
        group.start([program("a", SERVER, str(tmp_path / "a"), ready=socket_answers(tmp_path / "a"))], lambda _: None)
        threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
        group.wait()
    assert signal.getsignal(number) == before
    assert mine() == children


def test_a_signal_while_starting_stops_the_start(tmp_path: Path) -> None:
    children = mine()
    with supervised(tmp_path) as group, pytest.raises(Stopped):  # noqa: PT012
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
        group.start([program("never", "import time; time.sleep(600)", ready=lambda: False)], lambda _: None)
    assert mine() == children


def test_what_a_child_started_ends_with_it(tmp_path: Path) -> None:
    """Run workers are children of the code server."""
    note = tmp_path / "pid"
    with supervised(tmp_path) as group:
        group.start(
            [program("parent", PARENT, str(note), ready=lambda: bool(note.exists() and note.read_text()))],
            lambda _: None,
        )
        grandchild = int(note.read_text(encoding="utf-8"))
        assert psutil.pid_exists(grandchild)
    assert not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE


def test_one_that_ignores_politeness_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pkg_pipeline.cli.programs import supervise

    monkeypatch.setattr(supervise, "POLITE_SECONDS", 0.2)
    monkeypatch.setattr(supervise, "FIRM_SECONDS", 0.5)
    note, children = tmp_path / "up", mine()
    with supervised(tmp_path) as group:
        group.start([program("stubborn", STUBBORN, str(note), ready=note.exists)], lambda _: None)
    assert mine() == children


@pytest.mark.skipif(sys.platform != "linux", reason="NOT RUN: only Linux ends children with a killed parent")
def test_a_killed_parent_takes_its_programs_with_it(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from pkg_pipeline.cli.programs.supervise import Program, supervised
with supervised(Path(sys.argv[1])) as group:
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    group.start([Program("a", sleeper, dict(os.environ), lambda: True)], lambda _: None)
    print(group._running[0][1].pid, flush=True)
    group.wait()
"""
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    child.wait(timeout=10)


def test_a_port_that_is_taken_is_said_with_the_option_that_helps() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CommandFailed, match=f"port {port} on 127.0.0.1 is taken .*--dagster-port"):
            free_port("127.0.0.1", port, option="--dagster-port")
    assert free_port("127.0.0.1", 0, option="--dagster-port") > 0


def test_a_probe_of_nothing_is_no_answer(tmp_path: Path) -> None:
    started = time.monotonic()
    assert not http_answers("http://127.0.0.1:9/health")()
    assert not socket_answers(tmp_path / "none")()
    assert time.monotonic() - started < 5
