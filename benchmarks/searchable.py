"""From a message that was said to a message that is found: what it costs, one at a time and many at once.

    python -m benchmarks.searchable [--lengths 10 1000 10000] [--rounds 20] [--messages 100000] [--profile]

One message more in a conversation without a silence of so many messages, of two people and of a group: written by an
append to its session or by the import of a file with one line, then until it is searchable, with a model that answers
at once. Processor time of this process and of the server's, which does not depend on what else the machine does; wall
time beside it. Then a whole memory: import, interactions, chunks with vectors; messages a second and bytes each, by
table and index. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.fresh_memory import Cost, FreeEmbedder, FreshMemory, fresh_memory
from benchmarks.import_rate import EN, RU, START, write_messages
from pkg_pipeline.memory.hashing import chat_id
from pkg_pipeline.wiring import chunks as wired

EVER = "SELECT min(day), max(day) FROM interactions"
BYTES = """
SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
WHERE c.relnamespace = 'pkg'::regnamespace AND c.relkind IN ('r', 'p')"""
PLACES = """
SELECT c.relname, pg_relation_size(c.oid) + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)
FROM pg_class c WHERE c.relnamespace = 'pkg'::regnamespace AND c.relkind IN ('r', 'i') ORDER BY 2 DESC, 1 LIMIT 16"""
FIRST_ROUNDS = 3
"""Rounds that are not counted: caches and plans come into being."""


class Conversation:
    """One chat of so many messages a minute apart, and what is said after them."""

    def __init__(self, messages: int, *, is_group: bool) -> None:
        self.messages, self.is_group = messages, is_group
        self.name = f"{'group' if is_group else 'pair'}-{messages}"
        self._words = cycle(zip(EN.split(), RU.split(), strict=False))
        self.said = 0

    def line(self) -> dict[str, Any]:
        number = self.said
        self.said += 1
        words = [word for pair, _ in zip(self._words, range(4 + number % 5), strict=False) for word in pair]
        sender = f"{self.name}-{number % 6}" if self.is_group else ("me", self.name)[number % 2]
        return {
            "chat_id": self.name,
            "chat_kind": "group" if self.is_group else "direct",
            "message_id": str(number),
            "sender_id": sender,
            "sender_name": f"Person {sender}",
            "is_self": sender == "me",
            "sent_at": (START + timedelta(seconds=20 * number)).isoformat(timespec="seconds"),
            "text": f"{' '.join(words)} {number}",
        }

    def write(self, path: Path, count: int) -> Path:
        path.write_text("".join(json.dumps(self.line()) + "\n" for _ in range(count)), encoding="utf-8")
        return path


@contextmanager
def counting() -> Iterator[list[int]]:
    """Counts the statements sent within the block."""
    count, execute, copy = [0], psycopg.Cursor.execute, psycopg.Cursor.copy

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **given: Any) -> Any:
            count[0] += 1
            return real(*args, **given)

        return call

    psycopg.Cursor.execute, psycopg.Cursor.copy = counted(execute), counted(copy)  # type: ignore[method-assign]
    try:
        yield count
    finally:
        psycopg.Cursor.execute, psycopg.Cursor.copy = execute, copy  # type: ignore[method-assign]


def make_all_searchable(made: FreshMemory) -> None:
    made.memory.build_interactions()
    with made.memory.connections.connection() as connection:
        days = connection.execute(EVER).fetchone()
    assert days is not None
    made.memory.chunks.build(days)


def one_more(made: FreshMemory, lengths: list[int], rounds: int, profiler: cProfile.Profile | None) -> None:
    print("\n| one message more | messages before | CPU ms p50 | own | server | wall ms p50 | statements |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for is_group in (False, True):
        for length in lengths:
            talk = Conversation(length, is_group=is_group)
            made.memory.import_path(talk.write(made.folder / "talk.jsonl", length), self_rule="none")
            make_all_searchable(made)
            for way in ("append", "import"):
                costs, statements = list[Cost](), 0
                for number in range(FIRST_ROUNDS + rounds):
                    line = talk.line()
                    path = made.folder / "one.jsonl"
                    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
                    if profiler is not None and number >= FIRST_ROUNDS:
                        profiler.enable()
                    with made.costing() as cost, counting() as count:
                        if way == "append":
                            given = {"id": line["message_id"], "sender_id": line["sender_id"], "text": line["text"]}
                            given |= {"sender_name": line["sender_name"], "sent_at": line["sent_at"]}
                            made.memory.sessions.append(f"jsonl:{talk.name}", [("", given)])
                        else:
                            made.memory.import_path(path, self_rule="none")
                        built = made.memory.build_interactions([chat_id("jsonl", talk.name)], alone=True)
                        done = made.memory.chunks.make_at_once(built)  # ``make_searchable``, with what it did
                    if profiler is not None:
                        profiler.disable()
                    assert done is not None, built
                    assert done.chunks > done.kept, done
                    if number >= FIRST_ROUNDS:
                        costs += cost
                        statements = count[0]
                cpu, own, server, wall = (
                    statistics.median(getattr(one, name) for one in costs) * 1e3
                    for name in ("cpu", "own", "server", "wall")
                )
                said = f"{'group' if is_group else 'two people'}, {way}"
                print(
                    f"| {said} | {length:,} | {cpu:.0f} | {own:.0f} | {server:.0f} | {wall:.0f} | {statements} |",
                    flush=True,
                )


def many(messages: int, profiler: cProfile.Profile | None) -> None:
    with fresh_memory() as made:
        export = made.folder / "messages.jsonl"
        write_messages(export, messages, chats=200)
        made.memory.counter.count("ready")
        steps = dict[str, list[Cost]]()
        before = made.value(BYTES)
        with made.costing() as steps["import"]:
            made.memory.import_path(export, self_rule="none")
        with made.costing() as steps["interactions"]:
            made.memory.build_interactions()
        if profiler is not None:
            profiler.enable()
        with made.costing() as steps["chunks with vectors"]:
            make_all_searchable(made)
        if profiler is not None:
            profiler.disable()
        size, chunks = made.value(BYTES) - before, made.value("SELECT count(*) FROM memory_chunks")
        with made.memory.connections.connection() as connection:
            places = connection.execute(PLACES).fetchall()
    print(f"\n| {messages:,} messages, {chunks:,} chunks | messages/s | CPU µs a message | own | server |")
    print("| --- | ---: | ---: | ---: | ---: |")
    total = Cost(0, 0, 0)
    for name, (cost,) in steps.items():
        total += cost
        print(_line(name, cost, messages))
    print(_line("all", total, messages))
    print(f"\n{size / messages:,.0f} bytes a message:", ", ".join(f"{one} {at / messages:,.0f}" for one, at in places))


def _line(name: str, cost: Cost, messages: int) -> str:
    cpu, own, server = (1e6 * one / messages for one in (cost.cpu, cost.own, cost.server))
    return f"| {name} | {messages / cost.wall:,.0f} | {cpu:.0f} | {own:.0f} | {server:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="*", default=[10, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true", help="where this process's time goes")
    given = parser.parse_args()
    profiler = cProfile.Profile() if given.profile else None
    free = FreeEmbedder("offline:free")
    wired.embedder_named = lambda *_: free
    wired.embedder_name = lambda _: free.model
    if given.lengths:
        with fresh_memory() as made:
            one_more(made, given.lengths, given.rounds, profiler)
    if given.messages:
        many(given.messages, profiler)
    if profiler is not None:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
