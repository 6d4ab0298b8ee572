"""serve as a real process: it answers, ends when asked, and refuses what would be unsafe."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import socket
import stat
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
    """The running server and its address, told by the server itself; ``more`` may name tokens."""
    process = program.start("serve", "--port", "0", *arguments, **{"PKG_API_TOKENS": "none", **more})
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("API at http://"), said + process.stderr.read()
        yield process, said.split()[2].rstrip(",")
    finally:
        if process.poll() is None:
            end(process, signal.SIGKILL)


def get(address: str, path: str, *, token: str = "", host: str = "") -> tuple[int, dict[str, object]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = Request(address + path, headers={**headers, **({"Host": host} if host else {})})
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
        given("serve", "--port", "0", "--host", host, PKG_API_TOKENS="none").failed("PKG_API_TOKENS")
        given("serve", "--port", "0", "--host", host, "--no-token", PKG_API_TOKENS=TOKENS).failed("PKG_API_TOKENS")
    assert not (given.home / "api-token").exists()


def test_a_token_of_this_machine_is_made_once_and_printed(given: Program) -> None:
    """Another user of the machine, or a page in its browser, is no caller."""
    secrets: list[str] = []
    for _ in range(2):
        with serving(given, PKG_API_TOKENS="") as (process, address):
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.fullmatch(rf'  curl -H "Authorization: Bearer (\S+)" {address}/v1/entities\n', line)
            assert found is not None, line
            secrets.append(found[1])
            assert get(address, "/v1/entities")[0] == get(address, "/v1/entities", token="wrong")[0] == 401
            assert get(address, "/v1/entities", token=found[1])[0] == 200
            assert end(process) == (0, "")
    file = given.home / "api-token"
    assert secrets == [file.read_text().strip()] * 2
    assert len(secrets[0]) >= 32
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(given.home.stat().st_mode)) == (0o600, 0o700)
    with serving(given, "--no-token", PKG_API_TOKENS="") as (process, address):
        assert get(address, "/v1/entities")[0] == 200
        assert end(process) == (0, "")


def test_a_token_that_is_none_is_one_line(given: Program) -> None:
    given.home.mkdir()
    (given.home / "api-token").write_text("short\n")
    given("serve", "--port", "0").failed("api-token", "remove it")


def test_it_answers_under_the_names_of_the_settings(given: Program) -> None:
    with serving(given, PKG_API_HOSTS="memory.example, other.example") as (process, address):
        for host, status in (("memory.example", 200), ("OTHER.example:443", 200), ("evil.example", 421)):
            assert get(address, "/health", host=host)[0] == status
        assert end(process) == (0, "")


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
