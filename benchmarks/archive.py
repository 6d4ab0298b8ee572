"""Archiving and restoring a month, beside the bare statements over the same rows in the same run.

    python -m benchmarks.archive [--messages 20000] [--interactions 100000]

The floor is one INSERT … SELECT of the moving rows into a table of the archive's shape and one UPDATE that blanks them.
"archive" and "restore" are all of the stage's work: choosing, locks, hashes of the stored copies, counts, batches of
2,000, partitions, the vacuum at the end. Then the heap over two months, and how long it takes to tell what is due,
beside a read by primary key. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from benchmarks.import_rate import write_messages
from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.wiring import Memory

ROUNDS = 3
SUMMARIES = """
    INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
        summary, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
        generation_seconds)
    SELECT gen_random_uuid(), id, 'completed', input_hash, 'p', 'm', 'en', 's', '{}', 1, 1, 1, 1, 0, 0 FROM interactions
    ON CONFLICT DO NOTHING"""
MOVING = """
    SELECT DATE '2000-01-01', m.id, m.chat_id, i.id, m.external_id, m.sent_at, m.content, m.content_hash, m.parts,
           clock_timestamp()
    FROM message_texts m JOIN interactions i ON i.id = m.interaction_id WHERE m.importance_score < 0.5"""


class Bench:
    """One database with some months of talk, everything summarised."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        now = datetime(2026, 1, 1, tzinfo=UTC)
        settings = Settings(home=folder, now=now)
        self.memory = Memory(settings, url=url, connections=engine.pool(url, size=4), clock=PinnedClock(now))
        self.connection = engine.connect(url, autocommit=True)

    def run(self, statement: str) -> int:
        return self.connection.execute(statement.encode()).rowcount

    def value(self, statement: str) -> int:
        found = self.connection.execute(statement.encode()).fetchone()
        assert found is not None
        return found[0]

    def load(self, messages: int, *, seed: int = 7) -> None:
        export = self.folder / f"{uuid4()}.jsonl"
        write_messages(export, messages, chats=100, seed=seed)
        self.memory.import_path(export)

    def summarise(self) -> None:
        self.memory.build_interactions()
        self.run("UPDATE interactions SET status = 'completed'")
        self.run(SUMMARIES)

    def archive(self) -> int:
        return sum(report.messages for report in self.memory.archive.archive_months(self.memory.archive.due_months()))

    def restore(self) -> int:
        months = self.connection.execute("SELECT month FROM archive_months").fetchall()
        return sum(self.memory.archive.restore(RestoreScope(month=month)).messages for (month,) in months)

    def forget_holds(self) -> None:
        self.run("TRUNCATE archive_holds, partition_states, dirty_partitions")
        self.run("VACUUM messages")
        self.run("CHECKPOINT")


def timed(work: Callable[[], int]) -> tuple[float, int]:
    begin = time.perf_counter()
    done = work()
    return time.perf_counter() - begin, done


def floor(bench: Bench) -> int:
    """The bare statements; how many rows."""
    moved = bench.run(f"INSERT INTO floor {MOVING}")
    bench.run(
        "UPDATE messages m SET content = '[archived]', parts = NULL, is_archived = true, archived_at = now(),"
        " archived_month = f.month FROM floor f WHERE m.id = f.message_id"
    )
    return moved


