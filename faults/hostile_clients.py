"""Clients that send without end or hardly at all: the memory of the API stays flat and others are answered."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import psutil

from faults.ground import Ground
from faults.kinds import Outcome, fault
from faults.served import AUTHORIZED, Server, served

MEGABYTE = 1 << 20
HUGE_BYTES = 200 * MEGABYTE
MOST_GROWTH_BYTES = 20 * MEGABYTE
ANSWER_SECONDS = 2.0
"""Within which a well-meant request is answered meanwhile."""
GOOD_REQUESTS = 20
APPEND = "/v1/sessions/agent%3Aone/messages"


class _Peak:
    """The most memory that a process holds while the block runs, in bytes."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._over = threading.Event()
        self.before = self.most = self._process.memory_info().rss

    def __enter__(self) -> _Peak:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.01):
            self.most = max(self.most, self._process.memory_info().rss)

    @property
    def growth(self) -> int:
        return self.most - self.before


def _sent(server: Server, head: list[str], pieces: Iterator[bytes]) -> int:
    """The status of the answer to a request whose body may never be taken; 0 where there was none."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        with suppress(OSError):  # cut, as it may be
            client.sendall("\r\n".join([*head, "Host: 127.0.0.1", "Content-Type: application/json", "", ""]).encode())
            for piece in pieces:
                client.sendall(piece)
        try:
            said = client.recv(4096)
        except OSError:
            return 0
    return int(said.split()[1]) if said.startswith(b"HTTP/1.1 ") else 0


def _zeros(count: int, *, is_chunked: bool) -> Iterator[bytes]:
    piece = b" " * MEGABYTE
    for _ in range(count // MEGABYTE):
        yield b"100000\r\n" + piece + b"\r\n" if is_chunked else piece
    if is_chunked:
        yield b"0\r\n\r\n"


def _told(line: str, size: int) -> list[str]:
    return [line, f"Content-Length: {size}"]


BOMBS = (b"[", b'{"a":', b"[[],", b"0,")
"""Repeated over the whole length that is taken: as deep as possible, as many objects as possible."""


def _huge() -> Iterator[tuple[str, Callable[[Server], int], set[int], int]]:
    """(name, request, right statuses, most growth in bytes)."""
    token = [f"{name}: {value}" for name, value in AUTHORIZED.items()]
    chunked = "Transfer-Encoding: chunked"
    posted = f"POST {APPEND} HTTP/1.1"
    for line in (posted, "POST /v1/summarization/backfill HTTP/1.1", "GET /v1/entities HTTP/1.1"):
        yield (
            f"{line}, no token",
            lambda server, line=line: _sent(server, _told(line, HUGE_BYTES), _zeros(HUGE_BYTES, is_chunked=False)),
            {401},
            MOST_GROWTH_BYTES,
        )
        yield (
            f"{line}, chunked, no token",
            lambda server, line=line: _sent(server, [line, chunked], _zeros(HUGE_BYTES, is_chunked=True)),
            {401},
            MOST_GROWTH_BYTES,
        )
    yield (
        "told too long",
        lambda server: _sent(server, [*_told(posted, HUGE_BYTES), *token], _zeros(HUGE_BYTES, is_chunked=False)),
        {413},
        MOST_GROWTH_BYTES,
    )
    yield (
        "found too long",
        lambda server: _sent(server, [posted, chunked, *token], _zeros(HUGE_BYTES, is_chunked=True)),
        {413},
        4 * MOST_GROWTH_BYTES,
    )
    for bomb in BOMBS:
        body = b"[" + bomb * (15 * MEGABYTE // len(bomb))
        yield (
            f"bomb of {bomb.decode()}",
            lambda server, body=body: _sent(server, [*_told(posted, len(body)), *token], iter([body])),
            {422},
            16 * MOST_GROWTH_BYTES,
        )
    yield (
        "head without end",
        lambda server: _sent(
            server, ["GET /v1/entities HTTP/1.1", *(f"X-{n}: {'x' * 1000}" for n in range(20_000))], iter(())
        ),
        {431, 0},
        MOST_GROWTH_BYTES,
    )


@fault(
    "huge requests",
    how="bodies of 200 MB with and without a token, told and chunked; JSON bombs; a head of 20 MB",
    short=1,
    full=5,
)
def huge(ground: Ground, tries: int) -> Outcome:
    """A try is one request. Wrong is another status, and memory beyond what one taken body explains."""
    outcome = Outcome()
    most = 0
    with ground.database() as url, served(ground.folder / "home", url) as server:
        for _ in range(tries):
            for name, request, right, growth in _huge():
                with _Peak(server.pid) as peak:
                    status = request(server)
                outcome.tries += 1
                if "no token" in name:
                    most = max(most, peak.growth)
                if status not in right:
                    outcome.wrong.append(f"{name}: answered {status}")
                if peak.growth > growth:
                    outcome.wrong.append(f"{name}: {peak.growth // MEGABYTE} MB more")
        status, _ = server.ask("GET", "/v1/entities")
        if status != 200:
            outcome.wrong.append(f"afterwards: {status}")
    outcome.ends = f"401, 413, 422 or 431; at most {most / MEGABYTE:.1f} MB more without a token"
    return outcome


HALF_REQUESTS = (
    b"",
    b"GET /v1/ent",
    b"GET /v1/entities HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
    f"POST {APPEND} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n[".encode(),
    f"POST {APPEND} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n".encode(),
)


@fault(
    "slow clients", how="connections that hold half a head or half a body, in turn, all at once", short=500, full=1_000
)
def slow(ground: Ground, tries: int) -> Outcome:
    """A try is a connection. Others are answered meanwhile, and in the end all that wait have been cut."""
    outcome = Outcome(tries=tries)
    slowest = 0.0
    with ground.database() as url, served(ground.folder / "home", url) as server, ExitStack() as closing:
        held = [
            closing.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            for _ in range(tries)
        ]
        for number, client in enumerate(held):
            with suppress(OSError):  # it had to make room
                client.sendall(HALF_REQUESTS[number % len(HALF_REQUESTS)])
        for _ in range(GOOD_REQUESTS):
            began = time.monotonic()
            status, _ = server.ask("GET", "/v1/entities")
            slowest = max(slowest, time.monotonic() - began)
            if status != 200:
                outcome.wrong.append(f"another client was answered {status}")
        process = psutil.Process(server.pid)
        soft, _ = process.rlimit(psutil.RLIMIT_NOFILE)
        if process.num_fds() > soft * 3 // 4:
            outcome.wrong.append(f"{process.num_fds()} of {soft} descriptors are in use")
        outcome.wrong.extend(f"connection {number} is still open" for number in _still_open(held))
    if slowest > ANSWER_SECONDS:
        outcome.wrong.append(f"another client waited {slowest:.1f} s")
    outcome.ends = f"cut after ten seconds; others are answered within {slowest * 1000:.0f} ms meanwhile"
    return outcome


def _still_open(held: list[socket.socket]) -> list[int]:
    deadline = time.monotonic() + 30
    left: list[int] = []
    for number, client in enumerate(held):
        client.settimeout(max(0.1, deadline - time.monotonic()))
        try:
            while client.recv(65_536):
                pass
        except TimeoutError:
            left.append(number)
        except OSError:
            pass
    return left
