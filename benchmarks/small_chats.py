"""Interactions of many small chats, and how long a small import waits while another's backlog is being made.

    python benchmarks/small_chats.py [--chats 100000] [--profile]

A chat has three messages: nine of ten are direct, one is a group of three. Prints a Markdown table: chats a second from
touched to queryable interactions with participants and running totals, beside taking the same messages in; then the
seconds that an import of one other chat takes with its interactions, alone and during the backlog, both in one run. The
chat comes in when the backlog has just begun, so that whoever has to wait for all of it would show it.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path

from benchmarks.import_rate import START
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory, SystemClock

MESSAGES_EACH = 3
TEXTS = ("can you send the offer before noon?", "давай завтра созвонимся насчёт договора", "我们明天再谈价格")


def write_chats(path: Path, names: range | list[str]) -> None:
    """A JSONL file with ``MESSAGES_EACH`` messages for every chat, spread over two years."""
    with path.open("w", encoding="utf-8") as file:
        for number, name in enumerate(names):
            is_group = number % 10 == 9
            begin = START + timedelta(minutes=number * 10 % 1_000_000)
            for place in range(MESSAGES_EACH):
                sender = f"p{name}-{place}" if is_group else ("me", f"p{name}")[place % 2]
                said = {
                    "chat_id": f"c{name}",
                    "chat_kind": "group" if is_group else "direct",
                    "message_id": f"{name}-{place}",
                    "sender_id": sender,
                    "sender_name": f"Person {sender}",
                    "is_self": sender == "me",
                    "sent_at": (begin + timedelta(minutes=place)).isoformat(timespec="seconds"),
                    "text": TEXTS[(number + place) % len(TEXTS)],
                }
                file.write(json.dumps(said, ensure_ascii=False) + "\n")


def small_import(url: str, home: Path, name: str) -> float:
    """Seconds until an import of one chat has its interactions."""
    export = home / f"{name}.jsonl"
    write_chats(export, [name])
    memory = opened(url, home)
    try:
        begin = time.perf_counter()
        report = memory.import_path(export)
        memory.build_interactions(report.chats)
        return time.perf_counter() - begin
    finally:
        memory.close()


def opened(url: str, home: Path) -> Memory:
    memory = Memory(Settings(home=home), url=url, connections=engine.pool(url, size=4), clock=SystemClock())
    memory.counter.count("ready")
    return memory


def measure(chats: int, *, profile: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        home = Path(folder)
        with engine.connect(server, search_path="public", autocommit=True) as connection:
            connection.execute("CREATE DATABASE bench")
        url = engine.with_database(server, "bench")
        migrate.upgrade(url)
        write_chats(home / "many.jsonl", range(chats))
        memory = opened(url, home)
        alone = small_import(url, home, "alone")
        begin = time.perf_counter()
        memory.import_path(home / "many.jsonl")
        imported = time.perf_counter() - begin
        waits: list[float] = []
        beside = threading.Timer(0.5, lambda: waits.append(small_import(url, home, "beside")))
        profiler = cProfile.Profile()
        beside.start()
        begin, cpu = time.perf_counter(), time.process_time()
        if profile:
            profiler.enable()
        built = memory.build_interactions()
        profiler.disable()
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        beside.join()
        assert chats <= built.chats <= chats + 1, built
        memory.close()
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(28)
    print(f"\n| {chats:,} chats of {MESSAGES_EACH} messages | seconds | chats/s |\n| --- | ---: | ---: |")
    print(f"| import | {imported:.1f} | {chats / imported:,.0f} |")
    print(f"| interactions ({cpu:.1f} s of own CPU) | {seconds:.1f} | {chats / seconds:,.0f} |")
    print(f"| one chat, alone | {alone:.2f} | |")
    print(f"| one chat, beside the backlog ({waits[0] / alone:.1f} ×) | {waits[0]:.2f} | |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chats", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true", help="where the time goes; slows the run itself")
    given = parser.parse_args()
    measure(given.chats, profile=given.profile)
