"""How often people are in touch: the word is true on the day it is read, whatever came before (P21, B19)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.profile.frequency import RHYTHMS, SILENT_DAYS, frequency_of
from pkg_pipeline.memory.profile.records import Frequency

FIRST = date(2025, 1, 1)


def seen(days: list[int], today: int) -> Frequency | None:
    return frequency_of([FIRST + timedelta(days=day) for day in days], FIRST + timedelta(days=today))


@pytest.mark.parametrize(
    ("days", "today", "frequency"),
    [
        ([], 9, None),
        ([0], 9, None),  # a single day has no rhythm …
        ([0], 90, "ceased"),  # … but long silence is one
        ([0, 10], 12, None),
        ([0, 1, 2], 3, "daily"),
        ([*range(30)], 30, "daily"),
        ([*range(0, 60, 3)], 60, "several_weekly"),
        ([*range(0, 60, 7)], 60, "weekly"),
        ([*range(0, 100, 10)], 100, "biweekly"),  # ten days are not monthly
        ([*range(0, 100, 14)], 100, "biweekly"),
        ([*range(0, 180, 30)], 160, "monthly"),
        ([0, 1, 30, 31, 60, 61, 90, 91], 95, "biweekly"),  # in pairs of days
        ([*range(0, 400, 75)], 390, "quarterly"),
        ([0, 200, 400], 410, "rare"),
        ([*range(0, 60, 7)], 2_520, "ceased"),  # 2,520 days of silence are not weekly
        ([*range(0, 60, 7)], 56 + 45, "biweekly"),  # silence tells before it is the end
        ([*range(0, 60, 7)], 56 + 90, "ceased"),
        ([*range(0, 400, 75)], 375 + 200, "quarterly"),  # among those who talk seldom, half a year is not the end
        ([*range(0, 60, 1), *range(300, 480, 30)], 470, "monthly"),  # as of late, not as of ever
        ([*range(0, 300, 90), *range(400, 440)], 441, "daily"),
    ],
)
def test_the_word_is_true(days: list[int], today: int, frequency: Frequency | None) -> None:
    assert seen(days, today) == frequency


@given(st.integers(1, 120), st.integers(4, 40))
def test_an_even_rhythm_is_called_by_its_gap(gap: int, count: int) -> None:
    days = [gap * number for number in range(count)]
    expected = next((name for most, name in RHYTHMS if gap <= most), "rare")
    assert seen(days, days[-1]) == seen(days, days[-1] + gap) == expected


@given(st.lists(st.integers(0, 900), min_size=1, max_size=60, unique=True), st.integers(0, 900))
def test_whoever_has_long_been_silent_is_in_touch_no_more_and_stays_so(days: list[int], more: int) -> None:
    days = sorted(days)
    assert seen(days, days[-1] + SILENT_DAYS[1] + more) == "ceased"
    if seen(days, days[-1] + more) == "ceased":
        assert seen(days, days[-1] + more + 1) == "ceased"
    assert seen(days, days[-1]) != "ceased"
