"""The API in one process and in several, by the clients of one run: appending, and contexts.

    .venv/bin/python -m benchmarks.api_workers [--workers 1 2] [--clients 8] [--requests 60] [--messages 100000]

The command ``serve --workers N`` for each N on one database, one server at a time, in turn and each in every round.
Clients are processes with one connection each: they append batches of 50 messages to sessions of their own, then ask
contexts of twenty people with 400 messages each. Beside them the same clients' bare pipelined INSERTs into a copy of
the table. The median of the rounds, as ratios to one process and to the bare INSERTs. Clients, servers and PostgreSQL
share the cores: more processes than cores cannot be faster. A Markdown table.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import psycopg

from benchmarks.context_memory import NOW, PROBES, fill, probe
from benchmarks.sessions_append import COPY, bare, batches, over_http, timed
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring.opening import migrate as migrate_memory

BATCH = 50
BARE = "bare INSERTs"


@contextmanager
def serving(url: str, home: Path, workers: int) -> Iterator[int]:
    """The command, and its port; receipts off, as what is measured is the answer."""
    told = {
        **os.environ,
        "PKG_HOME": str(home),
        "DATABASE_URL": url,
        "PKG_API_TOKENS": "none",
        "PKG_LLM": "offline",
        "PKG_NOW": NOW.isoformat(),
    }
    command = [sys.executable, "-W", "ignore", "-c", "from pkg_pipeline.cli.app import main; main()"]
    command += ["serve", "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, env=told, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("API at "), said
        yield int(said.split(",")[0].rsplit(":", 1)[1])
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def contexts(port: int, first: int, requests: int, gate: Barrier) -> None:
    connection = HTTPConnection("127.0.0.1", port)
    for turn in range(-5, requests):
        if turn == 0:
            gate.wait()
        connection.request("GET", f"/v1/entities/{probe((first + turn) % PROBES + 1)}/context")
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
    gate.wait()


def measured(url: str, home: Path, workers: int, *, clients: int, requests: int) -> tuple[float, float]:
    """Messages appended and contexts answered, each a second."""
    with serving(url, home, workers) as port:
        appending = timed(clients, lambda name, gate: (over_http, (port, name, batches(name, requests, BATCH), gate)))
        numbers = iter(range(clients))
        asking = timed(clients, lambda _, gate: (contexts, (port, next(numbers), requests * 5, gate)))
    return clients * requests * BATCH / appending, clients * requests * 5 / asking


def bare_rate(url: str, *, clients: int, requests: int) -> float:
    seconds = timed(clients, lambda name, gate: (bare, (url, batches(name, requests, BATCH), gate)))
    return clients * requests * BATCH / seconds


def report(rates: dict[int, list[tuple[float, float]]], bare_rates: list[float]) -> None:
    inserts = statistics.median(bare_rates)
    middles = {
        workers: tuple(statistics.median(kind) for kind in zip(*found, strict=True)) for workers, found in rates.items()
    }
    first = middles[min(middles)]
    print(f"\n{os.cpu_count()} cores for clients, server and PostgreSQL; bare pipelined INSERTs {inserts:,.0f}/s\n")
    print("| processes | messages appended/s | of the bare | of one process | contexts/s | of one process |")
    print("|---:|---:|---:|---:|---:|---:|")
    for workers, (appended, asked) in middles.items():
        row = [f"{appended:,.0f}", f"{appended / inserts:.2f}", f"{appended / first[0]:.2f}"]
        print(f"| {workers} | {' | '.join(row)} | {asked:,.0f} | {asked / first[1]:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=60, help="appends of a client; contexts are five times as many")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder / "postgres")
    try:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE workers")
        url = engine.with_database(server_url, "workers")
        migrate.upgrade(url)
        fill(url, messages=given.messages)
        migrate_memory(url, Settings(home=folder / "home"))
        with engine.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {COPY} (LIKE messages INCLUDING ALL)")  # type: ignore[arg-type]
        rates: dict[int, list[tuple[float, float]]] = {workers: [] for workers in given.workers}
        bare_rates: list[float] = []
        for _ in range(given.rounds):
            bare_rates.append(bare_rate(url, clients=given.clients, requests=given.requests))
            for workers, found in rates.items():
                found.append(measured(url, folder / "home", workers, clients=given.clients, requests=given.requests))
        report(rates, bare_rates)
    finally:
        embedded.stop(folder / "postgres")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
