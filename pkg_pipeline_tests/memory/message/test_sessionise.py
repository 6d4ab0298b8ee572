"""Where a silence ends an interaction: tables with the arithmetic in the row, and what holds for any times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.message.sessionise import is_completed, stretches

START = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
GAP = timedelta(seconds=10)
US = timedelta(microseconds=1)


def cut(seconds: list[float]) -> list[list[float]]:
    found = stretches(seconds, sent_at=lambda second: START + timedelta(seconds=second), gap=GAP)
    return [list(stretch) for stretch in found]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], []),
        ([0], [[0]]),
        ([0, 10], [[0, 10]]),  # exactly the gap
        ([0, 10.000001], [[0], [10.000001]]),  # one microsecond more
        ([0, 5, 15, 25, 36], [[0, 5, 15, 25], [36]]),  # gaps 5, 10, 10, 11
        ([0, 0, 0], [[0, 0, 0]]),  # one second holds many
        ([0, 11, 22], [[0], [11], [22]]),
    ],
)
def test_a_silence_longer_than_the_gap_splits(seconds: list[float], expected: list[list[float]]) -> None:
    assert cut(seconds) == expected


@pytest.mark.parametrize(("silence", "completed"), [(GAP - US, False), (GAP, False), (GAP + US, True)])
def test_an_interaction_is_completed_by_a_silence_longer_than_the_gap(silence: timedelta, *, completed: bool) -> None:
    assert is_completed(START, START + silence, GAP) is completed


def test_times_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="order of time"):
        cut([1, 0])


def test_a_stretch_is_read_while_it_is_used() -> None:
    """A chat of a million messages must not be held: the source is asked for one message at a time."""
    taken: list[int] = []

    def source() -> object:
        for second in (0, 1, 100, 101):
            taken.append(second)
            yield second

    seen: list[tuple[int, int]] = []
    for stretch in stretches(source(), sent_at=lambda second: START + timedelta(seconds=second), gap=GAP):  # type: ignore[arg-type]
        seen.extend((second, len(taken)) for second in stretch)
    assert seen == [(0, 1), (1, 2), (100, 3), (101, 4)]


@given(st.lists(st.integers(0, 200), max_size=40).map(sorted))
def test_every_message_once_in_order_gaps_inside_short_and_between_long(seconds: list[int]) -> None:
    found = cut([float(second) for second in seconds])
    assert [second for stretch in found for second in stretch] == seconds
    for stretch in found:
        assert all(later - earlier <= 10 for earlier, later in pairwise(stretch))
    assert all(after[0] - before[-1] > 10 for before, after in pairwise(found))
