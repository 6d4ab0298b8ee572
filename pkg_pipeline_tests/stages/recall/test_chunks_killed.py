"""Killed with SIGKILL anywhere, beside others, or over a very long interaction: chunks end the same."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from pkg_pipeline.stages.ports import Vectors
from pkg_pipeline.stages.recall import chunks
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.ingest.import_rig import line
from pkg_pipeline_tests.stages.recall.chunk_rig import ChunkRig, WordEmbedder
from pkg_pipeline_tests.stages.recall.chunk_worker import PLACES

DAY = 24 * 60


@pytest.fixture
def rig(database_url: str) -> Iterator[ChunkRig]:
    made = ChunkRig(database_url)
    yield made
    made.close()


@pytest.mark.parametrize("point", PLACES)
def test_killed_anywhere_and_run_again_it_ends_as_if_made_from_nothing(rig: ChunkRig, point: str) -> None:
    """Over messages that are there, changed and gone, conversations that joined, and new summaries."""
    said = [line("c1", f"{day}-{number}", minute=day * DAY + number) for day in range(4) for number in range(3)]
    rig.load(said)
    rig.chunk()
    rig.take([{**said[0], "deleted": True}, {**said[4], "text": "edited", "edited_at": "2026-02-01T00:00:00Z"}])
    rig.take([line("c1", f"joins-{hour}", minute=2 * DAY + hour * 60) for hour in range(2, 24, 3)])
    rig.build()
    rig.summarise()
    killed("recall.chunk_worker", rig.url, point)
    rig.wait_for_the_dead()
    assert rig.due() != []
    done = rig.chunk()
    assert (done.pending, rig.due()) == (0, [])
    rig.recount()
    found = rig.logical()
    rig.forget_chunks()
    rig.chunk()
    assert found == rig.logical()


def test_two_at_once_do_each_interaction_once(rig: ChunkRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "GROUP_MESSAGES", 4)
    rig.load([line(f"c{chat}", day, minute=day * DAY + chat) for chat in range(4) for day in range(15)])
    rig.spaces.open("test:words")
    together = threading.Barrier(2)

    def work(_: int) -> tuple[int, int, int]:
        mine = ChunkRig(rig.url)
        try:
            together.wait()
            done = mine.chunk()
            return done.interactions, done.embedded, done.pending
        finally:
            mine.close()

    with ThreadPoolExecutor(2) as workers:
        first, second = workers.map(work, range(2))
    assert (first[0] + second[0], first[1] + second[1]) == (60, 60)
    rig.recount()
    done = rig.chunk()
    assert (done.interactions, done.pending) == (0, 0)


def test_what_another_run_holds_stays_pending(rig: ChunkRig) -> None:
    rig.load([line("c1", day, minute=day * DAY) for day in range(3)])
    (held, *_) = [row[0] for row in rig.rows("SELECT id FROM interactions ORDER BY started_at")]
    with rig.chunk_store.hold([held]) as mine:
        assert mine.ids == (held,)
        done = rig.chunk()
        assert (done.chunks, done.pending, done.reasons) == (2, 1, ["another run works on some of it"])
    assert rig.chunk().chunks == 1


class Forgetful(WordEmbedder):
    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts.clear()
        return super().embed(texts)


def peak_bytes(rig: ChunkRig, embedder: WordEmbedder) -> int:
    tracemalloc.start()
    try:
        rig.chunk(embedder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_interaction_of_five_thousand_messages_takes_no_more_memory_than_one_of_a_thousand(rig: ChunkRig) -> None:
    embedder = Forgetful()

    def talk(chat: str, messages: int) -> int:
        said = (line(chat, number, minute=number / 60, text=f"words {number % 50}") for number in range(messages))
        rig.load([*said])
        return peak_bytes(rig, embedder)

    talk("warm", 50)  # what is remembered for ever is there now
    short = talk("short", 1_000)
    assert talk("long", 5_000) < 1.6 * short
    assert rig.value("SELECT max(chunks) FROM chunk_states") == 5_000
    rig.recount()
