"""Latency of recall over HTTP and of its parts, with the share of the true nearest ten that the search brought.

    .venv/bin/python benchmarks/recall_latency.py [--sizes 10000 1000000] [--requests 200] [--keep FOLDER]

Fills an embedded database of each size, indexes it as a real memory is indexed, starts the real server on loopback and
asks questions within entities of known sizes, within one of their chats, within a time, and without a scope. Beside
each latency: an exact scan by SQL over a table of this entity's vectors, lying side by side. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import numpy as np
import psycopg

from benchmarks.context_latency import SETTINGS, cpu_seconds, percentile
from benchmarks.recall_memory import Memory, made_id, questions
from benchmarks.recall_probe import Case, Probe, cases
from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.recall.store import PostgresRecallStore
from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

WARM_UP = 10
CPU_REQUESTS = 60
JUDGED = 20
"""Questions a row is judged by; each is compared with all vectors of its scope."""

LIMIT_MS = 15.0
NAMED = {"a month": " in May 2025", "half a year": " from January to June 2025"}


# ── the server ────────────────────────────────────────────────────────────────────────────────


def serve(url: str) -> None:
    """The real application with the real embedder."""
    from benchmarks.context_latency import _Clock
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.adapters.text.tokens import TiktokenCounter
    from pkg_pipeline.api.app import create_app
    from pkg_pipeline.api.routes import ApiDependencies
    from pkg_pipeline.api.server import serve as serve_app
    from pkg_pipeline.stages.recall.stage import RecallParts, RecallSettings

    pool = engine.pool(url, size=4, readonly=True)
    store, counter, embedder = PostgresReadStore(pool, zone=SETTINGS.zone), TiktokenCounter(), OfflineEmbedder()
    parts = RecallParts(
        store=PostgresRecallStore(pool),
        analyzer=SnowballTerms(),
        embedders=lambda _: embedder,
        counter=counter,
        settings=RecallSettings(zone=ZoneInfo("Europe/Berlin")),
    )
    app = create_app(
        ApiDependencies(
            reads=store,
            counter=counter,
            clock=_Clock(),
            settings=SETTINGS,
            expected_revision=migrate.head(),
            recall=parts,
        )
    )
    serve_app(app, host="127.0.0.1", port=0, on_ready=lambda address: print(address, flush=True))


class Served:
    """One database with the real server in front of it."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-m", "benchmarks.recall_latency", "--serve", url]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self._http = http.client.HTTPConnection("127.0.0.1", int(self.process.stdout.readline().rsplit(":", 1)[1]))

    def ask(self, question: str, entity: int | None, chat: int | None) -> dict[str, Any]:
        given = {"query": question, "top_k": "10"}
        if entity is not None:
            given["entity"] = str(made_id("entity", entity))
        if chat is not None:
            given["chat"] = str(made_id("chat", chat))
        self._http.request("GET", f"/v1/recall?{urlencode(given)}")
        answer = self._http.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return json.loads(body)

    def reconnect(self) -> None:
        """The server closes a connection that nobody used for five seconds."""
        self._http.close()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)


# ── measuring ─────────────────────────────────────────────────────────────────────────────────


def measure(server: Served, probe: Probe, memory: Memory, rows: list[Case], postmaster: int, requests: int) -> None:
    """All rows in turn, so that what else the machine does falls on each alike; judged questions first."""
    asked = questions(requests + WARM_UP)
    random.Random(5).shuffle(asked)
    for turn in range(-WARM_UP, min(requests, JUDGED)):
        for case in rows:
            probe.ask(case, max(turn, 0), asked[turn], judged=turn >= 0)
            if turn < 0:
                case.parts, case.exact_ms = {}, []
    server.reconnect()
    for turn in range(-WARM_UP, requests):
        for case in rows:
            started = time.perf_counter()
            server.ask(asked[turn] + NAMED.get(case.time or "", ""), *case.scope(memory, max(turn, 0)))
            if turn >= 0:
                case.http_ms.append((time.perf_counter() - started) * 1000)
    for case in rows:
        before = cpu_seconds(server.process.pid) + cpu_seconds(postmaster)
        for turn in range(min(requests, CPU_REQUESTS)):
            server.ask(asked[turn] + NAMED.get(case.time or "", ""), *case.scope(memory, turn))
        used = cpu_seconds(server.process.pid) + cpu_seconds(postmaster) - before
        case.cpu_ms = used * 1000 / min(requests, CPU_REQUESTS)


