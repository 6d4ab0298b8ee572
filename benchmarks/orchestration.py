"""What Dagster costs: seconds a dirty day of a first run over two years of messages, and a run with nothing to do.

    python benchmarks/orchestration.py [--days 731] [--json]

The summariser here costs nothing: it takes each day's marks and reports zero. What remains of the wall time is
orchestration. Targets: 0.15 s a dirty day; a run with nothing new within loading the definitions and two seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.defs.hops import ASSETS
from pkg_pipeline.defs.keys import keys_between
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.partitions import FinishedPartition
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.stage import DayReport
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline.wiring import open_memory

FIRST_DAY = datetime(2023, 1, 1, 9, tzinfo=UTC)
MESSAGES_A_DAY = 6
DAY_TARGET_SECONDS = 0.15
IDLE_TARGET_SECONDS = 2.0
"""Beyond loading the definitions."""


class CostsNothing(OpenedMemory):
    """The real memory, but a day is done as soon as it is begun."""

    def summarize(
        self, days: tuple[date, date], billing: Billing, scope: Scope, on_day: Callable[[DayReport], None]
    ) -> list[DayReport]:
        del billing, scope
        keys = keys_between(*days)
        marks = self.partitions.begin("interaction_summaries", keys, now=self.clock.now())
        reports = [DayReport(date.fromisoformat(key)) for key in keys]
        done = [FinishedPartition(key, marks.get(key, ()), pending=0, due_at=None) for key in keys]
        self.partitions.finish("interaction_summaries", done)
        for report in reports:
            on_day(report)
        return reports


def conversation(days: int) -> str:
    """One interaction a day in one chat."""
    lines = [
        {
            "chat_id": "c",
            "message_id": f"{day}-{number}",
            "sender_id": "me" if number % 2 else "bob",
            "is_self": bool(number % 2),
            "sent_at": (FIRST_DAY + timedelta(days=day, minutes=number)).isoformat(),
            "text": f"On day {day} we speak of matter {number}.",
        }
        for day in range(days)
        for number in range(MESSAGES_A_DAY)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def first_run(settings: Settings) -> dict[str, Any]:
    """Wall seconds of the first run by asset, all of it through the real instance."""
    seconds: dict[str, float] = {}
    with open_memory(settings) as opened:
        memory = CostsNothing(opened)
        started = time.perf_counter()
        from pkg_pipeline.defs import local_runs as here

        with dagster_home.instance(settings.dagster_home, memory.database_url) as instance:
            seconds["starting Dagster"] = time.perf_counter() - started
            runs = here.LocalRuns(memory, instance)
            rows: list[here.RunRow] = []
            for asset in ASSETS:
                started = time.perf_counter()
                here.run_due(runs, memory, [asset], rows.append)
                seconds[asset] = time.perf_counter() - started
    days = sum(row.asset == "interaction_summaries" for row in rows)
    runs_made = len({row.run_id for row in rows if row.asset == "interaction_summaries"})
    return {"seconds": seconds, "days": days, "runs": runs_made, "failed": sum(row.status != "done" for row in rows)}


def timed(code: str, settings: Settings, repeats: int = 3) -> float:
    """The best of ``repeats`` fresh processes, as a person would wait for it."""
    best = float("inf")
    environment = {**os.environ, "PKG_HOME": str(settings.home), "PKG_LLM": "offline"}
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True, capture_output=True)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=731)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkgb-", dir="/tmp") as folder:
        settings = Settings.model_validate({"home": Path(folder) / "home", "llm": "offline"})
        settings.inbox.mkdir(parents=True)
        file = settings.inbox / "two-years.jsonl"
        file.write_text(conversation(options.days), encoding="utf-8")
        time.sleep(2.1)  # an inbox takes nothing that was written this very moment
        found = first_run(settings)
        loading = timed("from pkg_pipeline.definitions import definitions; definitions()", settings)
        idle = timed("from pkg_pipeline.cli.app import main; main(['run', '--json'])", settings)
    found["seconds_a_day"] = found["seconds"]["interaction_summaries"] / max(found["days"], 1)
    found["loading_definitions_seconds"], found["idle_run_seconds"] = loading, idle
    found["within_targets"] = found["seconds_a_day"] <= DAY_TARGET_SECONDS and idle <= loading + IDLE_TARGET_SECONDS
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['days']} dirty days in {found['runs']} runs: {found['seconds']['interaction_summaries']:.1f} s")
    print(f"{found['seconds_a_day']:.3f} s a dirty day (target {DAY_TARGET_SECONDS})")
    print(f"a run with nothing to do {idle:.2f} s (loading the definitions alone {loading:.2f} s)")
    print(f"import {found['seconds']['messages']:.2f} s, interactions {found['seconds']['interactions']:.2f} s")


if __name__ == "__main__":
    main()
