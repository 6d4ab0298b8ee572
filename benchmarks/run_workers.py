"""A backfill on Celery's workers, by their number: conversations a second, with a model that answers after a second.

    .venv/bin/python -m benchmarks.run_workers [--workers 1 2 4] [--days 8] [--talks 16] [--delay 1.0]

The services of docker-compose.yml and docker-compose.scale.yml as processes over one PostgreSQL on TCP and one Redis
(`redis-server` of the machine), each worker with one run of one day at a time and one question at a time. Time is taken
from the first run's start to the last one's end, queueing and starting included; Dagster looks for new and ended
backfills twice a minute besides. Ideal is answers × delay by workers. All share the machine's cores. A Markdown table.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import load
from pkg_pipeline.wiring import open_memory
from pkg_pipeline_tests.cli.clusters import Cluster, cluster
from pkg_pipeline_tests.cli.processes import dialogue, short_folder, written
from pkg_pipeline_tests.cli.programs import topology
from pkg_pipeline_tests.cli.programs.workers import Workers, has_redis, stop_sensors, workers

FIRST_DAY = date(2025, 1, 1)


def said(days: list[str], talks: int) -> Iterator[dict[str, Any]]:
    for day in days:
        for talk in range(talks):
            for one in dialogue(chat=f"c{talk}"):
                more = {"message_id": f"{day}-{one['message_id']}", "text": f"{one['text']} ({day}, {talk})"}
                yield {**one, **more, "sent_at": f"{day}{one['sent_at'][10:]}"}  # no answer serves two of them


def days_of(number: int, count: int) -> list[str]:
    """Every other day, so that each is a run of its own."""
    start = FIRST_DAY + timedelta(days=number * 2 * count)
    return [(start + timedelta(days=2 * day)).isoformat() for day in range(count)]


def imported(folder: Path, server: Cluster, days: list[str], talks: int) -> None:
    url = server.url(user="memory_owner", password=topology.PASSWORD, database="deployed")
    told = {"PKG_HOME": str(folder / "importing"), "DATABASE_URL": url, "PKG_NOW": topology.NOW}
    with open_memory(load(told)) as memory:
        memory.import_path(written(folder / "talks.jsonl", list(said(days, talks))))
        memory.build_interactions()


def measured(those: Workers, days: list[str]) -> tuple[float, dict[str, int]]:
    """Seconds from the start of its first run to the end of its last, and its runs by worker."""
    done = those.ended(those.backfill(days), seconds=1_800)
    assert done.status == "COMPLETED_SUCCESS", done
    return done.seconds, those.of(done)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--days", type=int, default=8, help="runs of each backfill")
    parser.add_argument("--talks", type=int, default=16, help="of a day")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds of an answer")
    given = parser.parse_args()
    if not has_redis():
        print("NOT RUN: there is no redis-server (apt-get install redis-server)")
        return
    counts = sorted(given.workers)
    calls = given.days * given.talks
    days = [day for number in range(len(counts)) for day in days_of(number, given.days)]
    with (
        short_folder() as folder,
        cluster(folder) as server,
        FakeAnthropic(rules=[Fault(delay_seconds=given.delay)]) as model,
        topology.started(folder, server, prepare=lambda: imported(folder, server, days, given.talks)) as running,
    ):
        own = {"PKG_LLM_CONCURRENCY": "1", "PKG_TALKS_TOGETHER": "1"}
        own |= {"PKG_LLM": "anthropic", "ANTHROPIC_API_KEY": "local", "ANTHROPIC_BASE_URL": model.url}
        own |= {"PKG_EMBEDDER": "none", "PKG_MARTS": "false", "PKG_BACKFILL_USD_PER_DAY": "10000"}
        with workers(running, server, folder, **own) as those:
            stop_sensors(running)
            those.daemon(most=max(counts) + 2)
            print(f"{os.cpu_count()} cores; {given.days} runs of {given.talks} talks, {given.delay:g} s an answer\n")
            print("| workers | answers | seconds | talks/s | of linear | of ideal | runs by worker |")
            print("|---:|---:|---:|---:|---:|---:|---|")
            there: list[str] = []
            base = 0.0
            for number, count in enumerate(counts):
                new = [f"w{one}" for one in range(len(there), count)]
                those.start(*new)
                there += new
                those.wait(*there)
                before = len(model.journal)
                seconds, shares = measured(those, days_of(number, given.days))
                asked = len(model.journal) - before
                rate = calls / seconds
                base = base or rate / count
                ideal = asked * given.delay / count / seconds
                row = [f"{asked}", f"{seconds:.1f}", f"{rate:.2f}", f"{rate / base / count:.2f}", f"{ideal:.2f}"]
                print(f"| {count} | {' | '.join(row)} | {', '.join(map(str, sorted(shares.values())))} |", flush=True)


if __name__ == "__main__":
    main()
