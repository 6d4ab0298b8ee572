"""Serves the application: in this process, or in several that share one listening socket."""

from __future__ import annotations

import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from pkg_pipeline.adapters.http.guard import is_loopback
from pkg_pipeline.adapters.process_environment import end_with_parent, in_environment
from pkg_pipeline.api.connections import BoundedConnection
from pkg_pipeline.api.metrics import SHARED_VARIABLE

SHUTDOWN_SECONDS = 10
BACKLOG = 2_048
STILL_SECONDS = 20
"""A process that shows no life for so long is replaced."""

MakeApp = Callable[[Path], AbstractContextManager[FastAPI]]
"""The application of one process while it serves; given is where the processes count together. Can be pickled."""


class CannotServe(Exception):
    """The address cannot be served; the message says why and what to do."""


def check_address(host: str, *, has_tokens: bool) -> None:
    """Raises CannotServe for an address that others can reach while no token is required."""
    if not has_tokens and not is_loopback(host):
        raise CannotServe(
            f"{host} can be reached from other machines and no token protects the memory:"
            " set PKG_API_TOKENS (name:scope:sha256-of-secret), or serve 127.0.0.1"
        )


def serve(
    app: FastAPI,
    *,
    host: str,
    port: int,
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serves until SIGINT or SIGTERM; ``on_ready`` gets the bound address (port 0 picks one). Raises CannotServe."""
    with _listening(host, port) as listening:
        on_ready(_address(host, listening))
        uvicorn.Server(_config(app, lifespan="off")).run(sockets=[listening])


def serve_in_processes(
    make: MakeApp,
    *,
    workers: int,
    host: str,
    port: int,
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """As ``serve``, by ``workers`` processes of uvicorn's, each with what ``make`` opens; one that dies is replaced.

    ``on_ready`` is called when all answer. Raises CannotServe, also if one ends before.
    """
    with (
        _listening(host, port) as listening,
        tempfile.TemporaryDirectory(prefix="pkg-api-") as folder,
        in_environment({SHARED_VARIABLE: folder}),
    ):
        config = _config(
            partial(_opened, make, Path(folder)),
            factory=True,
            workers=workers,
            lifespan="on",
            timeout_worker_healthcheck=STILL_SECONDS,
        )
        processes = _Processes(config, listening, partial(on_ready, _address(host, listening)))
        processes.run()
        if processes.is_broken:
            raise CannotServe("a process of the server ended before it answered")


class _Processes(Multiprocess):
    """uvicorn's, except that it says when all answer, and that a closed terminal (SIGHUP) ends it too."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket, on_ready: Callable[[], None]) -> None:
        super().__init__(config, [listening])
        self._on_ready = on_ready
        self.is_broken = False

    def init_processes(self) -> None:
        super().init_processes()
        waiting = list(self.processes)
        while waiting and not self.signal_queue:
            waiting = [one for one in waiting if not one.is_ready(timeout=1)]
            if any(one.exitcode is not None for one in waiting):
                self.is_broken = True
                self.should_exit.set()
                return
            time.sleep(0.05)
        if not waiting:
            self._on_ready()

    def handle_hup(self) -> None:
        self.handle_term()


def _opened(make: MakeApp, folder: Path) -> FastAPI:
    """In one of the processes: its application, closed after its last answer."""
    end_with_parent(signal.SIGTERM)
    closing = ExitStack()
    app = closing.enter_context(make(folder))

    @asynccontextmanager
    async def until_the_end(_: FastAPI) -> AsyncIterator[None]:
        with closing:
            yield

    app.router.lifespan_context = until_the_end
    return app


def _config(app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        http=BoundedConnection,
        ws="none",
        **more,
    )


def _address(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def _listening(host: str, port: int) -> socket.socket:
    """Binds here instead of in the server, so that a taken port is one sentence and not a stack trace."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotServe(f"{host} is not an address of this machine: {error.strerror or error}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise CannotServe(
            f"{host}:{port} cannot be served: {error.strerror or error}; choose another --port"
        ) from error
    return listening
