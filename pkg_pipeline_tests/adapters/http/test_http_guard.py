"""What a page of another origin can send is refused from the head alone, over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pkg_pipeline.adapters.http.guard import HttpGuard, Refusal, is_loopback, own_hosts, refusal
from pkg_pipeline.api.problems import problem

LOOPBACK = own_hosts("127.0.0.1")


def heads(**given: str) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in given.items()]


@pytest.mark.parametrize(
    "sent",
    [
        heads(host="127.0.0.1:3000"),
        heads(host="localhost"),
        heads(host="LOCALHOST:3000", sec_fetch_site="none"),
        heads(host="[::1]:3000", origin="http://[::1]:3000", sec_fetch_site="same-origin"),
        heads(host="127.0.0.1:3000", origin="http://127.0.0.1:3000"),
        heads(host="localhost", origin="http://localhost:80"),
        heads(host="localhost:443", origin="https://localhost"),
    ],
)
def test_our_own_pages_and_programs_are_answered(sent: list[tuple[bytes, bytes]]) -> None:
    assert refusal(sent, is_own_host=LOOPBACK) is None


@pytest.mark.parametrize(
    "more",
    [
        heads(origin="https://evil.example"),
        heads(origin="null"),
        heads(origin=""),
        heads(origin="http://127.0.0.1"),
        heads(origin="http://127.0.0.1:5000"),
        heads(origin="http://localhost:3000"),
        heads(origin="http://127.0.0.1:3000.evil.example"),
        heads(origin="http://evil.example@127.0.0.1:3000"),
        heads(origin="http://127.0.0.1:3000/"),
        heads(origin="file://127.0.0.1:3000"),
        heads(sec_fetch_site="cross-site"),
        heads(sec_fetch_site="same-site"),
        heads(sec_fetch_site=""),
        heads(sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest="document"),
        heads(origin="http://127.0.0.1:3000", sec_fetch_site="cross-site"),
        [*heads(origin="http://127.0.0.1:3000"), *heads(origin="https://evil.example")],
        [*heads(sec_fetch_site="none"), *heads(sec_fetch_site="cross-site")],
    ],
)
def test_pages_of_other_origins_are_refused(more: list[tuple[bytes, bytes]]) -> None:
    found = refusal([*heads(host="127.0.0.1:3000"), *more], is_own_host=LOOPBACK)
    assert found is not None
    assert (found.status, found.kind) == (403, "cross-origin")
    assert "evil" not in found.detail


@pytest.mark.parametrize(
    "sent",
    [
        [],
        heads(host=""),
        heads(host="evil.example"),
        heads(host="127.0.0.1.evil.example"),
        heads(host="localhost.evil.example:3000"),
        heads(host="192.168.1.5"),
        heads(host="0.0.0.0:3000"),
        heads(host="127.0.0.1:3000@evil.example"),
        heads(host="evil.example@127.0.0.1"),
        heads(host="127.0.0.1/evil"),
        [*heads(host="127.0.0.1"), *heads(host="evil.example")],
        # a page whose own name was pointed at this machine: everything speaks of one origin
        heads(host="rebound.example:3000", origin="http://rebound.example:3000", sec_fetch_site="same-origin"),
    ],
)
def test_other_host_names_are_refused(sent: list[tuple[bytes, bytes]]) -> None:
    found = refusal(sent, is_own_host=LOOPBACK)
    assert found is not None
    assert (found.status, found.kind) == (421, "wrong-host")


@pytest.mark.parametrize(
    ("bound", "names", "host", "expected"),
    [
        ("127.0.0.1", (), "127.0.0.2", True),
        ("127.0.0.1", (), "memory.example", False),
        ("127.0.0.1", ("Memory.Example", " "), "memory.example", True),
        ("0.0.0.0", (), "192.168.1.5", True),
        ("0.0.0.0", (), "memory.example", False),
        ("0.0.0.0", ("memory.example",), "memory.example", True),
        ("::", (), "fe80::1", True),
        ("my-machine", (), "my-machine", True),
        ("my-machine", (), "other-machine", False),
    ],
)
def test_a_server_answers_to_its_own_names(bound: str, names: tuple[str, ...], host: str, expected: bool) -> None:
    assert own_hosts(bound, names)(host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
    ],
)
def test_what_counts_as_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def asked(kind: str, sent: list[tuple[bytes, bytes]], **guard: Any) -> tuple[bool, list[dict[str, Any]]]:
    """Whether the application behind was reached, and what the guard itself said."""
    reached: list[str] = []
    said: list[dict[str, Any]] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body is not read")

    async def send(message: Any) -> None:
        said.append(message)

    scope = {"type": kind, "headers": sent, "method": "GET", "path": "/"}
    asyncio.run(HttpGuard(behind, is_own_host=LOOPBACK, **guard)(scope, receive, send))
    return bool(reached), said


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_the_layer_lets_own_requests_through(kind: str) -> None:
    assert asked(kind, heads(host="localhost:3000")) == (True, [])


def test_a_refused_request_reaches_nothing_behind() -> None:
    was_reached, said = asked("http", heads(host="localhost", origin="https://evil.example"))
    assert not was_reached
    assert said[0]["status"] == 403
    assert said[1]["body"].endswith(b"\n")


def test_the_server_words_the_refusal() -> None:
    def answer(refused: Refusal) -> Any:
        return problem(refused.status, refused.detail, kind=refused.kind)

    _, said = asked("http", heads(host="evil.example"), answer=answer)
    assert (b"content-type", b"application/problem+json") in said[0]["headers"]
    assert b"urn:pkg-pipeline:problem:wrong-host" in said[1]["body"]


def test_a_refused_websocket_is_closed_before_it_is_accepted() -> None:
    was_reached, said = asked("websocket", heads(host="localhost", origin="https://evil.example"))
    assert not was_reached
    assert [(one["type"], one["code"]) for one in said] == [("websocket.close", 1008)]


def test_starting_and_ending_passes() -> None:
    assert asked("lifespan", []) == (True, [])
