"""Clients that hold a connection for nothing are cut, and keep nobody else waiting. A real server on loopback."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn

from pkg_pipeline.api.connections import BoundedConnection, most_connections

PATIENCE_SECONDS = 20.0


class Quick(BoundedConnection):
    head_seconds = 0.4
    most_head_bytes = 8 * 1024
    body_seconds = 0.4
    body_bytes_per_second = 1_000
    refused_body_seconds = 0.4
    answer_seconds = 0.4


class Few(BoundedConnection):
    most_connections = 8


class Application:
    """Answers with the length of the body; ``/refused`` without reading it, ``/large`` at length, ``/held`` late."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.held = threading.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b"" if scope["path"] == "/refused" else await self._read(receive)
        if scope["path"] == "/held":
            import asyncio

            self.held.release()
            await asyncio.to_thread(self.release.wait, PATIENCE_SECONDS)
        said = b"x" * 50_000_000 if scope["path"] == "/large" else str(len(body)).encode()
        head = [(b"content-length", str(len(said)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": said})

    @staticmethod
    async def _read(receive: Any) -> bytes:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                return body


@contextmanager
def served(application: Application, protocol: type[BoundedConnection]) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as listening:
        config = uvicorn.Config(application, http=protocol, ws="none", log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        server.config.timeout_graceful_shutdown = 1
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            application.release.set()
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)


@pytest.fixture
def application() -> Application:
    return Application()


@pytest.fixture
def port(application: Application) -> Iterator[int]:
    with served(application, Quick) as bound:
        yield bound


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)


def dribbled(port: int, first: bytes, piece: bytes) -> bytes:
    """Sends ``piece`` again and again after ``first``; returns all that came until the server closed."""
    with connected(port) as client:
        client.sendall(first)
        client.settimeout(0.02)
        said, deadline = b"", time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                found = client.recv(65_536)
            except TimeoutError:
                try:
                    client.sendall(piece)
                except OSError:
                    return said
                continue
            except OSError:
                return said
            if not found:
                return said
            said += found
    raise AssertionError("the connection was never closed")


def whole(client: socket.socket) -> bytes:
    said = b""
    while found := client.recv(65_536):
        said += found
    return said


@pytest.mark.parametrize(
    ("first", "piece", "status"),
    [
        (b"", b"\r\n", 408),
        (b"G", b"", 408),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-A: b\r\n", 408),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"b", 408),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"b" * 4_000, 431),
        (b"GET /" + b"x" * 9_000, b"x", 431),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"b", 408),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nb\r\n", 408),
        (b"GARBAGE\r\n\r\n", b"", 400),
    ],
)
def test_what_dribbles_or_never_ends_is_cut(port: int, first: bytes, piece: bytes, status: int) -> None:
    said = dribbled(port, first, piece)
    assert said.startswith(b"HTTP/1.1 %d " % status), said
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["status"] == status


def test_the_next_request_of_a_connection_has_no_more_time(port: int) -> None:
    said = dribbled(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"G")
    assert said.startswith(b"HTTP/1.1 200 OK")
    assert b"HTTP/1.1 4" in said, "400 or 408, and closed"


def test_a_refused_body_is_cut_after_its_answer_was_seen(port: int) -> None:
    said = dribbled(port, b"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n", b"b")
    assert said.startswith(b"HTTP/1.1 200 OK")


def test_a_slow_body_that_keeps_coming_is_read(port: int) -> None:
    """Longer than the time without anything, in all."""
    with connected(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6000\r\n\r\n")
        for _ in range(6):
            client.settimeout(0.2)
            with pytest.raises(TimeoutError):
                client.recv(1)
            client.sendall(b"b" * 1_000)
        client.settimeout(PATIENCE_SECONDS)
        assert whole(client).endswith(b"\r\n\r\n6000")


def test_an_answer_that_nobody_takes_is_given_up(port: int) -> None:
    with connected(port) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(4)
        threading.Event().wait(1.5)  # nothing is read meanwhile
        received = 4
        try:
            while found := client.recv(1 << 20):
                received += len(found)
        except ConnectionResetError:
            pass
        assert received < 50_000_000


def test_those_that_wait_make_room(application: Application) -> None:
    with served(application, Few) as port, ExitStack() as closing:
        idle = [closing.enter_context(connected(port)) for _ in range(40)]
        for _ in range(3):
            with connected(port) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert whole(client).startswith(b"HTTP/1.1 200 OK")
        assert len(idle) == 40


def test_where_all_are_at_work_the_next_is_told_so(application: Application) -> None:
    with served(application, Few) as port, ExitStack() as closing:
        busy = [closing.enter_context(connected(port)) for _ in range(8)]
        for client in busy:
            client.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert application.held.acquire(timeout=PATIENCE_SECONDS)
        with connected(port) as client:
            assert whole(client).startswith(b"HTTP/1.1 503 ")
        application.release.set()
        for client in busy:
            assert whole(client).startswith(b"HTTP/1.1 200 OK")


def test_connections_leave_descriptors_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: Callable[[int], tuple[int, int]] = lambda _: (256, 4_096)  # noqa: E731
    monkeypatch.setattr("resource.getrlimit", limits)
    assert most_connections() == 128
    monkeypatch.setattr("resource.getrlimit", lambda _: (1_048_576, 1_048_576))
    assert most_connections() == 1_024