def report(chunks: int, rows: list[Case]) -> None:
    print(f"\n### {chunks:,} chunks\n")
    print("| within | HTTP p50 ms | p95 | p99 | CPU ms | true ten found | way | exact scan p50 ms | bound ms | kept |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in rows:
        times = [percentile(case.http_ms, share) for share in (0.5, 0.95, 0.99)]
        exact = percentile(case.exact_ms, 0.5) if case.exact_ms else None
        bound = LIMIT_MS if exact is None else min(LIMIT_MS, 3 * exact)
        shown = " | ".join(f"{value:.1f}" for value in times)
        scan = "" if exact is None else f"{exact:.1f}"
        print(
            f"| {case.label} | {shown} | {case.cpu_ms:.1f} | {np.mean(case.found):.3f} |"
            f" {'/'.join(sorted(case.ways))} | {scan} | {bound:.1f} | {'yes' if times[0] <= bound else 'no'} |"
        )
    names = list(rows[0].parts)
    print(f"\n| within, p50 ms (p95) of | {' | '.join(names)} | rest of HTTP |\n|---|{'---|' * (len(names) + 1)}")
    for case in rows:
        parts = {name: percentile(case.parts[name], 0.5) for name in names}
        cells = " | ".join(f"{parts[name]:.2f} ({percentile(case.parts[name], 0.95):.1f})" for name in names)
        rest = percentile(case.http_ms, 0.5) - sum(parts.values())
        print(f"| {case.label} | {cells} | {rest:.2f} |")


def _server(folder: Path, shared_buffers: str) -> str:
    """The embedded server with room for what is searched: a page that is not in it costs ten times a page that is."""
    url = embedded.start(folder)
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SHOW shared_buffers").fetchone() == (shared_buffers,):
            return url
        connection.execute(f"ALTER SYSTEM SET shared_buffers = '{shared_buffers}'")  # type: ignore[arg-type]
    embedded.stop(folder)
    return embedded.start(folder)


def _database(server_url: str, memory: Memory) -> str:
    """The URL of the database of that size, filled and indexed if it is not there yet."""
    name = f"bench_{memory.chunks}"
    url = engine.with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if not there:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    if not there:
        migrate.upgrade(url)
        print(f"{memory.chunks:,} chunks filled in {memory.fill(url):.0f} s", flush=True)
    pool = engine.pool(url, size=2)
    started = time.perf_counter()
    if built := PostgresVectorStore(pool).keep_indexes():
        print(f"{len(built)} indexes of vectors built in {time.perf_counter() - started:.0f} s", flush=True)
    pool.close()
    with engine.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('ideal')").fetchone() == (None,):
            entities = [made_id("entity", entity) for _, entity in memory.plan.sized]
            connection.execute(
                "CREATE TABLE ideal AS SELECT scopes[1] AS entity, scopes[2] AS chat, at, chunk_no AS no, embedding"
                " FROM chunk_embeddings WHERE scopes[1] = ANY(%s) ORDER BY entity, at",
                (entities,),
            )
            connection.execute("CREATE INDEX ON ideal (entity)")
            connection.execute("VACUUM ANALYZE ideal")
    return url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="folder of the databases; kept and used again")
    parser.add_argument("--shared-buffers", default="3GB", help="of the server; what it comes with is 256MB")
    parser.add_argument("--serve", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = _server(folder / "pg", arguments.shared_buffers)
    postmaster = int(next((folder / "pg").rglob("postmaster.pid")).read_text().split()[0])
    medians: dict[tuple[int, str], float] = {}
    try:
        for size in arguments.sizes:
            memory = Memory(folder, size)
            url = _database(server_url, memory)
            server, probe, rows = Served(url), Probe(url, memory), cases(memory)
            try:
                measure(server, probe, memory, rows, postmaster, arguments.requests)
            finally:
                server.close()
                probe.close()
            report(size, rows)
            medians |= {(size, case.label): percentile(case.http_ms, 0.5) for case in rows}
        largest, smallest = max(arguments.sizes), min(arguments.sizes)
        for label in [label for size, label in medians if size == smallest and (largest, label) in medians]:
            ratio = medians[largest, label] / medians[smallest, label]
            print(f"\n{label}: p50 at {largest:,} / p50 at {smallest:,} = {ratio:.2f} (at most 2)")
    finally:
        embedded.stop(folder / "pg")
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
