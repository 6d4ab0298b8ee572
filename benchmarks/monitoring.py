"""Figures, queue, metrics and a sensor's tick over a big memory, each beside a read by primary key.

    .venv/bin/python -m benchmarks.monitoring [--interactions 1000000] [--repeats 30] [--keep FOLDER]

Fills an embedded database by SQL, counts its days once, then asks each in turn through the real store, the real HTTP
application and the real sensor on a real instance in the same database. The marks are those of a first import: one for
every chat and day, the most that a tick ever meets. Prints a Markdown table, and what the triggers cost a publication.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import psycopg
from fastapi.testclient import TestClient
from pydantic import SecretStr

from benchmarks.context_latency import SETTINGS, percentile
from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.api.app import create_app
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory, SystemClock

ZONE = ZoneInfo("Europe/Berlin")
FIRST_DAY = date(2000, 1, 1)
STATS_TARGET_MS, TICK_TARGET_MS = 100, 200
PUBLISH = """
    WITH room AS (DELETE FROM items WHERE interaction_id = %(i)s), told AS (
        UPDATE interaction_summaries SET updated_at = clock_timestamp() WHERE interaction_id = %(i)s RETURNING 1)
    INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens, output_tokens,
        cost_usd, duration_seconds) VALUES ('b', 't', 'm', 'p', 'live', 'ok', 1, 1, 0, 0)"""


def fill(url: str, interactions: int) -> None:
    text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: \w+$", text, flags=re.MULTILINE)[1:]
    with engine.connect(url, autocommit=True) as connection:
        for part in parts:
            for statement in part.split(";\n"):
                values = {"now": datetime.now(UTC), "interactions": interactions}
                connection.execute(statement, values)  # type: ignore[arg-type]
        connection.execute("VACUUM ANALYZE")


def database(server_url: str, interactions: int) -> str:
    """The URL of the database of that size, filled if it is not there yet."""
    name = f"mon_{interactions}"
    url = engine.with_database(server_url, name)
    with psycopg.connect(server_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
            migrate.upgrade(url)
            fill(url, interactions)
    return url


def asked(memory: Memory, url: str, instance: dg.DagsterInstance, stack: ExitStack) -> dict[str, Callable[[], Any]]:
    """What is timed, by name."""
    reads = engine.pool(url, size=3, readonly=True)
    stack.callback(reads.close)
    store = PostgresMonitoringStore(reads, zone=ZONE)
    ports = MonitoringPorts(store=store, params=memory.monitoring.params)
    deps = ApiDependencies(
        reads=store, counter=TiktokenCounter(), clock=memory.clock,
        settings=SETTINGS, expected_revision=migrate.head(), monitoring=ports,
    )  # fmt: skip
    client = TestClient(create_app(deps), base_url="http://127.0.0.1")
    opened = OpenedMemory(memory)
    found = {sensor.name: sensor for sensor in sensors.build(memory.settings, start=FIRST_DAY)}

    def by_key() -> Any:
        with reads.connection() as connection:
            return connection.execute("SELECT * FROM interactions WHERE id = md5('talk 5')::uuid").fetchone()

    def get(path: str) -> Any:
        answer = client.get(path)
        assert answer.status_code == 200, answer.text
        return answer

    def tick(name: str) -> Any:
        with dg.build_sensor_context(instance=instance, resources={"memory": opened}) as context:
            return found[name].evaluate_tick(context)

    return {
        "primary key": by_key,
        "GET stats": lambda: get("/v1/summarization/stats"),
        "GET queue": lambda: get("/v1/summarization/queue"),
        "GET metrics": lambda: get("/metrics"),
        "due partitions": lambda: memory.partitions.due("interaction_summaries", now=memory.clock.now()),
        "tick of due_days": lambda: tick("due_days"),
        "tick of touched_chats": lambda: tick("touched_chats"),
    }


def timed(kinds: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """All kinds in turn, so that what else the machine does falls on each alike."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(-3, repeats):
        for name, ask in kinds.items():
            started = time.perf_counter()
            ask()
            if turn >= 0:
                times[name].append((time.perf_counter() - started) * 1000)
    return times


def trigger_cost(url: str, repeats: int) -> tuple[float, float]:
    """Median milliseconds of the writes of a publication with the triggers and without; all is taken back."""
    found: dict[str, list[float]] = {"origin": [], "replica": []}
    with engine.connect(url) as connection:
        rows = connection.execute("SELECT id FROM interactions LIMIT %s", (repeats,)).fetchall()
        connection.rollback()
        for turn, (interaction,) in enumerate(rows * 2):
            role = ("origin", "replica")[turn % 2]
            connection.execute(f"SET LOCAL session_replication_role = {role}")  # type: ignore[arg-type]
            started = time.perf_counter()
            connection.execute(PUBLISH, {"i": interaction})
            if turn >= len(rows):  # the first pass brings the pages in
                found[role].append((time.perf_counter() - started) * 1000)
            connection.rollback()
    return percentile(found["origin"], 0.5), percentile(found["replica"], 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interactions", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--keep", type=Path, help="folder of the databases; kept and used again")
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    try:
        with ExitStack() as stack:
            url = database(server_url, given.interactions)
            settings = Settings(home=folder / "home", database_url=SecretStr(url), timezone=ZONE.key)
            pool = engine.pool(url, size=3)
            stack.callback(pool.close)
            memory = Memory(settings, url=url, connections=pool, clock=SystemClock())
            instance = stack.enter_context(dagster_home.instance(settings.dagster_home, url))
            started = time.perf_counter()
            days = memory.monitoring.recount()
            print(f"{days:,} days counted anew in {time.perf_counter() - started:.1f} s\n")
            times = timed(asked(memory, url, instance, stack), given.repeats)
            plain = percentile(times["primary key"], 0.5)
            print("| asked | p50 ms | p95 ms | × primary key |\n|---|---|---|---|")
            for name, values in times.items():
                half, most = (percentile(values, share) for share in (0.5, 0.95))
                print(f"| {name} | {half:.2f} | {most:.2f} | {half / plain:.0f} |")
            print(f"\ntargets: stats {STATS_TARGET_MS} ms, tick {TICK_TARGET_MS} ms")
            with_triggers, without = trigger_cost(url, 200)
            print(f"writes of a publication: {with_triggers:.2f} ms with triggers, {without:.2f} ms without")
    finally:
        embedded.stop(folder)
        if given.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
