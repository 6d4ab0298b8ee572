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
from pkg_pipeline.adapters import embedded
from pkg_pipeline.adapters.postgres import engine, migrate
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.read_store import context_parameters
from pkg_pipeline.stages.context import ContextSettings
from pkg_pipeline.stages.read_stores import ContextQuery

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

    from pkg_pipeline.adapters.postgres.read_store import PostgresReadStore
    from pkg_pipeline.adapters.postgres.receipts import BackgroundReceiptSink, PostgresReceiptSink
    from pkg_pipeline.adapters.tokens import TiktokenCounter
    from pkg_pipeline.api.app import create_app
    from pkg_pipeline.api.app import serve as serve_app
    from pkg_pipeline.api.routes import ApiDependencies

    store = PostgresReadStore(engine.pool(url, size=4, readonly=True), zone=SETTINGS.zone)
    sink = BackgroundReceiptSink(PostgresReceiptSink(engine.pool(url, size=1)))
    app = create_app(
        ApiDependencies(
            contexts=store,
            entities=store,
            history=store,
            health=store,
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
    serve_app(app, host="127.0.0.1", port=0, has_tokens=False, on_ready=lambda address: print(address, flush=True))
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
            text_chars=16_000,
        )
    )


def measure(url: str, postmaster: int, *, requests: int) -> dict[str, list[float]]:
    """Milliseconds of every request by kind, and CPU milliseconds as ``KIND cpu``."""
    command = [sys.executable, "-m", "benchmarks.context_latency", "--serve", url]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline().rsplit(":", 1)[1])
    http_connection = http.client.HTTPConnection("127.0.0.1", port)
    raw = psycopg.connect(url, autocommit=True, options="-csearch_path=pkg,public -cTimeZone=UTC -cjit=off")
    entities = [probe(number) for number in range(1, PROBES + 1)]

    def get(path: str) -> bytes:
        http_connection.request("GET", path)
        answer = http_connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return body

    kinds: dict[str, Callable[[int], object]] = {
        "context": lambda turn: get(f"/v1/entities/{entities[turn % PROBES]}/context"),
        "no-op": lambda _: get("/noop"),
        "raw SQL": lambda turn: raw.execute(
            query("context", "context"), parameters(entities[turn % PROBES]), prepare=True
        ).fetchall(),
        "context, heaviest": lambda _: get(f"/v1/entities/{heaviest()}/context"),
    }
    try:
        for turn in range(WARM_UP):
            for ask in kinds.values():
                ask(turn)
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for turn in range(requests):
            for kind, ask in kinds.items():
                started = time.perf_counter()
                ask(turn)
                times[kind].append((time.perf_counter() - started) * 1000)
        for kind, ask in list(kinds.items()):
            before = cpu_seconds(server.pid) + cpu_seconds(postmaster)
            for turn in range(CPU_REQUESTS):
                ask(turn)
            times[f"{kind} cpu"] = [(cpu_seconds(server.pid) + cpu_seconds(postmaster) - before) * 1000 / CPU_REQUESTS]
        answer = json.loads(get(f"/v1/entities/{entities[0]}/context"))
        times["tokens"] = [answer["tokens"]]
    finally:
        raw.close()
        server.terminate()
        server.wait(20)
    return times


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


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
    medians: dict[int, float] = {}
    server_url = embedded.start(folder)
    postmaster = int((next(folder.rglob("postmaster.pid"))).read_text().split()[0])
    try:
        print("| messages | request | p50 ms | p95 ms | p99 ms | CPU ms | tokens |\n|---|---|---|---|---|---|---|")
        for size in arguments.sizes:
            name = f"bench_{size}"
            with psycopg.connect(server_url, autocommit=True) as connection:
                known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
                if known is None:
                    connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
            url = engine.with_database(server_url, name)
            if known is None:
                migrate.upgrade(url)
                fill(url, messages=size)
            times = measure(url, postmaster, requests=arguments.requests)
            medians[size] = statistics.median(times["context"])
            for kind in ("context", "context, heaviest", "no-op", "raw SQL"):
                values, cpu = times[kind], times[f"{kind} cpu"][0]
                row = [f"{percentile(values, share):.2f}" for share in (0.5, 0.95, 0.99)]
                tokens = f"{times['tokens'][0]:.0f}" if kind == "context" else ""
                print(f"| {size:,} | {kind} | {' | '.join(row)} | {cpu:.2f} | {tokens} |")
            floor = statistics.median(times["no-op"]) + statistics.median(times["raw SQL"])
            print(f"\np50(context) / (p50(no-op) + p50(raw SQL)) = {medians[size] / floor:.2f} (target: at most 5)\n")
        if len(medians) > 1:
            first, *_, last = medians.values()
            print(f"p50 at {max(medians):,} / p50 at {min(medians):,} = {last / first:.2f} (target: at most 1.3)")
    finally:
        embedded.stop(folder)
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
