"""Chunks follow what was said: made once, made anew where something changed, and never left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pkg_pipeline.memory import hashing
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, Line, line
from pkg_pipeline_tests.stages.recall.chunk_rig import ChunkRig, WordEmbedder

DAY = 24 * 60
TALK = [
    line("c1", 1, minute=0, sender="ann", text="Shall we go to Lisbon?"),
    line("c1", 2, minute=1, sender="bob", text="By train, in May."),
    line("c1", 3, minute=2, sender="ann", text="Tickets are 120 euros."),
    line("c1", 4, minute=DAY, sender="bob", text="I booked the tickets."),
]


@pytest.fixture
def rig(database_url: str) -> Iterator[ChunkRig]:
    made = ChunkRig(database_url)
    yield made
    made.close()


def same_as_from_nothing(rig: ChunkRig) -> None:
    """What was brought up to date piece by piece is what one run over an empty table makes."""
    rig.recount()
    found = rig.logical()
    rig.forget_chunks()
    rig.chunk()
    assert found == rig.logical()


def test_messages_are_found_by_their_words_and_those_around_and_belong_to_both(rig: ChunkRig) -> None:
    rig.load(TALK)
    assert rig.due() == ["2026-01-10", "2026-01-11"]
    embedder = WordEmbedder()
    done = rig.chunk(embedder)
    assert (done.interactions, done.chunks, done.kept, done.embedded, done.pending) == (2, 4, 0, 4, 0)
    assert rig.due() == []
    assert embedder.texts[1] == "Ann: Shall we go to Lisbon?\nBob: By train, in May.\nAnn: Tickets are 120 euros."
    people = sorted(hashing.entity_id("jsonl", name) for name in ("ann", "bob"))
    scopes = rig.rows("SELECT DISTINCT scopes FROM memory_chunks")
    assert scopes == [([*people, hashing.chat_id("jsonl", "c1")],)]
    assert rig.value("SELECT count(*) FROM speaker_terms") == 4, "ann, and bob, who may be called robert"
    assert rig.rows("SELECT content FROM memory_chunk_texts ORDER BY at") == [(one["text"],) for one in TALK]
    rig.recount()


def test_a_second_run_finds_nothing_to_do(rig: ChunkRig) -> None:
    rig.load(TALK)
    rig.chunk()
    before, embedder = rig.logical(), WordEmbedder()
    done = rig.chunk(embedder)
    assert (done.interactions, done.chunks, embedder.texts) == (0, 0, [])
    rig.run("UPDATE chunk_states SET input_hash = 'another'")
    done = rig.chunk(embedder)
    assert (done.chunks, done.kept, embedder.texts) == (4, 4, [])
    assert rig.logical() == before


def _edit(rig: ChunkRig) -> None:
    rig.take([{**TALK[1], "text": "By boat, in June.", "edited_at": "2026-02-01T00:00:00Z"}])


def _delete(rig: ChunkRig) -> None:
    rig.take([{**TALK[2], "deleted": True}])


def _say_late(rig: ChunkRig) -> None:
    rig.take([line("c1", "1b", minute=1.5, sender="ann", text="Or by plane?")])


def _join(rig: ChunkRig) -> None:
    """What was said in between makes one interaction of two: the later one vanishes."""
    hours = range(2, 24, 3)
    rig.take([line("c1", f"at-{hour}", minute=hour * 60, sender="bob", text=f"hour {hour}") for hour in hours])


def _rename(rig: ChunkRig) -> None:
    rig.take([{**line("c2", 9, minute=3 * DAY, sender="bob", text="hello"), "sender_name": "Robert"}])


def _summarise(rig: ChunkRig) -> None:
    rig.summarise()


def _summarise_otherwise(rig: ChunkRig) -> None:
    rig.summarise()
    rig.chunk()
    rig.summarise("They will fly instead.")


CHANGES: dict[str, tuple[Callable[[ChunkRig], None], set[str], int]] = {
    # the change, the days that are due, chunks afterwards
    "edited": (_edit, {"2026-01-10"}, 4),
    "deleted": (_delete, {"2026-01-10"}, 3),
    "late": (_say_late, {"2026-01-10"}, 5),
    "joined": (_join, {"2026-01-10", "2026-01-11"}, 12),
    "renamed": (_rename, {"2026-01-10", "2026-01-11", "2026-01-13"}, 5),
    "summarised": (_summarise, {"2026-01-10", "2026-01-11"}, 8),
    "summarised otherwise": (_summarise_otherwise, {"2026-01-10", "2026-01-11"}, 8),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_marks_its_days_and_they_end_as_if_made_from_nothing(rig: ChunkRig, change: str) -> None:
    rig.load(TALK)
    rig.chunk()
    make, days, chunks = CHANGES[change]
    make(rig)
    rig.build()
    assert set(rig.due()) == days
    done = rig.chunk()
    assert done.pending == 0
    assert rig.due() == []
    assert rig.value("SELECT count(*) FROM memory_chunks") == chunks
    assert rig.value("SELECT count(*) FROM chunk_embeddings") == chunks
    same_as_from_nothing(rig)


def test_a_deleted_message_goes_at_once_and_what_rests_on_it_is_withheld(rig: ChunkRig) -> None:
    """Before anybody looked at its chat again."""
    rig.load(TALK)
    rig.summarise()
    rig.chunk()
    rig.take([{**TALK[0], "deleted": True}])
    assert "2026-01-10" in rig.due()
    rig.chunk()
    assert rig.value("SELECT count(*) FROM memory_chunks WHERE source = 'message'") == 3
    assert rig.rows("SELECT DISTINCT source FROM memory_chunks WHERE is_withheld ORDER BY 1") == [
        ("decision",),
        ("summary",),
    ]


def test_all_of_a_conversation_carries_the_topics_of_its_summary(rig: ChunkRig) -> None:
    rig.load(TALK)
    rig.chunk()
    assert rig.rows("SELECT DISTINCT topics FROM memory_chunks") == [([],)]
    rig.summarise()
    done = rig.chunk()
    assert (done.kept, done.embedded) == (0, 4), "vectors of the messages stay as they are"
    assert rig.rows("SELECT DISTINCT topics FROM memory_chunks") == [(["trip to lisbon"],)]


def test_order_of_arrival_makes_no_difference(rig: ChunkRig) -> None:
    """Messages of one second among them."""
    said = [*TALK, line("c1", 5, minute=1, text="At the same moment"), line("c2", 1, minute=5, text="elsewhere")]
    rig.load(said)
    rig.chunk()
    before = rig.logical()
    rig.empty()
    for one in reversed(said):
        rig.load([one])
        rig.chunk()
    assert rig.logical() == before


def test_active_interactions_are_searched_at_once(rig: ChunkRig) -> None:
    minutes = (NOW.timestamp() - 600 - 1768035600) / 60  # ten minutes ago
    rig.load([line("c1", 1, minute=minutes, text="just now")])
    assert rig.value("SELECT status FROM interactions") == "active"
    assert rig.due() == ["2026-03-15"]
    assert rig.chunk().chunks == 1


def group(number: int, sender: str, text: str) -> Line:
    return line("g", number, minute=number, sender=sender, text=text, chat_kind="group")


def test_of_a_group_a_chunk_belongs_to_those_its_message_does(rig: ChunkRig) -> None:
    rig.load([group(number, sender, f"words {number}") for number, sender in enumerate(["ann", "bob", "cid"] * 5)])
    rig.chunk()
    wrong = rig.rows(
        "SELECT c.no FROM memory_chunks c WHERE c.scopes <> ARRAY(SELECT entity_id FROM message_entities b"
        " WHERE b.message_id = c.message_ids[1] ORDER BY 1) || c.chat_id"
    )
    assert wrong == []


def test_mass_chats_have_none_and_get_them_back(rig: ChunkRig) -> None:
    rig.load([*TALK, *(group(number, f"p{number}", "advertisement") for number in range(4))])
    rig.chunk()
    before = rig.logical()
    rig.interactions.set_category(hashing.chat_id("jsonl", "g"), "mass")
    rig.build()
    assert rig.due() != []
    rig.chunk()
    assert rig.value("SELECT count(*) FROM memory_chunks") == 4
    rig.recount()
    rig.interactions.set_category(hashing.chat_id("jsonl", "g"), None)
    rig.build()
    rig.chunk()
    after = rig.logical()
    assert {name: len(rows) for name, rows in after.items()} == {name: len(rows) for name, rows in before.items()}


def test_a_text_that_went_with_its_month_is_found_no_more(rig: ChunkRig) -> None:
    rig.load(TALK)
    rig.chunk()
    rig.run(
        "UPDATE messages SET is_archived = true, archived_month = '2026-01-01', content = '[archived]'"
        " WHERE external_id <> '4'"
    )
    rig.run("INSERT INTO archive_months (month, state, dropped_at) VALUES ('2026-01-01', 'dropped', now())")
    assert rig.chunk().removed == 3
    assert rig.rows("SELECT content FROM memory_chunk_texts") == [("I booked the tickets.",)]


def test_what_it_is_indexed_by_makes_all_days_due_once(rig: ChunkRig) -> None:
    assert rig.chunk_store.mark_outdated("1 model-a")
    rig.load(TALK)
    rig.chunk()
    assert not rig.chunk_store.mark_outdated("1 model-a")
    assert rig.due() == []
    assert rig.chunk_store.mark_outdated("2 model-a")
    assert rig.due() == ["2026-01-10", "2026-01-11"]


def test_long_messages_are_passages_with_their_places(rig: ChunkRig) -> None:
    text = " ".join(f"Sentence number {number} has some words." for number in range(100))
    rig.load([line("c1", 1, text=text)])
    rig.chunk()
    rows = rig.rows("SELECT passage, passages, start_char, end_char FROM memory_chunks ORDER BY 1")
    assert len(rows) == rows[0][1] > 4
    assert " ".join(text[start:end] for _, _, start, end in rows) == text
    shown = rig.rows("SELECT t.content FROM memory_chunk_texts t JOIN memory_chunks c USING (id) ORDER BY c.start_char")
    assert " ".join(one for (one,) in shown) == text
