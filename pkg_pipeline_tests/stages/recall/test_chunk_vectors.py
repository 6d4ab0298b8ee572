"""Vectors beside words: an embedder that is not there, fails, refuses or changes; and the one that is offline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.stages.ports import EmbedderMisconfigured, EmbedderUnavailable
from pkg_pipeline.stages.recall import chunk_vectors, chunks
from pkg_pipeline_tests.stages.ingest.import_rig import line
from pkg_pipeline_tests.stages.recall.chunk_rig import ChunkRig, WordEmbedder

TALK = [line("c1", number, minute=number * 300, text=f"words of talk {number}") for number in range(12)]


@pytest.fixture
def rig(database_url: str) -> Iterator[ChunkRig]:
    made = ChunkRig(database_url)
    yield made
    made.close()


def counts(rig: ChunkRig) -> tuple[int, int]:
    return rig.value("SELECT count(*) FROM memory_chunks"), rig.value("SELECT count(*) FROM chunk_embeddings")


def resume_in(rig: ChunkRig) -> float:
    return float(rig.value("SELECT extract(epoch FROM max(resume_at) - now()) FROM partition_states WHERE pending > 0"))


def test_without_an_embedder_words_are_all_there_is(rig: ChunkRig) -> None:
    rig.load(TALK)
    done = rig.chunk(deps=rig.deps(None))
    assert (done.chunks, done.embedded, done.pending) == (12, 0, 0)
    assert counts(rig) == (12, 0)
    assert rig.rows("SELECT DISTINCT space_id FROM chunk_states") == [(0,)]
    assert rig.chunk(deps=rig.deps(None)).interactions == 0
    assert rig.chunk(WordEmbedder()).embedded == 12, "one that is there later gives what is missing"


@pytest.mark.parametrize(
    ("error", "rest"),
    [
        (EmbedderUnavailable("it is overloaded", retry_after_seconds=77), 77),
        (EmbedderUnavailable("nobody answers"), chunk_vectors.REST_SECONDS),
        (EmbedderMisconfigured("its key is wrong"), chunk_vectors.LONG_REST_SECONDS),
    ],
)
def test_an_embedder_that_fails_half_way_puts_off_vectors_and_not_words(
    rig: ChunkRig, monkeypatch: pytest.MonkeyPatch, error: Exception, rest: float
) -> None:
    monkeypatch.setattr(chunks, "GROUP_MESSAGES", 3)
    rig.load(TALK)
    done = rig.chunk(WordEmbedder(answers=2, error=error))
    assert counts(rig) == (12, 6)
    assert (done.pending, done.embedded) == (6, 6)
    (reason,) = done.reasons
    assert reason == f"no vectors from test:words: {error}; words alone are searched meanwhile"
    assert rest - 30 < resume_in(rig) <= rest
    assert rig.due() == [], "before it has rested nobody asks again"
    rig.run("UPDATE partition_states SET resume_at = now()")
    assert len(rig.due()) > 0
    embedder = WordEmbedder()
    done = rig.chunk(embedder)
    assert (done.embedded, done.pending, len(embedder.texts)) == (6, 0, 6), "what was paid for is not asked for again"
    assert counts(rig) == (12, 12)


def test_a_call_that_fails_between_two_of_one_interaction_keeps_the_first(
    rig: ChunkRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_vectors, "EMBEDDED_AT_ONCE", 4)
    rig.load([line("c1", number, minute=number) for number in range(10)])
    done = rig.chunk(WordEmbedder(answers=2, error=EmbedderUnavailable("gone")))
    assert (done.embedded, done.pending) == (8, 1)
    assert counts(rig) == (10, 8)
    assert rig.chunk().embedded == 2


def test_refused_texts_are_counted_and_hold_nothing_up(rig: ChunkRig) -> None:
    rig.load([*TALK, line("c9", 1, text="this one is refused")])
    done = rig.chunk()
    assert (done.embedded, done.refused, done.pending) == (12, 1, 0)
    assert rig.value("SELECT sum(refused) FROM chunk_states WHERE space_id <> 0") == 1
    assert rig.chunk().interactions == 0
    assert counts(rig) == (13, 12)


def test_vectors_of_another_size_stop_like_a_wrong_setting(rig: ChunkRig) -> None:
    rig.load(TALK)
    rig.chunk()
    rig.run("UPDATE embedding_spaces SET dimensions = 64")
    rig.load([line("c1", "new", minute=-300, text="something new")])
    done = rig.chunk()
    assert done.pending == 1
    assert "reembed --to" in done.reasons[0]
    assert counts(rig) == (13, 12)


def test_with_the_model_in_the_wheel(rig: ChunkRig) -> None:
    rig.load([*TALK, line("c3", 1, text="завтра встреча"), line("c3", 2, minute=1, text="明天见面")])
    done = rig.chunk(OfflineEmbedder())  # type: ignore[arg-type]  # a stub would do as well
    assert (done.embedded, done.pending) == (14, 0)
    assert rig.rows("SELECT model, dimensions, state FROM embedding_spaces") == [
        ("offline:use-multilingual-3", 512, "active")
    ]
    assert rig.value("SELECT count(*) FROM chunk_embeddings WHERE abs((embedding <#> embedding) + 1) > 0.01") == 0
    rig.recount()
