"""Dates as people write them, relative to Monday 11 March 2024; the expected days stand beside the rules."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import LANGUAGES, table
from pkg_pipeline.offline.dates import due_date, find_dates

MONDAY = date(2024, 3, 11)
EXAMPLES = [
    (language, text, day) for language in LANGUAGES for text, day in table("offline", language, "dates")["due"].items()
]


@pytest.mark.parametrize(("language", "text", "day"), EXAMPLES)
def test_when_something_is_due(language: Language, text: str, day: str) -> None:
    assert due_date(text, language, MONDAY) == (date.fromisoformat(day) if day else None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_examples_of_days_and_of_none(language: Language) -> None:
    days = table("offline", language, "dates")["due"].values()
    assert len(days) >= 7
    assert "" in days


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
