"""What is indexed of an interaction: passages with a bounded piece of what is around them, under ids that stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count, islice
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.recall.chunking import ChunkedInteraction, derived_chunks, message_chunks
from pkg_pipeline.memory.recall.records import Chunk, ChunkedMessage, DerivedText
from pkg_pipeline.memory.text.passages import first_words, last_words, passages

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
CHAT, ANNA, BORIS, SUBJECT = (UUID(int=number) for number in (9, 2, 1, 7))
TALK = ChunkedInteraction(UUID(int=3), CHAT, "telegram", "chat 1", ("contract",))

TEXTS = st.lists(
    st.builds(
        lambda word, times: " ".join([word] * times), st.sampled_from(["ok", "", "да.", "合同"]), st.integers(1, 320)
    )
    | st.text(max_size=20),
    max_size=8,
)


def message(number: int, text: str, **changes: Any) -> ChunkedMessage:
    first = ChunkedMessage(
        id=number,
        external_id=f"m{number}",
        sender_entity_id=ANNA,
        speaker="Anna",
        sent_at=START + timedelta(minutes=number),
        text=text,
        importance=0.5,
        is_tool_result=False,
        entity_ids=(ANNA, BORIS),
    )
    return replace(first, **changes)


def talk(texts: Sequence[str]) -> list[ChunkedMessage]:
    return [message(number, text) for number, text in enumerate(texts)]


def chunked(*texts: str) -> list[Chunk]:
    return list(message_chunks(TALK, talk(texts)))


def flat(text: str) -> str:
    return " ".join(text.split())


def oracle(messages: Sequence[ChunkedMessage]) -> list[tuple[int, int, str, str, str]]:
    """Message, passage, own, around, indexed, with everything in memory at once."""
    cuts = [(m, n, m.text[a:b]) for m in messages for n, (a, b) in enumerate(passages(m.text))]
    found: list[tuple[int, int, str, str, str]] = []
    for at, (one, number, own) in enumerate(cuts):
        before = [flat(last_words(text, 25)) for _, _, text in cuts[max(0, at - 2) : at]]
        behind = [flat(first_words(text, 25)) for _, _, text in cuts[at + 1 : at + 3]]
        lines = "\n".join(f"Anna: {words}" for words in (*before, own, *behind))
        found.append((one.id, number, own, "\n".join(before + behind), lines))
    return found


@settings(deadline=None, max_examples=100)
@given(TEXTS)
def test_streaming_says_what_the_whole_would(texts: list[str]) -> None:
    messages = talk(texts)
    found = [(c.message_ids[0], c.passage, c.own, c.around, c.indexed) for c in message_chunks(TALK, iter(messages))]
    assert found == oracle(messages)


@settings(deadline=None, max_examples=100)
@given(TEXTS)
def test_ids_differ_and_do_not_rest_on_the_databases_numbers(texts: list[str]) -> None:
    messages = talk(texts)
    ids = [chunk.id for chunk in message_chunks(TALK, messages)]
    assert len(set(ids)) == len(ids)
    assert ids == [chunk.id for chunk in message_chunks(TALK, [replace(m, id=m.id + 1000) for m in messages])]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(["ok", "нет", "contract signed", "合同"]), min_size=1, max_size=12), st.data())
def test_an_edit_changes_the_chunk_and_those_within_reach(texts: list[str], data: st.DataObject) -> None:
    edited = data.draw(st.integers(0, len(texts) - 1))
    before = chunked(*texts)
    after = chunked(*texts[:edited], "edited words", *texts[edited + 1 :])
    pairs = list(zip(before, after, strict=True))
    assert [at for at, (a, b) in enumerate(pairs) if a.index_hash != b.index_hash] == [
        at for at in range(len(texts)) if abs(at - edited) <= 2
    ]
    assert [at for at, (a, b) in enumerate(pairs) if a.id != b.id] == [edited]


def test_the_generator_reads_two_passages_ahead_and_no_further() -> None:
    read = 0

    def endless() -> Iterator[ChunkedMessage]:
        nonlocal read
        for read in count(1):
            yield message(read, "one line")

    chunks = message_chunks(TALK, endless())
    assert [chunk.message_ids for chunk in islice(chunks, 5)] == [(number,) for number in range(1, 6)]
    assert read == 7


def test_a_message_with_what_is_around_it() -> None:
    one, two, three, four = list(
        message_chunks(
            TALK,
            [
                message(1, "Lunch?\nAt one"),
                message(2, " \n "),
                message(3, "  Yes \n", speaker=""),
                message(4, "Where", speaker="Boris\nIvanov"),
                message(5, "a b", is_tool_result=True),
            ],
        )
    )
    assert three.own == "Where"
    assert three.around == "Lunch? At one\nYes\na b"
    assert three.indexed == "Anna: Lunch? At one\nYes\nBoris Ivanov: Where\nAnna: a b"
    assert (one.own, one.indexed) == ("Lunch?\nAt one", "Anna: Lunch?\nAt one\nYes\nBoris Ivanov: Where")
    assert (two.own, two.start_char, two.end_char, two.content) == ("Yes", None, None, None)
    assert four.around == "Yes\nWhere"
    assert [chunk.source for chunk in (one, two, three, four)] == ["message", "message", "message", "tool_result"]
    assert [chunk.message_ids for chunk in (one, two, three, four)] == [(1,), (3,), (4,), (5,)]
    assert (one.scopes, one.topics, one.sender_entity_id) == ((BORIS, ANNA, CHAT), ("contract",), ANNA)
    assert (one.passage, one.passages, one.importance, one.is_withheld) == (0, 1, 0.5, False)


def test_passages_of_a_long_message_are_ranges_and_lend_each_other_words() -> None:
    text = " " + " ".join(f"w{number}" for number in range(250))
    chunks = chunked("before", text, "behind")
    pieces = chunks[1:4]
    assert [(c.passage, c.passages) for c in pieces] == [(0, 3), (1, 3), (2, 3)]
    assert [text[c.start_char : c.end_char] for c in pieces] == [c.own for c in pieces]
    lent = (" ".join(f"w{n}" for n in range(a, a + 25)) for a in (100, 200))
    assert pieces[0].around.split("\n") == ["before", *lent]
    lent_back = (" ".join(f"w{n}" for n in range(a, a + 25)) for a in (75, 175))
    assert pieces[2].around.split("\n") == [*lent_back, "behind"]


def test_two_equal_messages_and_two_equal_passages_stay_apart() -> None:
    same = chunked("ok", "ok", "ok " * 300)
    assert len({chunk.id for chunk in same}) == len(same) == 5
    assert same[0].content_hash == same[1].content_hash


def test_a_name_as_long_as_a_text_is_cut() -> None:
    (only,) = message_chunks(TALK, [message(1, "hi", speaker="x" * 100_000)])
    assert only.indexed == "x" * 72 + ": hi"


HASH_PARTS = [
    ({"text": "Other words"}, True),
    ({"speaker": "Boris"}, True),
    ({"entity_ids": (ANNA,)}, True),
    ({"sent_at": START}, True),
    ({"sent_at": (START + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=8)))}, False),
    ({"entity_ids": (BORIS, ANNA, BORIS)}, False),
    ({"importance": 0.9}, False),
    ({"id": 77}, False),
]


@pytest.mark.parametrize(("change", "is_new"), HASH_PARTS)
def test_what_makes_a_vector_outdated(change: dict[str, Any], is_new: bool) -> None:
    (before,) = message_chunks(TALK, [message(1, "Words")])
    (after,) = message_chunks(TALK, [replace(message(1, "Words"), **change)])
    assert (before.index_hash != after.index_hash) is is_new


def derived(text: str, **changes: Any) -> DerivedText:
    first = DerivedText("decision", SUBJECT, START, text, (4, 5), (ANNA, BORIS), 0.7, ("price",), is_withheld=True)
    return replace(first, **changes)


def test_what_was_derived_is_indexed_by_itself() -> None:
    (chunk,) = derived_chunks(TALK, [derived(" We sign. ")])
    assert (chunk.content, chunk.own, chunk.indexed, chunk.around) == ("We sign.", "We sign.", "We sign.", "")
    assert (chunk.source, chunk.subject_id, chunk.message_ids) == ("decision", SUBJECT, (4, 5))
    assert (chunk.scopes, chunk.topics, chunk.is_withheld) == ((BORIS, ANNA, CHAT), ("price",), True)
    assert (chunk.at, chunk.importance, chunk.sender_entity_id) == (START, 0.7, None)


def test_a_long_summary_is_cut_and_an_empty_one_has_no_chunk() -> None:
    chunks = list(derived_chunks(TALK, [derived(""), derived("word " * 250, source="summary")]))
    assert [len((chunk.content or "").split()) for chunk in chunks] == [100, 100, 50]
    assert len({chunk.id for chunk in chunks}) == 3


def test_equal_words_of_two_items_stay_apart() -> None:
    twice = [derived("Call"), derived("Call", subject_id=UUID(int=8)), derived("Call", source="action_item")]
    assert len({chunk.id for chunk in derived_chunks(TALK, twice)}) == 3


def test_messages_come_first_and_lend_nothing_to_what_was_derived() -> None:
    chunks = [*message_chunks(TALK, [message(1, "hi")]), *derived_chunks(TALK, [derived("We sign.")])]
    assert [(chunk.source, chunk.around) for chunk in chunks] == [("message", ""), ("decision", "")]


def test_ids_stay_from_release_to_release() -> None:
    (said,) = message_chunks(TALK, [message(1, "Words")])
    (decided,) = derived_chunks(TALK, [derived("Words")])
    assert str(said.id) == "0cf63201-3dc4-50c7-8db2-65d3866237af"
    assert str(decided.id) == "f46b329c-de9a-5d11-8210-8bf6fae508f8"
    assert said.index_hash == "d2dd14d092a9"