def moving(bench: Bench, messages: int) -> None:
    rows: dict[str, list[float]] = {"bare INSERT … SELECT and UPDATE": [], "archive": [], "restore": []}
    moved = 0
    for _ in range(ROUNDS):
        bench.forget_holds()
        bench.run("DROP TABLE IF EXISTS floor")
        bench.run("CREATE TABLE floor (LIKE archived_messages INCLUDING ALL)")
        bare, moved = timed(lambda: floor(bench))
        bench.run(
            "UPDATE messages m SET content = f.content, parts = f.parts, is_archived = false, archived_at = NULL,"
            " archived_month = NULL FROM floor f WHERE m.id = f.message_id"
        )
        bench.forget_holds()
        archived, there = timed(bench.archive)
        bench.run("CHECKPOINT")
        restored, back = timed(bench.restore)
        assert moved == there == back, (moved, there, back)
        for seconds, took in zip(rows.values(), (bare, archived, restored), strict=True):
            seconds.append(took)
    best = {name: statistics.median(seconds) for name, seconds in rows.items()}
    print(f"\n| {moved:,} of {messages:,} messages, median of {ROUNDS} | seconds | messages/s | times the bare ones |")
    print("| --- | ---: | ---: | ---: |")
    for name, seconds in best.items():
        print(f"| {name} | {seconds:.2f} | {moved / seconds:,.0f} | {seconds / next(iter(best.values())):.1f} |")


def space(bench: Bench, messages: int) -> None:
    heap = "SELECT pg_relation_size('messages', 'main')"
    bench.run("ALTER TABLE messages SET (autovacuum_enabled = false)")
    sizes = [("before archiving", bench.value(heap))]
    bench.archive()
    sizes.append(("archived, vacuumed", bench.value(heap)))
    bench.run("UPDATE chats SET external_id = 'old ' || external_id")
    bench.load(messages, seed=8)
    sizes.append(("as many messages imported again", bench.value(heap)))
    bench.summarise()
    sizes.append(("and their interactions built", bench.value(heap)))
    print("\n| hot heap, nobody else vacuums | bytes | growth |")
    print("| --- | ---: | ---: |")
    for (name, size), before in zip(sizes, [sizes[0], *sizes], strict=False):
        print(f"| {name} | {size:,} | {100 * (size / before[1] - 1):+.1f} % |")


def due(bench: Bench, interactions: int) -> None:
    """Ten years of interactions, no month looked at: the longest answer there is."""
    random.seed(1)
    chat = "(SELECT id FROM chats ORDER BY id LIMIT 1)"
    minutes = 10 * 365 * 24 * 60 / interactions
    bench.run(
        "INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,"
        f" language, first_external_id, input_hash)"
        f" SELECT gen_random_uuid(), {chat}, at::date, at, at + interval '10 minutes',"
        " 'completed', 5, 50, 'en', 'm', 'h' FROM (SELECT timestamptz '2010-01-01Z' + n * interval"
        f" '{minutes * 60:.3f} seconds' AS at FROM generate_series(1, {interactions}) n) m"
    )
    bench.run("TRUNCATE partition_states")
    bench.run("VACUUM (ANALYZE) interactions")
    keys = [row[0] for row in bench.connection.execute("SELECT id FROM interactions ORDER BY id LIMIT 200")]
    found = bench.memory.archive.due_months()
    whole = statistics.median(timed(lambda: len(bench.memory.archive.due_months()))[0] for _ in range(20))
    one = statistics.median(
        timed(
            lambda key=key: len(bench.connection.execute("SELECT * FROM interactions WHERE id = %s", (key,)).fetchall())
        )[0]
        for key in keys
    )
    print(f"\n| {interactions:,} interactions, {len(found)} months due | ms |")
    print("| --- | ---: |")
    print(f"| due_months | {1000 * whole:.1f} |")
    print(f"| a read by primary key | {1000 * one:.2f} |")


def measure(messages: int, interactions: int) -> None:
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        with engine.connect(server, search_path="public", autocommit=True) as connection:
            connection.execute("CREATE DATABASE bench")
        url = engine.with_database(server, "bench")
        migrate.upgrade(url)
        bench = Bench(url, Path(folder))
        bench.load(messages)
        bench.summarise()
        moving(bench, messages)
        bench.forget_holds()
        space(bench, messages)
        due(bench, interactions)
        bench.connection.close()
        bench.memory.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--interactions", type=int, default=100_000)
    given = parser.parse_args()
    measure(given.messages, given.interactions)
