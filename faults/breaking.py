"""A hop of ``faults.hops`` whose database is taken away in its midst, in ways that the worker causes itself.

``main`` is run in a process of its own by ``pkg_pipeline_tests.forks``; ``run`` does that and reads what it says.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from faults import hops
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.adapters.server import state as server_state
from pkg_pipeline.cli.app import explained
from pkg_pipeline_tests import forks

Connection = psycopg.Connection[Any]
WAIT_SECONDS = 0.5
"""For a connection from the pool, instead of the half minute that a person would have patience for."""

LONGEST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Done:
    """How a hop ended: after ``exchanges``, with the one line of its failure or none, ``seconds`` after the break."""

    exchanges: int
    error: str
    seconds: float


class NoClearEnd(Exception):
    """The worker ended with something that no person could do anything about, or not at all."""


def run(
    hop: str, url: str, folder: Path, base_url: str, *, at: int = 0, way: str = "", delay: float = 0.0,
    wait_seconds: float = WAIT_SECONDS,
) -> Done:  # fmt: skip
    """The hop, its database taken away in one of ``WAYS`` ``delay`` seconds after the begin of exchange ``at``.

    Raises NoClearEnd.
    """
    given = {"hop": hop, "at": at, "way": way, "delay": delay, "wait_seconds": wait_seconds}
    ended = forks.run("faults.breaking", url, str(folder), base_url, json.dumps(given))
    if ended.code != 0:
        said = ended.err.strip().splitlines()[-12:]
        raise NoClearEnd(f"ended with {ended.code}: {' / '.join(said)}")
    done = Done(**json.loads(ended.out.splitlines()[-1]))
    if done.seconds > LONGEST_SECONDS + wait_seconds:
        raise NoClearEnd(f"ended {done.seconds:.0f} s after the break")
    if len(done.error.splitlines()) > 1:
        raise NoClearEnd(f"more than one line: {done.error!r}")
    return done


# ── the server ────────────────────────────────────────────────────────────────────────────────


def _folder(connection: Connection) -> Path:
    """An embedded server's socket lies in its data folder."""
    return Path(connection.info.host)


def _kill_server(connection: Connection) -> None:
    found = server_state.pid_file(_folder(connection))
    assert found is not None
    server = psutil.Process(found.pid)
    family = [server, *server.children(recursive=True)]
    for process in family:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(family, timeout=10)


def _stop_server(connection: Connection) -> None:
    embedded.stop(_folder(connection), mode="immediate")


def _kill_backend(connection: Connection) -> None:
    """The server takes that for a crash, ends all others and recovers by itself."""
    os.kill(connection.info.backend_pid, signal.SIGKILL)


def _restart_server(connection: Connection) -> None:
    folder = _folder(connection)
    embedded.stop(folder, mode="fast")
    embedded.start(folder)


# ── the connection ────────────────────────────────────────────────────────────────────────────


def _shut(connection: Connection, how: int) -> None:
    with socket.socket(fileno=os.dup(connection.fileno())) as other:
        other.shutdown(how)


def _lose_request(connection: Connection) -> None:
    _shut(connection, socket.SHUT_RDWR)


def _lose_answer(connection: Connection) -> None:
    """What is sent arrives and is done, whatever comes back is lost: a COMMIT of which nobody knows."""
    _shut(connection, socket.SHUT_RD)


def _terminate(connection: Connection) -> None:
    info = connection.info
    with psycopg.connect(host=info.host, port=info.port, user=info.user, dbname="postgres", autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (info.backend_pid,))


WAYS: dict[str, Callable[[Connection], None]] = {
    "kill -9 of all of the server's processes": _kill_server,
    "immediate stop": _stop_server,
    "kill -9 of the backend": _kill_backend,
    "fast restart": _restart_server,
    "request lost": _lose_request,
    "answer lost": _lose_answer,
    "backend terminated": _terminate,
}


def main(url: str, folder: str, base_url: str, given: str) -> None:
    asked = json.loads(given)
    broken_at = [time.monotonic()]
    threads: list[threading.Timer] = []

    def act(connection: Connection) -> None:
        def take_away() -> None:
            WAYS[asked["way"]](connection)
            broken_at[0] = time.monotonic()

        if asked["delay"]:
            threads.append(threading.Timer(asked["delay"], take_away))
            threads[0].start()
        else:
            take_away()

    said, met = "", [0]
    try:
        with hops.opened(url, Path(folder), base_url, wait_seconds=asked["wait_seconds"]) as memory:
            met = hops.count_exchanges(at=asked["at"], act=act)
            hops.HOPS[asked["hop"]](memory)
    except Exception as error:
        line = explained(error)
        if line is None:
            raise
        said = line
    finally:
        for thread in threads:
            thread.join()
    print(json.dumps({"exchanges": met[0], "error": said, "seconds": time.monotonic() - broken_at[0]}))
