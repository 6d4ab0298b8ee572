"""serve as a real process: it answers, ends when asked, and refuses what would be unsafe."""

from __future__ import annotations

import hashlib
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests.cli.processes import Program, end, servers

TOKENS = f"reader:read:{hashlib.sha256(b'open sesame').hexdigest()}"


@contextmanager
def serving(program: Program, *arguments: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running server and its address, told by the server itself."""
    process = program.start("serve", "--port", "0", *arguments, **more)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("API at http://"), said + process.stderr.read()
        yield process, said.split()[2].rstrip(",")
    finally:
        if process.poll() is None:
            end(process, signal.SIGKILL)


def get(address: str, path: str, *, token: str = "") -> tuple[int, dict[str, object]]:
    request = Request(address + path, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_with_its_server_when_asked(program: Program, number: int) -> None:
    with serving(program) as (process, address):
        assert get(address, "/health")[0] == 200
        assert get(address, "/v1/entities") == (200, {"items": [], "next": None})
        assert len(servers(program.home)) == 1
        started = time.monotonic()
        code, rest = end(process, number)
        assert time.monotonic() - started < 10
    assert code == (0 if number == signal.SIGINT else 128 + number), rest
    assert rest == ""
    assert servers(program.home) == []


def test_without_tokens_it_serves_this_machine_only(given: Program) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        given("serve", "--port", "0", "--host", host).failed("PKG_API_TOKENS")


def test_with_a_token_it_asks_for_it(given: Program) -> None:
    with serving(given, "--host", "0.0.0.0", PKG_API_TOKENS=TOKENS) as (_, address):
        address = address.replace("0.0.0.0", "127.0.0.1")
        assert get(address, "/v1/entities")[0] == 401
        assert get(address, "/v1/entities", token="wrong")[0] == 401
        assert get(address, "/v1/entities", token="open sesame")[0] == 200


def test_sessions_over_the_wire_under_a_key_with_a_slash(given: Program) -> None:
    said = [{"id": 1, "role": "user", "text": "Which port?"}]
    with serving(given, PKG_EMBEDDER="none", PKG_LLM="offline") as (process, address):
        path = "/v1/sessions/agent%3Athread%2F1%20x"
        request = Request(f"{address}{path}/messages", json.dumps(said).encode(), {"Content-Type": "application/json"})
        with build_opener(ProxyHandler({})).open(request, timeout=10) as answer:
            assert json.load(answer)["session"] == "agent:thread/1 x"
        status, window = get(address, f"{path}/window?model_window=8000")
        assert (status, window["session"]) == (200, "agent:thread/1 x")
        assert end(process) == (0, "")
    with engine.connect(given.variables["DATABASE_URL"]) as connection:
        kept = connection.execute("SELECT id::text FROM served_windows").fetchone()
    assert kept == (window["receipt_id"],), "recorded before the server ended"


def test_a_taken_port_and_wrong_tokens_are_one_line(given: Program) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        given("serve", "--port", port).failed(str(port), "--port")
    given("serve", PKG_API_TOKENS="me:read:secret-not-hashed").failed("PKG_API_TOKENS", "entry 1")
    given("serve", "--port", "70000").refused("--port")
