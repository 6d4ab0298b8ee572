"""Dates as people write them; ``due/LANGUAGE.toml`` has the day by which each is due, by the day it is said on."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.offline.dates import _FOR_ENGLISH, _rules, due_date, find_dates

MONDAY = date(2024, 3, 11)
FOLDER = Path(__file__).parent / "due"
LEAST_AFTER = 53
EXAMPLES = [
    (language, said, text, day)
    for language in LANGUAGES
    for said, days in tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8")).items()
    for text, day in days.items()
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_is_due_by_the_day_in_the_table(language: Language) -> None:
    own = [(said, text, day) for tongue, said, text, day in EXAMPLES if tongue == language]
    assert len(own) >= 270
    read = [(said, text, str(due_date(text, language, date.fromisoformat(said)) or "")) for said, text, _ in own]
    assert read == own


def test_most_of_what_was_written_after_the_rules_is_read() -> None:
    rows = [
        (text, day, str(due_date(text, language, date.fromisoformat(said)) or ""))
        for language in LANGUAGES
        for said, days in tomllib.loads((FOLDER / "after.toml").read_text("utf-8"))[language].items()
        for text, day in days.items()
    ]
    assert len(rows) >= 54
    assert sum(day == read for _, day, read in rows) >= LEAST_AFTER


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Tomorrow I can't, on Friday then, by 5pm", date(2024, 3, 12)),  # the first that is named
        ("Friday, the latest is by 5pm", date(2024, 3, 15)),
        ("either thursday or friday", date(2024, 3, 15)),
    ],
)
def test_parts_of_a_day_and_days_to_choose_from(text: str, day: date) -> None:
    assert due_date(text, "en", MONDAY) == day


def test_a_deadline_goes_before_a_plain_date() -> None:
    assert due_date("We meet on Tuesday, send it by Thursday", "en", MONDAY) == date(2024, 3, 14)


@pytest.mark.parametrize(
    ("text", "language", "first", "last"),
    [
        ("the 26th to the 30th", "en", date(2024, 3, 26), date(2024, 3, 30)),
        ("12-16 April", "en", date(2024, 4, 12), date(2024, 4, 16)),
        ("с 6 по 8 апреля", "ru", date(2024, 4, 6), date(2024, 4, 8)),
        ("4月6到8号", "zh", date(2024, 4, 6), date(2024, 4, 8)),
    ],
)
def test_days_in_a_row_are_one_with_a_first_and_a_last(text: str, language: Language, first: date, last: date) -> None:
    (found,) = find_dates(text, language, MONDAY)
    assert (found.begins, found.day, found.is_deadline) == (first, last, False)


def test_what_is_past_is_no_due_date() -> None:
    assert due_date("вчера отправил", "ru", MONDAY) is None
    assert [found.day for found in find_dates("вчера", "ru", MONDAY)] == [date(2024, 3, 10)]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["ru", "en", "zh"]), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_no_text_breaks_the_rules_and_no_two_dates_overlap(text: str, language: Language, today: date) -> None:
    found = find_dates(text, language, today)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= f.start < f.end <= len(text) for f in found)


def test_english_rules_need_a_letter_or_a_digit() -> None:
    """Texts without are not looked at by them."""
    bare = {re.sub(_FOR_ENGLISH, "", text) for _, _, text, _ in EXAMPLES}
    assert len(bare) > 100
    assert not [text for text in bare for rule, _ in _rules("en") if rule.search(text)]
