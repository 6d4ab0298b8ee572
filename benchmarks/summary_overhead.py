"""What the pipeline itself costs around one summary, with a model that answers at once and for nothing.

    python benchmarks/summary_overhead.py [--interactions N] [--messages M] [--rounds R]

On an embedded PostgreSQL of its own, with fsync on, three one-row commits are timed in the same run: the least that
claim, ledger and publication could take if each were a commit and nothing else. The target is three times that. Each
round alternates the two, so that a busy machine weighs on both. ``run`` is ``summarize_days`` over all interactions;
``paid`` adds what a paid model needs: replay look-up, reservation, settlement.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline import wiring  # noqa: E402
from pkg_pipeline.adapters.postgres import engine  # noqa: E402
from pkg_pipeline.adapters.server import embedded  # noqa: E402
from pkg_pipeline.memory.records import Usage  # noqa: E402
from pkg_pipeline.settings import Settings  # noqa: E402
from pkg_pipeline.stages.llm.stores import Caps  # noqa: E402
from pkg_pipeline.stages.ports import Billing, LlmReply, LlmRequest  # noqa: E402
from pkg_pipeline_tests.stages.summaries.summary_rig import good_answer  # noqa: E402

TARGET = 3.0
START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TEXTS = (
    "Hi, did you get the offer for the shelves? It came to {n} EUR.",
    "Yes, {n} EUR is fine. Agreed, we pay by 20 January.",
    "I will send the invoice tomorrow, to anna{n}@example.com as always.",
    "Thanks! And please tell the driver to call before he comes.",
    "Will do.",
)


class InstantLlm:
    """Answers with what stands in the conversation, made before the clock runs."""

    window_tokens = 200_000

    def __init__(self, *, is_paid: bool) -> None:
        self.is_paid = is_paid
        self.model = "instant-paid" if is_paid else "instant"

    def price(self, usage: Usage) -> float:  # noqa: ARG002 - the port's signature
        return 1e-6 if self.is_paid else 0.0

    def complete(self, request: LlmRequest) -> LlmReply:
        return LlmReply(json.dumps(good_answer(request.payload)), self.model, Usage(900, 200), "end_turn")


def export(path: Path, *, interactions: int, messages: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(interactions):
            start = START + timedelta(days=number // 8)
            for index in range(messages):
                line: dict[str, Any] = {
                    "chat_id": f"chat{number % 8}",
                    "message_id": f"{number}-{index:05}",
                    "sender_id": "me" if index % 2 else f"anna{number % 8}",
                    "is_self": bool(index % 2),
                    "sent_at": (start + timedelta(minutes=index)).isoformat(),
                    "text": TEXTS[index % len(TEXTS)].format(n=1000 + number),
                    "chat_kind": "direct",
                }
                file.write(json.dumps(line) + "\n")


def three_commits(connection: engine.Connection, times: int) -> float:
    """Seconds for ``times`` × three one-row commits on one connection, rows about as long as a short summary."""
    started = time.perf_counter()
    for number in range(times):
        for part in range(3):
            connection.execute("INSERT INTO pkg.bench_commits VALUES (%s, %s, %s)", (number, part, "x" * 400))
    return time.perf_counter() - started


def run_of(memory: wiring.Memory, llm: InstantLlm, days: tuple[date, date]) -> tuple[int, float]:
    given = memory.summaries.access
    work = replace(given.work, concurrency=1, holder="benchmark")
    access = replace(given, llm=lambda: llm, model=llm.model, work=work, caps=lambda _task, _lane: Caps(100.0))
    started = time.perf_counter()
    reports = replace(memory.summaries, access=access).run(days, Billing("backfill"))
    return sum(report.summarized for report in reports), time.perf_counter() - started


def median_ms(values: list[float]) -> float:
    return statistics.median(values) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--interactions", type=int, default=480)
    parser.add_argument("--messages", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="print where the time of the last round went")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder:
        settings = Settings(home=Path(folder), now=NOW, llm="offline")
        try:
            return measure(settings, options)
        finally:
            embedded.stop(settings.database_folder)


def measure(settings: Settings, options: argparse.Namespace) -> int:
    file = settings.home / "export.jsonl"
    export(file, interactions=options.interactions, messages=options.messages)
    last = (START + timedelta(days=options.interactions // 8 + 1)).date()
    floor: list[float] = []
    found: dict[str, list[float]] = {"run": [], "paid": []}
    with wiring.open_memory(settings) as memory, engine.connect(memory.url, autocommit=True) as connection:
        fsync = connection.execute("SHOW fsync").fetchone()
        connection.execute("CREATE TABLE pkg.bench_commits (a int, b int, c text)")
        memory.import_path(file)
        memory.build_interactions()
        connection.execute("CREATE TABLE pkg.bench_marks AS SELECT * FROM pkg.dirty_partitions")
        for number in range(options.rounds + 1):  # the first one warms up
            for name, llm in (("run", InstantLlm(is_paid=False)), ("paid", InstantLlm(is_paid=True))):
                reset(connection)
                seconds = three_commits(connection, options.interactions)
                profile = cProfile.Profile(time.process_time) if options.profile and number == options.rounds else None
                if profile:
                    profile.enable()
                made, spent = run_of(memory, llm, (START.date(), last))
                if profile:
                    profile.disable()
                    pstats.Stats(profile).sort_stats("cumulative").print_stats(
                        "pkg_pipeline|psycopg.connection|pool", 36
                    )
                assert made == options.interactions, f"{made} of {options.interactions} were summarised"
                if number:
                    floor.append(seconds / options.interactions)
                    found[name].append(spent / options.interactions)
    base = median_ms(floor)
    print(f"\n{options.interactions} interactions of {options.messages} messages, {options.rounds} rounds, ", end="")
    print(f"fsync {fsync[0] if fsync else '?'}, medians (min-max)\n")
    print("| around one summary | ms | × three commits | summaries/s |\n| --- | ---: | ---: | ---: |")
    print(f"| three one-row commits | {base:.2f} ({min(floor) * 1e3:.2f}-{max(floor) * 1e3:.2f}) | 1.0 | |")
    labels = {"run": "claim, prompt, gate, ledger, save", "paid": "the same for a paid model, with replay and budget"}
    for name, values in found.items():
        ms = median_ms(values)
        span = f"{min(values) * 1e3:.2f}-{max(values) * 1e3:.2f}"
        print(f"| {labels[name]} | {ms:.2f} ({span}) | {ms / base:.2f} | {1000 / ms:.0f} |")
    met = median_ms(found["run"]) <= TARGET * base
    print(f"\ntarget ≤ {TARGET:g} × three commits: {'met' if met else 'MISSED'}")
    return 0 if met else 1


def reset(connection: engine.Connection) -> None:
    """Nothing summarised, every day marked."""
    connection.execute(
        "TRUNCATE pkg.interaction_summaries, pkg.entity_facts, pkg.summary_attempts, pkg.llm_calls,"
        " pkg.llm_call_subjects, pkg.budgets, pkg.partition_states, pkg.leases, pkg.dirty_partitions"
    )
    connection.execute(
        "INSERT INTO pkg.dirty_partitions (asset, partition_key, reason, due_at)"
        " SELECT asset, partition_key, reason, due_at FROM pkg.bench_marks"
    )
    connection.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    sys.exit(main())
