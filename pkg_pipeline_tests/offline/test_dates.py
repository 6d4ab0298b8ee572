"""Dates as people write them, relative to Monday 11 March 2024. The right column is what a reader would put down."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.dates import due_date, find_dates

MONDAY = date(2024, 3, 11)


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("ru", "Пришлю завтра", date(2024, 3, 12)),
        ("ru", "послезавтра утром", date(2024, 3, 13)),
        ("ru", "сделаю до пятницы", date(2024, 3, 15)),
        ("ru", "во вторник на следующей неделе", date(2024, 3, 19)),
        ("ru", "к 15 марта", date(2024, 3, 15)),
        ("ru", "до 20-го", date(2024, 3, 20)),
        ("ru", "через две недели", date(2024, 3, 25)),
        ("ru", "до конца месяца", date(2024, 3, 31)),
        ("ru", "оплата 05.04.2024", date(2024, 4, 5)),
        ("ru", "на следующей неделе", None),
        ("en", "I'll send it tomorrow", date(2024, 3, 12)),
        ("en", "by Friday please", date(2024, 3, 15)),
        ("en", "next Wednesday", date(2024, 3, 20)),
        ("en", "on Monday", date(2024, 3, 18)),
        ("en", "no later than March 28th", date(2024, 3, 28)),
        ("en", "the 5th of January", date(2025, 1, 5)),
        ("en", "in 10 days", date(2024, 3, 21)),
        ("en", "by the end of the week", date(2024, 3, 15)),
        ("en", "sometime next week", None),
        ("en", "I ate 3 apples and 4/4 was the beat", date(2024, 4, 4)),
        ("zh", "周五前给我", date(2024, 3, 15)),
        ("zh", "下周三开会", date(2024, 3, 20)),
        ("zh", "我明天发给你", date(2024, 3, 12)),
        ("zh", "三月二十号交", date(2024, 3, 20)),
        ("zh", "月底之前", date(2024, 3, 31)),
        ("zh", "三天后", date(2024, 3, 14)),
        ("zh", "二号楼", None),
    ],
)
def test_when_something_is_due(language: Language, text: str, day: date | None) -> None:
    assert due_date(text, language, MONDAY) == day


def test_a_deadline_goes_before_a_plain_date() -> None:
    assert due_date("We meet on Tuesday, send it by Thursday", "en", MONDAY) == date(2024, 3, 14)


def test_what_is_past_is_no_due_date() -> None:
    assert due_date("вчера отправил", "ru", MONDAY) is None
    assert [found.day for found in find_dates("вчера", "ru", MONDAY)] == [date(2024, 3, 10)]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["ru", "en", "zh"]), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_no_text_breaks_the_rules_and_no_two_dates_overlap(text: str, language: Language, today: date) -> None:
    found = find_dates(text, language, today)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= f.start < f.end <= len(text) for f in found)
