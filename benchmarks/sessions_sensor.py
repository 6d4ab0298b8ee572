"""A tick of the sensor ``due_sessions`` with many live sessions, beside a read by primary key.

    .venv/bin/python -m benchmarks.sessions_sensor [--sessions 100000] [--due 0 50 100000] [--repeats 30]

The sessions are in an embedded database, so many of them due now, the others in an hour; the tick is the real sensor's
on a real Dagster instance in the same database. A Markdown table.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
from pydantic import SecretStr

from benchmarks.context_latency import percentile
from benchmarks.session_memory import NOW, idle_sessions
from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory

TARGET_MS = 200
SENSOR = "due_sessions"


def measure(url: str, folder: Path, repeats: int) -> dict[str, list[float]]:
    """Milliseconds of each kind, in turn."""
    settings = Settings(home=folder / "home", database_url=SecretStr(url), llm="offline")
    with ExitStack() as stack:
        pool = engine.pool(url, size=3)
        memory = Memory(settings, url=url, connections=pool, clock=PinnedClock(NOW))
        stack.callback(memory.close)
        instance = stack.enter_context(dagster_home.instance(settings.dagster_home, url))
        opened = OpenedMemory(memory)
        made = sensors.build(settings, start=opened.partitions_start)
        [sensor] = [one for one in made if one.name == SENSOR]

        def tick() -> Any:
            with dg.build_sensor_context(instance=instance, resources={"memory": opened}) as context:
                return sensor.evaluate_tick(context)

        def by_key() -> Any:
            with pool.connection() as connection:
                key = "SELECT * FROM conversation_sessions WHERE id = md5('idle 5')::uuid"
                return connection.execute(key).fetchone()

        kinds: dict[str, Callable[[], Any]] = {f"tick of {SENSOR}": tick, "primary key": by_key}
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for turn in range(-3, repeats):
            for name, ask in kinds.items():
                started = time.perf_counter()
                ask()
                if turn >= 0:
                    times[name].append((time.perf_counter() - started) * 1000)
        return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--due", type=int, nargs="+", default=[0, 50, 100_000])
    parser.add_argument("--repeats", type=int, default=30)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    try:
        print("| live sessions | due | asked | p50 ms | p95 ms |\n|---:|---:|---|---:|---:|")
        for due in given.due:
            name = f"sensor_{due}"
            with psycopg.connect(server_url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
            url = engine.with_database(server_url, name)
            migrate.upgrade(url)
            idle_sessions(url, given.sessions, due=due)
            for kind, times in measure(url, folder, given.repeats).items():
                half, most = (percentile(times, share) for share in (0.5, 0.95))
                print(f"| {given.sessions:,} | {due:,} | {kind} | {half:.2f} | {most:.2f} |")
        print(f"\ntarget: a tick within {TARGET_MS} ms")
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
