"""Latency of a session's window over HTTP for threads of growing length, against a no-op route and the raw statement.

    .venv/bin/python -m benchmarks.sessions_window [--sizes 100 1000 10000 100000] [--requests 500] [--keep FOLDER]

One database holds a thread of each length, folded every twenty messages but for the last nine; what is folded is made
searchable as the pipeline does it, unless ``--no-recall``. Asked in turn: the window at a model window of 8,000 tokens
and at the model's own, by each strategy, the empty route, the statement past the server. The live question stays
the same, as in the calls of one turn, but for one row that asks another one each time. Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg

from benchmarks.context_latency import percentile
from benchmarks.session_memory import NOW, fill, key_of
from benchmarks.session_server import Served
from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.window import window_parameters
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.memory.hashing import chat_id_of
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.window.records import WindowQuery
from pkg_pipeline.stages.window.stage import SHOWN_TOPICS, SPARE_MESSAGES, WindowSettings
from pkg_pipeline.wiring import Memory

WARM_UP = 20
GROWTH_TARGET, FLOOR_TARGET = 1.3, 5.0
ASKED = {
    "rolling, 8,000": "strategy=rolling&model_window=8000",
    "hybrid, 8,000": "strategy=hybrid&model_window=8000",
    "rolling, full": "strategy=rolling",
    "hybrid, full": "strategy=hybrid",
}
ANEW = "hybrid, 8,000, another question each time"


def database(server_url: str, sizes: list[int], folder: Path, *, is_searchable: bool) -> str:
    """The URL of the database with threads of these lengths, filled if it is not there yet."""
    name = f"sessions_{'_'.join(map(str, sizes))}{'' if is_searchable else '_plain'}"
    url = engine.with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
            return url
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    migrate.upgrade(url)
    fill(url, sizes)
    if is_searchable:
        _index(url, sizes, folder)
    return url


def _index(url: str, sizes: list[int], folder: Path) -> None:
    """Interactions, chunks and vectors of all of it, as the pipeline makes them."""
    settings = Settings.model_validate({"home": folder / "home", "llm": "offline"})
    memory = Memory(settings, url=url, connections=engine.pool(url, size=4), clock=PinnedClock(NOW))
    with engine.connect(url, autocommit=True) as connection:
        for size in sizes:
            connection.execute(
                "INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)"
                " SELECT 'interactions', %(chat)s::text, 'bench', min(sent_at), max(sent_at) FROM messages"
                " WHERE chat_id = %(chat)s",
                {"chat": chat_id_of(key_of(size))},
            )
    try:
        memory.build_interactions()
        memory.chunks.build(((NOW - timedelta(minutes=max(sizes))).date(), NOW.date()))
    finally:
        memory.close()
    with engine.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def kinds(served: Served, raw: psycopg.Connection, size: int) -> dict[str, Callable[[], object]]:
    """What is timed of one thread, by name."""
    key, defaults = key_of(size), WindowSettings(context_window=8000)
    asked = WindowQuery(
        session_id=chat_id_of(key),
        history_limit=max(defaults.raw_history_limit, defaults.max_messages_per_thread),
        recent_limit=defaults.full_recent_count + SPARE_MESSAGES,
        fold_limit=defaults.max_summaries_in_context,
        topic_limit=SHOWN_TOPICS,
    )
    text, parameters = query("windows", "window"), window_parameters(asked)
    path = f"/v1/sessions/{quote(key, safe='')}/window"
    found: dict[str, Callable[[], object]] = {
        name: lambda options=options: served.get(f"{path}?{options}") for name, options in ASKED.items()
    }
    numbers = count()
    asked_anew = quote("when does the delivery of the estimate come")
    found[ANEW] = lambda: served.get(f"{path}?{ASKED['hybrid, 8,000']}&query={asked_anew}%20{next(numbers)}")
    found["no-op"] = lambda: served.get("/noop")
    found["raw SQL"] = lambda: raw.execute(text, parameters, prepare=True).fetchall()
    return found


def report(times: dict[int, dict[str, list[float]]], tokens: dict[int, dict[str, int]]) -> None:
    print("| messages | asked | p50 ms | p95 ms | p99 ms | tokens |\n|---:|---|---:|---:|---:|---:|")
    for size, values in times.items():
        for name, measured in values.items():
            row = " | ".join(f"{percentile(measured, share):.2f}" for share in (0.5, 0.95, 0.99))
            print(f"| {size:,} | {name} | {row} | {tokens[size].get(name, '')} |")
    smallest, largest = min(times), max(times)
    print()
    for name in (*ASKED, ANEW):
        middle = {size: statistics.median(times[size][name]) for size in times}
        floor = sum(statistics.median(times[largest][kind]) for kind in ("no-op", "raw SQL"))
        print(
            f"{name}: p50 at {largest:,} / at {smallest:,} = {middle[largest] / middle[smallest]:.2f}"
            f" (at most {GROWTH_TARGET}); / (no-op + raw SQL) = {middle[largest] / floor:.2f}"
            f" (at most {FLOOR_TARGET:g})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--no-recall", action="store_true", help="nothing is searchable: the hybrid finds nothing")
    parser.add_argument("--keep", type=Path, help="folder of the databases; kept and used again")
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    try:
        url = database(server_url, given.sizes, folder, is_searchable=not given.no_recall)
        served = Served(url)
        options = "-csearch_path=pkg,public -cTimeZone=UTC -cjit=off"
        with psycopg.connect(url, autocommit=True, options=options) as raw:
            asked = {size: kinds(served, raw, size) for size in given.sizes}
            times: dict[int, dict[str, list[float]]] = {size: {name: [] for name in asked[size]} for size in asked}
            for turn in range(-WARM_UP, given.requests):
                for size, names in asked.items():
                    for name, ask in names.items():
                        started = time.perf_counter()
                        ask()
                        if turn >= 0:
                            times[size][name].append((time.perf_counter() - started) * 1000)
            tokens = {
                size: {name: json.loads(asked[size][name]())["tokens"] for name in ASKED}  # type: ignore[arg-type]
                for size in asked
            }
            report(times, tokens)
        served.close()
    finally:
        embedded.stop(folder)
        if given.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
