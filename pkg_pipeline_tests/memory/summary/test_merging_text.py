"""P13, P18, P28: the text of many windows, key points old and new."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.summary.merging import (
    MAX_KEY_POINTS,
    MAX_SENTENCES,
    MAX_WORDS,
    MERGED_AT_ONCE,
    Part,
    in_groups,
    merge_input,
    merge_parts,
    united_points,
)
from pkg_pipeline.memory.summary.splitting import split_messages
from pkg_pipeline.memory.text.normalise import sentences, word_count
from pkg_pipeline_tests.memory.conversations import ENGLISH, START
from pkg_pipeline_tests.memory.summary.test_merging import content, talk

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def test_the_text_of_many_windows_is_four_sentences_spread_over_all() -> None:
    parts = [content(f"Part {word} told this. It told more.", key_points=(word,)) for word in NUMBERS]
    merged = merge_parts(parts, ENGLISH)
    assert merged.summary == "Part zero told this. Part four told this. Part eight told this. Part twelve told this."
    many = [content(f"Window {n} spoke.", key_points=(f"point {n}",)) for n in range(200)]
    points = merge_parts(many, ENGLISH).key_points
    assert (len(points), points[0], points[7], points[-1]) == (MAX_KEY_POINTS, "point 0", "point 100", "point 199")


@given(st.lists(st.lists(st.sampled_from(["Alpha beta gamma.", "Delta omega went home.", "X " * 35 + "end."]),
                         min_size=1, max_size=5), min_size=1, max_size=30))  # fmt: skip
def test_the_text_keeps_its_limits_whatever_the_windows_say(texts: list[list[str]]) -> None:
    parts = [content(" ".join(said).capitalize()) for said in texts]
    if len(parts) == 1:
        return
    merged = merge_parts(parts, ENGLISH)
    assert 0 < word_count(merged.summary) <= MAX_WORDS
    assert len(sentences(merged.summary)) <= MAX_SENTENCES


# known points, new ones → how many of each are kept
POINTS = [(3, 2, 3, 2), (15, 0, 15, 0), (15, 2, 13, 2), (14, 7, 8, 7), (0, 7, 0, 7), (15, 15, 0, 15)]


@pytest.mark.parametrize(("known", "new", "old_kept", "new_kept"), POINTS)
def test_points_are_united_up_to_fifteen_and_new_ones_are_among_them(known, new, old_kept, new_kept) -> None:
    old, fresh = [f"old {n}" for n in range(known)], [f"new {n}" for n in range(new)]
    points, gave_way = united_points(old, fresh)
    assert [sum(point.startswith(word) for point in points) for word in ("old", "new")] == [old_kept, new_kept]
    assert gave_way == known - old_kept
    assert united_points(points, fresh) == (points, 0)
    assert united_points(points, [f"  {point.upper()}" for point in points])[0] == points


@given(st.integers(1, 500))
def test_groups_hold_every_part_in_order_and_are_nearly_equal(count: int) -> None:
    parts = [Part(content(str(n)), START, START) for n in range(count)]
    groups = in_groups(parts)
    assert [part for group in groups for part in group] == parts
    sizes = [len(group) for group in groups]
    assert max(sizes) <= MERGED_AT_ONCE
    assert max(sizes) - min(sizes) <= 1


def test_parts_to_be_told_as_one_are_messages_with_their_own_hash() -> None:
    parts = [Part(content(f"Part {n}."), START + timedelta(days=n), START + timedelta(days=n)) for n in range(3)]
    merge = merge_input(ENGLISH, parts)
    assert [message.text for message in merge.source.messages] == ["Part 0.", "Part 1.", "Part 2."]
    assert merge.source.input_hash != merge_input(ENGLISH, parts[:2]).source.input_hash


def test_windows_are_cut_from_a_stream_two_at_a_time() -> None:
    """A hundred thousand messages pass by without being held."""
    source = talk(*(f"text {index}" for index in range(100)))
    taken: list[int] = []

    def stream():
        for message in source.messages:
            taken.append(message.number)
            yield message, 1

    cut = split_messages(stream(), most_messages=10, most_tokens=10**6)
    assert [message.number for message in next(cut)] == list(range(1, 11))
    assert len(taken) <= 21
    assert [len(group) for group in cut] == [10] * 9
