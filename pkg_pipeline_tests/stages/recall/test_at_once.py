"""A message is found at once: what it adds to the chunks of a conversation is what a run over all of it makes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pkg_pipeline.stages.recall.at_once import make_at_once
from pkg_pipeline.stages.recall.chunks import DayReport
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.ingest.import_rig import Line, line
from pkg_pipeline_tests.stages.interactions.test_going_on import PEOPLE, parted, talk
from pkg_pipeline_tests.stages.recall.chunk_rig import ChunkRig, WordEmbedder
from pkg_pipeline_tests.stages.recall.chunk_worker import AT_ONCE


class AtOnce(ChunkRig):
    def at_once(self, embedder: WordEmbedder | None = None) -> DayReport | None:
        return make_at_once(self.build(), deps=self.deps(embedder or WordEmbedder()))

    def later(self) -> list[str]:
        marks = "SELECT partition_key FROM dirty_partitions WHERE asset = 'memory_chunks' AND due_at > '-infinity'"
        return sorted(day for (day,) in self.rows(marks))


@pytest.fixture
def rig(database_url: str) -> Iterator[AtOnce]:
    made = AtOnce(database_url)
    yield made
    made.close()


def same_as_one_run(rig: AtOnce) -> None:
    rig.recount()
    found = rig.logical()
    rig.forget_chunks()
    rig.chunk()
    assert found == rig.logical()


def of_all_lengths(kind: str, dice: random.Random) -> list[Line]:
    lines = talk(kind, dice, 30)
    for said in lines:
        if dice.random() < 0.1:
            said["text"] = "\n\n".join([f"{said['text']} {'long ' * 50}"] * 4)
    return lines


@pytest.mark.parametrize("kind", ["direct", "group"])
@pytest.mark.parametrize("seed", range(2))
def test_any_split_leaves_the_chunks_and_states_of_one_run(rig: AtOnce, kind: str, seed: int) -> None:
    dice = random.Random(seed)
    for part in parted(of_all_lengths(kind, dice), dice):
        rig.take(part)
        assert rig.at_once() is not None
    assert rig.due() == []
    done = rig.chunk()
    assert (done.interactions, done.chunks) == (0, 0), "the hash of what was added piece by piece is that of all"
    same_as_one_run(rig)


@pytest.mark.parametrize("kind", ["direct", "group"])
@pytest.mark.parametrize("seed", range(2))
def test_any_order_leaves_the_chunks_of_one_run(rig: AtOnce, kind: str, seed: int) -> None:
    """Conversations that late messages join are left to their days."""
    dice = random.Random(seed)
    lines = of_all_lengths(kind, dice)
    later = [lines.pop(dice.randrange(len(lines))) for _ in range(5)]
    for part in [*parted(lines, dice), *parted(later, dice)]:
        rig.take(part)
        rig.at_once()
    rig.chunk()
    assert rig.due() == []
    same_as_one_run(rig)


@pytest.mark.parametrize("kind", ["direct", "group"])
def test_only_the_new_message_and_two_passages_before_are_touched(rig: AtOnce, kind: str) -> None:
    said = [line("c", number, minute=number, sender=PEOPLE[number % 2], chat_kind=kind) for number in range(60)]
    rig.load(said[:-1])
    rig.chunk()
    rig.take(said[-1:])
    embedder = WordEmbedder()
    done = rig.at_once(embedder)
    assert done is not None
    assert (done.chunks, done.kept, done.embedded, len(embedder.texts)) == (3, 0, 3, 3)
    assert rig.value("SELECT min(chunks) FROM chunk_states") == 60
    assert (rig.due(), rig.later()) == ([], ["2026-01-10"]), "the day is looked at whole later"
    same_as_one_run(rig)


def test_messages_without_words_in_between_have_all_read(rig: AtOnce) -> None:
    words = [f"said {number}" if number < 5 else "" for number in range(25)]
    said = [line("c", number, minute=number, sender=PEOPLE[number % 2], text=text) for number, text in enumerate(words)]
    rig.load(said)
    rig.chunk()
    rig.take([line("c", 25, minute=25, sender="ann", text="after all")])
    assert rig.at_once() is not None
    same_as_one_run(rig)


def test_a_new_conversation_and_a_late_message_are_made_at_once_too(rig: AtOnce) -> None:
    said = [line("c", number, minute=number * 100, sender=PEOPLE[number % 2]) for number in range(8)]
    for part in (said[:1], said[5:7], said[1:3], said[3:5], said[7:]):
        rig.take(part)
        assert (rig.at_once() is None) == (part == said[3:5]), "which joins two"
        rig.chunk()
    same_as_one_run(rig)


def test_what_changed_otherwise_is_left_to_its_day(rig: AtOnce) -> None:
    said = [line("c", number, minute=number, sender=PEOPLE[number % 2]) for number in range(9)]
    rig.load(said[:-1])
    rig.chunk()
    rig.summarise()
    rig.take(said[-1:])
    assert rig.at_once() is None
    assert rig.due() == ["2026-01-10"]
    assert rig.chunk().chunks == 11
    same_as_one_run(rig)


def test_chunks_that_another_holds_and_chunks_without_a_vector_are_left_to_their_day(rig: AtOnce) -> None:
    said = [line("c", number, minute=number, sender=PEOPLE[number % 2]) for number in range(9)]
    rig.load(said[:-2])
    rig.chunk()
    (interaction,) = rig.rows("SELECT id FROM interactions")[0]
    rig.take(said[-2:-1])
    with rig.chunk_store.hold([interaction]):
        assert rig.at_once() is None
    rig.take(said[-1:])
    assert rig.at_once() is None, "the one before is not in the chunks"
    assert rig.chunk().pending == 0
    rig.take([line("c", 10, minute=10, sender="ann", text="refused")])
    assert rig.at_once() is None
    assert rig.due() == ["2026-01-10"]


@pytest.mark.parametrize("point", AT_ONCE)
def test_killed_anywhere_its_day_ends_as_if_made_from_nothing(rig: AtOnce, point: str) -> None:
    said = [line("c", number, minute=number, sender=PEOPLE[number % 2]) for number in range(9)]
    rig.load(said[:-1])
    rig.chunk()
    rig.take(said[-1:])
    killed("recall.chunk_worker", rig.url, point)
    rig.wait_for_the_dead()
    assert rig.due() == ["2026-01-10"]
    assert rig.chunk().pending == 0
    same_as_one_run(rig)
