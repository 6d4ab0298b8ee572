"""What folding saves, thread by thread: real threads and one of 1,000 turns, each window checked on the way.

    .venv/bin/python -m benchmarks.sessions_savings [--most 2000] [--turns 1000] [--every 1] [--window 8000]

Every thread is appended message by message to a memory with the offline model, folded when it is due, and served before
every ``--every``th answer (``thread_replay`` tells what is checked). The made thread is played by ``rolling`` and by
``hybrid``, each in a memory of its own, real ones by the default, ``hybrid``. What is folded becomes searchable every
hundred messages. A Markdown table; ends with 1 where a promise was broken. Real threads lie beside the checkout; where
they are not, this says so and plays the made one alone.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from benchmarks.corpora import CorpusMissing
from benchmarks.thread_replay import Played, Replay, opened
from benchmarks.threads import Thread, made, threads
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.memory.session.records import Strategy

INDEX_EVERY = 100
TARGET_PERCENT = 10.0


def real() -> list[Thread]:
    try:
        return list(threads())
    except CorpusMissing as missing:
        print(f"real threads are not played: {missing} is not beside the checkout", file=sys.stderr)
        return []


def played(server_url: str, folder: Path, thread: Thread, strategy: Strategy, given: argparse.Namespace) -> Played:
    """In a database of its own."""
    name = f"r_{abs(hash((thread.key, strategy))):x}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    url = engine.with_database(server_url, name)
    migrate.upgrade(url)
    memory, clock = opened(url, folder, embedder=given.embedder)
    replay = Replay(memory, clock, url, strategy=strategy, policy=given.policy, model_window=given.window)
    try:
        return replay.play(thread, every=given.every, index_every=INDEX_EVERY)
    finally:
        replay.close()
        memory.close()


def work(given: argparse.Namespace) -> Iterator[tuple[Thread, Strategy]]:
    for thread in real() if given.most else ():
        yield Thread(thread.source, thread.external_id, thread.rows[: given.most]), "hybrid"
    long = made(given.turns, external_id=f"{given.turns}-turns")
    yield long, "rolling"
    yield long, "hybrid"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=int, default=2_000, help="messages of a real thread; 0 plays none")
    parser.add_argument("--turns", type=int, default=1_000, help="of the made thread")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--window", type=int, default=8_000)
    parser.add_argument("--policy", default="hysteresis", choices=("hysteresis", "sliding", "interval"))
    parser.add_argument("--embedder", default="offline", choices=("offline", "none"))
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    broken: list[str] = []
    print(
        "| thread | by | messages | folds | per 100 | windows | mean prompt | mean uncompressed | saved | seconds |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    try:
        for thread, strategy in work(given):
            started = time.perf_counter()
            found = played(server_url, folder, thread, strategy, given)
            print(
                f"| {found.thread} | {strategy} | {found.messages:,} | {found.folds} | {found.folds_per_hundred:.1f}"
                f" | {found.turns:,} | {found.mean_prompt:,.0f} | {found.mean_hypothetical:,.0f}"
                f" | {found.saved_percent:.1f} % | {time.perf_counter() - started:.0f} |",
                flush=True,
            )
            broken += [f"{found.thread}, {strategy}: {one}" for one in found.broken]
            share = 100 - found.saved_percent
            if thread.source == "made" and given.turns >= 1_000 and share > TARGET_PERCENT:
                broken.append(f"{found.thread}, {strategy}: {share:.1f} % of the uncompressed prompt is left")
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    for one in broken:
        print(f"broken: {one}", file=sys.stderr)
    print(f"\nwindow of {given.window:,} tokens, {given.policy}; promises broken: {len(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
