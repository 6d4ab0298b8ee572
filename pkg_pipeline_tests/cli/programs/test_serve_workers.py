"""serve --workers: one server to those who ask it, whichever of its processes answers."""

from __future__ import annotations

import http.client
import json
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from fastapi import FastAPI
from uvicorn.supervisors.multiprocess import SIGNALS

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.api.server import CannotServe, serve_in_processes
from pkg_pipeline.cli.programs.serving import Opened
from pkg_pipeline_tests.cli.processes import Program, end, servers, wait_until
from pkg_pipeline_tests.cli.programs.test_serve import serving

NO_MODELS = {"PKG_EMBEDDER": "none", "PKG_LLM": "offline"}
PATH, MESSAGES = "/v1/sessions/agent%3Athread/messages", "/v1/sessions/{session}/messages"


def connected(address: str) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(str(urlsplit(address).netloc), timeout=20)


def asked(connection: http.client.HTTPConnection, path: str, body: object = None) -> str:
    said = None if body is None else json.dumps(body)
    connection.request("GET" if said is None else "POST", path, said, {"content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, text
    return text


def counted(page: str, route: str) -> float:
    """Requests answered with 200, in the page of /metrics."""
    found = re.findall(rf'pkg_api_request_seconds_count\{{.*route="{re.escape(route)}",status="200"\}} (\S+)', page)
    return sum(map(float, found))


def workers(main: int) -> list[psutil.Process]:
    living = [one for one in psutil.Process(main).children() if one.status() != psutil.STATUS_ZOMBIE]
    return [one for one in living if "spawn_main" in " ".join(one.cmdline())]


def one_for_each(main: int, address: str, leaving: ExitStack) -> dict[int, http.client.HTTPConnection]:
    """A connection to each of the processes."""
    found: dict[int, http.client.HTTPConnection] = {}
    for _ in range(300):
        connection = leaving.enter_context(closing(connected(address)))
        connection.connect()
        port = connection.sock.getsockname()[1]
        asked(connection, "/health")
        (owner,) = [
            one.pid for one in workers(main) for it in one.net_connections() if it.raddr and it.raddr.port == port
        ]
        found.setdefault(owner, connection)
        if len(found) == len(workers(main)):
            return found
    raise AssertionError("one of the processes answers nobody")


def test_processes_are_one_server(given: Program) -> None:
    with serving(given, "--workers", "2", **NO_MODELS) as (process, address), ExitStack() as leaving:
        both = one_for_each(process.pid, address, leaving)
        health = counted(asked(both[min(both)], "/metrics"), "/health")

        # each appends to the same session in turn, and reads what the other has written
        for turn in range(6):
            here, there = list(both.values())[:: 1 if turn % 2 else -1]
            asked(here, PATH, [{"id": turn, "role": "user", "text": f"number {turn}"}])
            seen = json.loads(asked(there, f"{PATH}?limit=50"))["items"]
            assert [one["text"] for one in seen] == [f"number {one}" for one in range(turn, -1, -1)]

        pages = [asked(connection, "/metrics") for connection in both.values()]
        assert [counted(page, "/health") for page in pages] == [health] * 2
        assert [counted(page, MESSAGES) for page in pages] == [12] * 2
        assert pages[0].count("# TYPE pkg_api_request_seconds histogram") == 1
        assert "pkg_context_receipts_lost_total 0.0" in pages[1]

        # one is killed: the other answers, a new one comes, and what was counted stays counted
        victim, survivor = workers(process.pid)
        victim.kill()
        assert asked(both[survivor.pid], "/health")
        wait_until(lambda: len({one.pid for one in workers(process.pid)} - {victim.pid}) == 2)
        one_for_each(process.pid, address, leaving)
        late = leaving.enter_context(closing(connected(address)))
        assert counted(asked(late, "/metrics"), "/health") > health

        window = json.loads(asked(late, "/v1/sessions/agent%3Athread/window?model_window=8000"))
        family = [psutil.Process(process.pid), *workers(process.pid)]
        assert end(process, signal.SIGHUP) == (128 + signal.SIGHUP, "")
        assert [one for one in family if one.is_running()] == []
    with engine.connect(given.variables["DATABASE_URL"]) as connection:
        kept = connection.execute("SELECT id::text FROM served_windows").fetchall()
        counters = connection.execute("SELECT message_count FROM conversation_sessions").fetchall()
    assert kept == [(window["receipt_id"],)], "recorded before the processes ended"
    assert counters == [(6,)]


def test_one_signal_ends_all_with_their_server(program: Program) -> None:
    with serving(program, **NO_MODELS, PKG_API_WORKERS="2") as (process, address):
        with closing(connected(address)) as connection:
            asked(connection, "/health")
        family = [psutil.Process(process.pid), *workers(process.pid)]
        assert len(family) == 3
        for one in family:  # as a terminal does it: to the whole group
            one.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, rest = process.communicate(timeout=20)
        assert time.monotonic() - started < 10
    assert (process.returncode, rest) == (0, "")
    assert [one for one in family if one.is_running()] == []
    assert servers(program.home) == []


def test_processes_end_when_the_first_is_killed(given: Program) -> None:
    with serving(given, "--workers", "2", **NO_MODELS) as (process, _):
        left = workers(process.pid)
        end(process, signal.SIGKILL)
        _, alive = psutil.wait_procs(left, timeout=15)
        assert alive == []


@contextmanager
def never(_: Path) -> Iterator[FastAPI]:
    sys.exit("error: there is nothing to serve")
    yield


def test_processes_that_cannot_begin_end_the_server(capfd: pytest.CaptureFixture[str]) -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    said: list[str] = []
    try:
        with pytest.raises(CannotServe, match="ended before it answered"):
            serve_in_processes(never, workers=2, host="127.0.0.1", port=0, on_ready=said.append)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert said == []
    assert {line for line in capfd.readouterr().err.splitlines() if line} == {"error: there is nothing to serve"}


@pytest.mark.parametrize(("processes", "expected"), [(1, [16, 16, 6]), (2, [8, 8, 4]), (8, [4, 4, 4]), (64, [4, 4, 4])])
def test_processes_share_the_connections_of_one(processes: int, expected: list[int]) -> None:
    opened = Opened(host="127.0.0.1", tokens=(), processes=processes)
    assert [opened.share(connections) for connections in (16, 16, 6)] == expected
