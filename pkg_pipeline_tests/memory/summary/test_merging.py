"""P18, P28: splitting loses no message, merging loses nothing known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.records import ImportantMessage, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.merging import MAX_KEY_POINTS, MAX_WORDS, merge_parts, still_important
from pkg_pipeline.memory.summary.splitting import halves, split_conversation
from pkg_pipeline.memory.text.normalise import word_count
from pkg_pipeline_tests.memory.conversations import ANNA, ENGLISH, ME, RUSSIAN, START, conversation


def talk(*texts: str) -> SummaryInput:
    return conversation(*((ANNA if index % 2 else ME, text) for index, text in enumerate(texts)), language="en")


def content(summary: str = "They talked.", **parts: object) -> SummaryContent:
    empty: dict[str, object] = {
        "key_points": (),
        "tone": "neutral",
        "important_messages": (),
    }
    return SummaryContent(summary=summary, **{**empty, **parts})  # type: ignore[arg-type]


# sizes of the split_conversation of n messages, at most k each
CUTS = [
    (3, 5, [3]),
    (5, 5, [5]),
    (6, 5, [3, 3]),
    (11, 5, [5, 3, 3]),
    (12, 5, [5, 5, 2]),
    (1203, 500, [500, 500, 203]),
    (501, 500, [251, 250]),
]


@pytest.mark.parametrize(("count", "most", "sizes"), CUTS)
def test_windows_are_filled_from_the_start_and_a_short_last_one_is_evened(count, most, sizes) -> None:
    source = talk(*(f"text {index}" for index in range(count)))
    cut = split_conversation(source, most_messages=most, most_tokens=10**6, tokens=[1] * count)
    assert [len(part.messages) for part in cut] == sizes


@given(
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=40),
    st.integers(1, 12),
    st.integers(1, 50),
)
def test_windows_hold_every_message_whole_and_in_order(texts: list[str], most_messages: int, most_tokens: int) -> None:
    source = talk(*texts)
    tokens = [len(text) for text in texts]
    cut = split_conversation(source, most_messages=most_messages, most_tokens=most_tokens, tokens=tokens)
    pieces = [message for part in cut for message in part.messages]
    assert "".join(message.text for message in pieces) == "".join(texts)
    for message in source.messages:
        assert "".join(piece.text for piece in pieces if piece.external_id == message.external_id) == message.text
    if len(cut) > 1:
        assert all(len(part.messages) <= most_messages + 1 for part in cut)
        assert all([m.number for m in part.messages] == list(range(1, len(part.messages) + 1)) for part in cut)
        assert all(part.started_at <= part.ended_at for part in cut)


def test_a_message_more_leaves_the_names_of_earlier_windows_alone() -> None:
    """Their answers were paid for and are replayed (B8)."""
    texts = [f"text {index}" for index in range(25)]

    def names(count: int) -> list[str]:
        cut = split_conversation(talk(*texts[:count]), most_messages=10, most_tokens=999, tokens=[1] * count)
        return [part.input_hash for part in cut]

    assert names(24)[:2] == names(25)[:2]
    assert len(set(names(25))) == 3


def test_halves_cut_a_long_message_and_leave_a_short_one() -> None:
    assert [len(part.messages) for part in halves(talk("a", "b", "c"))] == [2, 1]
    assert len(halves(talk("short"))) == 1
    long = talk("word " * 1000)
    assert "".join(message.text for part in halves(long) for message in part.messages) == long.messages[0].text


def test_one_part_stays_as_it_is() -> None:
    assert merge_parts([only := content()], ENGLISH) is only


NAMES = ("alpha", "beta", "gamma")


def test_texts_and_points_take_from_all_windows_in_turn() -> None:
    parts = [content(f"First of {n}. Second of {n}.", key_points=tuple(f"{n}-{i}" for i in range(7))) for n in NAMES]
    merged = merge_parts(parts, ENGLISH)
    assert merged.summary == "First of alpha. Second of alpha. First of beta. First of gamma."
    assert len(merged.key_points) == MAX_KEY_POINTS
    assert [sum(point.startswith(n) for point in merged.key_points) for n in NAMES] == [5, 5, 5]


def test_an_important_message_that_was_cut_keeps_its_whole_text() -> None:
    piece = ImportantMessage("m1", RUSSIAN.messages[0].text[:10], START, "agreement")
    merged = merge_parts([content(important_messages=(piece,)), content(important_messages=(piece,))], RUSSIAN)
    assert [message.content for message in merged.important_messages] == [RUSSIAN.messages[0].text]


_WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "omega"]), min_size=1, max_size=60)
_PARTS = st.builds(
    lambda words, points, important, tone: content(
        " ".join(words).capitalize() + ".",
        key_points=tuple(points),
        important_messages=tuple(ImportantMessage(key, key, START, "agreement") for key in important),
        tone=tone,
    ),
    _WORDS,
    st.lists(st.text("abc ", min_size=1, max_size=5), max_size=7),
    st.lists(st.sampled_from(["m1", "m2", "m3"]), max_size=3, unique=True),
    st.sampled_from(["positive", "neutral", "formal"]),
)


@given(st.lists(_PARTS, min_size=1, max_size=6))
def test_limits_hold_and_every_important_message_stays_once(parts: list[SummaryContent]) -> None:
    merged = merge_parts(parts, ENGLISH)
    assert word_count(merged.summary) <= MAX_WORDS
    assert len(merged.key_points) <= MAX_KEY_POINTS
    assert merged.tone in {part.tone for part in parts}
    kept = [message.message_id for message in merged.important_messages]
    assert len(kept) == len(set(kept))
    assert set(kept) == {message.message_id for part in parts for message in part.important_messages}


@given(st.lists(_PARTS, min_size=1, max_size=4))
def test_merging_with_itself_adds_nothing(parts: list[SummaryContent]) -> None:
    once = merge_parts([*parts, *parts], ENGLISH)
    twice = merge_parts([once, once], ENGLISH)
    assert twice.important_messages == once.important_messages
    assert set(twice.key_points) == set(once.key_points)


def test_an_important_message_stays_while_its_text_is_unchanged() -> None:
    known = [ImportantMessage(key, f"text of {key}", START, "deadline") for key in ("m1", "m2", "m3")]
    made = ImportantMessage("m1", "text of m1", START, "agreement")
    texts = {"m1": "text of m1", "m2": "text of m2", "m3": "another text"}
    kept = still_important([content(important_messages=tuple(known))], [made], texts)
    assert [(one.message_id, one.reason) for one in kept] == [("m1", "agreement"), ("m2", "deadline")]
