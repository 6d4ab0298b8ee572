"""Latency of a context over HTTP, against a route that does nothing and the same statement run raw.

    .venv/bin/python benchmarks/context_latency.py [--sizes 10000 1000000] [--requests 2000]

Fills an embedded database of each size, starts the real server on loopback, asks in turn the context of one of 20
probes (400 messages each in every database), the empty route, and PostgreSQL itself. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg

from benchmarks.context_memory import NOW, PROBES, fill, heaviest, probe
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reads.store import context_parameters
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.stages.reads.context import ContextSettings
from pkg_pipeline.stages.reads.stores import ContextQuery

WARM_UP = 100
CPU_REQUESTS = 300
TICK = os.sysconf("SC_CLK_TCK")
SETTINGS = ContextSettings(
    zone=ZoneInfo("Europe/Berlin"),
    max_tokens=4000,
    hot_days=7,
    hot_messages=50,
    warm_days=90,
    warm_summaries=10,
    shares={"permanent": 300, "hot": 2000, "warm": 1000, "cold": 300, "relevant": 500},
)


class _Clock:
    def now(self):
        return NOW


def serve(url: str) -> None:
    """The real application, plus the empty route."""
    from starlette.responses import Response

    from pkg_pipeline.adapters.postgres.reads.receipts import BackgroundReceiptSink, PostgresReceiptSink
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.adapters.text.tokens import TiktokenCounter
    from pkg_pipeline.api.app import create_app
    from pkg_pipeline.api.routes import ApiDependencies
    from pkg_pipeline.api.server import serve as serve_app

    store = PostgresReadStore(engine.pool(url, size=4, readonly=True), zone=SETTINGS.zone)
    sink = BackgroundReceiptSink(PostgresReceiptSink(engine.pool(url, size=1)))
    app = create_app(
        ApiDependencies(
            reads=store,
            counter=TiktokenCounter(),
            clock=_Clock(),
            settings=SETTINGS,
            expected_revision=migrate.head(),
            receipts=sink,
        )
    )

    def nothing() -> Response:
        return Response(b"{}", media_type="application/json")

    app.add_api_route("/noop", nothing)
    serve_app(app, host="127.0.0.1", port=0, on_ready=lambda address: print(address, flush=True))
    sink.close()


def cpu_seconds(process: int) -> float:
    """CPU time of a process and of its children, which for a postmaster are its backends."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == process or int(fields[1]) == process:
            total += (int(fields[11]) + int(fields[12])) / TICK
    return total


def parameters(entity: UUID) -> dict[str, object]:
    return context_parameters(
        ContextQuery(
            entity_id=entity,
            as_of=NOW,
            today=NOW.date(),
            hot_from=NOW - timedelta(days=SETTINGS.hot_days),
            warm_from=NOW - timedelta(days=SETTINGS.warm_days),
            hot_limit=SETTINGS.hot_messages,
            summary_limit=SETTINGS.warm_summaries,
            max_tokens=SETTINGS.max_tokens,
            text_chars=16_000,
        )
    )


class Served:
    """One database with the real server in front of it, and a connection past it."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-m", "benchmarks.context_latency", "--serve", url]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self._http = http.client.HTTPConnection("127.0.0.1", port)
        options = "-csearch_path=pkg,public -cTimeZone=UTC -cjit=off"
        self._raw = psycopg.connect(url, autocommit=True, options=options)
        self._entities = [probe(number) for number in range(1, PROBES + 1)]
        self.kinds: dict[str, Callable[[int], object]] = {
            "context": lambda turn: self.get(f"/v1/entities/{self._entities[turn % PROBES]}/context"),
            "no-op": lambda _: self.get("/noop"),
            "raw SQL": self._ask_raw,
            "context, heaviest": lambda _: self.get(f"/v1/entities/{heaviest()}/context"),
        }
        self.times: dict[str, list[float]] = {kind: [] for kind in self.kinds}
        self.cpu: dict[str, float] = {}

    def get(self, path: str) -> bytes:
        self._http.request("GET", path)
        answer = self._http.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return body

    def reconnect(self) -> None:
        """The server closes a connection that nobody used for five seconds."""
        self._http.close()

    def _ask_raw(self, turn: int) -> object:
        asked = parameters(self._entities[turn % PROBES])
        return self._raw.execute(query("context", "context"), asked, prepare=True).fetchall()

    def tokens(self) -> int:
        self.reconnect()
        return json.loads(self.get(f"/v1/entities/{self._entities[0]}/context"))["tokens"]

    def close(self) -> None:
        self._raw.close()
        self.process.terminate()
        self.process.wait(20)


def measure(servers: list[Served], postmaster: int, *, requests: int) -> None:
    """All kinds of all sizes in turn, so that what else the machine does falls on each alike."""
    for turn in range(-WARM_UP, requests):
        for server in servers:
            for kind, ask in server.kinds.items():
                if kind == "context, heaviest" and turn % 5:
                    continue
                started = time.perf_counter()
                ask(turn)
                if turn >= 0:
                    server.times[kind].append((time.perf_counter() - started) * 1000)
    for server in servers:
        server.reconnect()
        for kind, ask in server.kinds.items():
            before = cpu_seconds(server.process.pid) + cpu_seconds(postmaster)
            for turn in range(CPU_REQUESTS):
                ask(turn)
            used = cpu_seconds(server.process.pid) + cpu_seconds(postmaster) - before
            server.cpu[kind] = used * 1000 / CPU_REQUESTS


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def _database(server_url: str, size: int) -> str:
    """The URL of the database of that size, filled if it is not there yet."""
    name = f"bench_{size}"
    url = engine.with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
            return url
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    migrate.upgrade(url)
    fill(url, messages=size)
    return url


def _report(servers: dict[int, Served]) -> None:
    print("| messages | request | p50 ms | p95 ms | p99 ms | CPU ms | tokens |\n|---|---|---|---|---|---|---|")
    medians: dict[int, float] = {}
    notes: list[str] = []
    for size, server in servers.items():
        for kind, values in server.times.items():
            row = [f"{percentile(values, share):.2f}" for share in (0.5, 0.95, 0.99)]
            tokens = f"{server.tokens()}" if kind == "context" else ""
            print(f"| {size:,} | {kind} | {' | '.join(row)} | {server.cpu[kind]:.2f} | {tokens} |")
        medians[size] = statistics.median(server.times["context"])
        floor = statistics.median(server.times["no-op"]) + statistics.median(server.times["raw SQL"])
        notes.append(f"{size:,}: p50(context) / (p50(no-op) + p50(raw SQL)) = {medians[size] / floor:.2f} (at most 5)")
    if len(medians) > 1:
        largest, smallest = max(medians), min(medians)
        notes.append(
            f"p50 at {largest:,} / p50 at {smallest:,} = {medians[largest] / medians[smallest]:.2f} (at most 1.3)"
        )
    print("\n" + "\n".join(notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--keep", type=Path, help="folder of the databases; kept and used again")
    parser.add_argument("--serve", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    postmaster = int(next(folder.rglob("postmaster.pid")).read_text().split()[0])
    servers: dict[int, Served] = {}
    try:
        for size in arguments.sizes:
            servers[size] = Served(_database(server_url, size))
        measure(list(servers.values()), postmaster, requests=arguments.requests)
        _report(servers)
    finally:
        for server in servers.values():
            server.close()
        embedded.stop(folder)
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
