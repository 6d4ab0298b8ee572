"""Messages a second from a JSONL file into the memory, beside a bare COPY of the same rows in the same run.

    python benchmarks/import_rate.py [--messages 200000] [--profile]

Prints a Markdown table. "Import" is everything up to queryable messages: reading, cleaning, token counts, importance,
upserts and indexes; "with interactions" adds sessionising, participants and running totals. The COPY goes into a table
with the same columns, indexes and constraints, in batches of the same size, from rows made beforehand: the floor. The
last column is the processor time of this process alone, which says more on a machine that is busy with other work.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ingest.stage import BATCH_MESSAGES
from pkg_pipeline.wiring import Memory, SystemClock

START = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)
EN = "the plan for next week is to send an offer before noon and call about the price of boxes we agreed on"
RU = "давай завтра созвонимся насчёт договора и решим когда привезут коробки потому что цена снова выросла"
ZH = ("我们明天再谈价格", "好的没问题", "合同周五之前寄给你", "那批货什么时候到", "谢谢")


def write_messages(
    path: Path,
    count: int,
    *,
    chats: int,
    one_chat: bool = False,
    seed: int = 7,
    part: str = "",
    start: datetime = START,
) -> None:
    """``count`` lines: nine direct chats of ten, one group; 60 letters on average, pauses that make interactions.

    ``part`` begins the names of its chats and people, which are no other part's.
    """
    random.seed(seed)
    times = [start + timedelta(minutes=random.randrange(600)) for _ in range(chats)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            chat = 0 if one_chat else random.randrange(chats)
            is_group = not one_chat and chat % 10 == 9
            pause = random.expovariate(1 / 90) if one_chat or random.random() < 0.95 else random.expovariate(1 / 90_000)
            times[chat] += timedelta(seconds=pause)
            sender = f"{part}p{chat}"
            sender = f"{sender}-{random.randrange(8)}" if is_group else random.choice(("me", sender))
            file.write(
                json.dumps(
                    {
                        "chat_id": f"{part}c{chat}",
                        "chat_kind": "group" if is_group else "direct",
                        "message_id": str(number),
                        "sender_id": sender,
                        "sender_name": f"Person {sender}",
                        "is_self": sender == "me",
                        "sent_at": times[chat].isoformat(timespec="seconds"),
                        "text": _text(chat),
                    },
                    ensure_ascii=False,
                )
                + "\n"
            )


def _text(chat: int) -> str:
    kind = chat % 3
    if kind == 2:
        return "".join(random.choices(ZH, k=random.randrange(1, 4)))
    words: list[str] = random.choices((RU if kind else EN).split(), k=random.randrange(1, 22))
    if random.random() < 0.1:
        words.append(f"{random.randrange(10, 5000)} EUR")
    return " ".join(words)


def bare_copy_seconds(url: str) -> float:
    """The rows of ``pkg.messages`` copied into a table of the same shape, in batches."""
    with engine.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE floor (LIKE messages INCLUDING ALL)")
        connection.execute("ALTER TABLE floor ADD FOREIGN KEY (chat_id) REFERENCES chats")
        with connection.cursor() as cursor, cursor.copy("COPY messages TO STDOUT") as copy:
            lines = [bytes(data) for data in copy]
        batches = [b"".join(lines[at : at + BATCH_MESSAGES]) for at in range(0, len(lines), BATCH_MESSAGES)]
        begin = time.perf_counter()
        for batch in batches:
            with connection.cursor() as cursor, cursor.copy("COPY floor FROM STDIN") as copy:
                copy.write(batch)
        return time.perf_counter() - begin


def measure(messages: int, *, profile: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        export = Path(folder) / "messages.jsonl"
        write_messages(export, messages, chats=200)
        with engine.connect(server, search_path="public", autocommit=True) as connection:
            connection.execute("CREATE DATABASE bench")
        url = engine.with_database(server, "bench")
        migrate.upgrade(url)
        pool = engine.pool(url, size=4)
        memory = Memory(Settings(home=Path(folder)), url=url, connections=pool, clock=SystemClock())
        memory.counter.count("ready")
        profiler = cProfile.Profile()
        begin, cpu_begin = time.perf_counter(), time.process_time()
        if profile:
            profiler.enable()
        report = memory.import_path(export)
        imported, cpu_imported = time.perf_counter(), time.process_time()
        built = memory.build_interactions()
        finished, cpu_finished = time.perf_counter(), time.process_time()
        profiler.disable()
        assert report.counts.new == messages == built.messages, (report.counts, built)
        floor = bare_copy_seconds(url)
        memory.close()
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(28)
    print(f"\n| {messages:,} messages | seconds | messages/s | times the bare COPY | own CPU seconds |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, seconds, cpu in (
        ("bare COPY", floor, 0.0),
        ("import", imported - begin, cpu_imported - cpu_begin),
        ("import with interactions", finished - begin, cpu_finished - cpu_begin),
    ):
        print(f"| {name} | {seconds:.1f} | {messages / seconds:,.0f} | {seconds / floor:.1f} | {cpu:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--profile", action="store_true", help="where the time goes; slows the run itself")
    given = parser.parse_args()
    measure(given.messages, profile=given.profile)
