"""``pkg-pipeline serve`` as a process on one port, for attacks on the API."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pkg_pipeline_tests.cli.processes import COMMAND, OURS

SECRET = "a secret of this trial"
AUTHORIZED = {"Authorization": f"Bearer {SECRET}"}
JSON = {"Content-Type": "application/json"}
PATIENCE_SECONDS = 60.0


class Server:
    """Started again after each death. Its one token may do everything."""

    def __init__(self, home: Path, url: str) -> None:
        self.port = _own_port()
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        token = f"trial:admin:{hashlib.sha256(SECRET.encode()).hexdigest()}"
        self._environment = inherited | {
            "PKG_HOME": str(home), "DATABASE_URL": url, "PKG_EMBEDDER": "none", "PKG_API_TOKENS": token,
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns when it answers."""
        self._process = subprocess.Popen(
            [*COMMAND, "serve", "--port", str(self.port)],
            env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError("the API does not start") from None
                time.sleep(0.05)

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        """Status and body of one request with the token. Raises OSError, http.client.HTTPException."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            sent = None if body is None else json.dumps(body).encode()
            connection.request(method, path, sent, {**AUTHORIZED, **(JSON if sent else {}), **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def _own_port() -> int:
    """Below those that a system hands out: a fake model beside this one that asks for any port is never given it, and
    does not answer in place of an API that is not up yet.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def served(home: Path, url: str) -> Iterator[Server]:
    """Running for as long as the block, over a memory with one session."""
    server = Server(home, url)
    server.start()
    try:
        said = [{"id": number, "role": "user", "content": f"message {number}"} for number in range(20)]
        status, answer = server.ask("POST", "/v1/sessions/agent%3Aone/messages", said)
        if status != 200:
            raise RuntimeError(f"{status}: {answer[:300].decode()}")
        yield server
    finally:
        server.kill()
