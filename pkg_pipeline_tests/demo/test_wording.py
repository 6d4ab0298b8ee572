"""Dates in the demo's texts: every row is worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline.demo.wording import fill, in_words, resolve
from pkg_pipeline.memory.records import Language

TODAY = date(2026, 3, 15)  # a Sunday
NOMINAL = date(2026, 2, 28)  # a Saturday
SPOKEN = date(2026, 2, 27)  # the Friday before it


@pytest.mark.parametrize(
    ("when", "day"),
    [
        ("+5d", date(2026, 3, 5)),  # 28 February + 5, from the day of the heading
        ("-3d", date(2026, 2, 25)),
        ("+2w", date(2026, 3, 14)),
        ("@-40d", date(2026, 2, 3)),  # 15 March − 40: 15 + 25 of February's 28 → 3 February
        ("@+7d", date(2026, 3, 22)),
        ("Fri", date(2026, 3, 6)),  # said on a Friday, so the next one
        ("Mon", date(2026, 3, 2)),
        ("Thu", date(2026, 3, 5)),
        ("Fri+1w", date(2026, 3, 13)),
    ],
)
def test_relative_days(when: str, day: date) -> None:
    assert resolve(when, nominal=NOMINAL, spoken=SPOKEN, today=TODAY) == day


@pytest.mark.parametrize("when", ["5d", "+5", "Friday", "", "@Fri", "tomorrow"])
def test_what_is_no_relative_day_is_refused(when: str) -> None:
    with pytest.raises(ValueError, match="not a relative date"):
        resolve(when, nominal=NOMINAL, spoken=SPOKEN, today=TODAY)


@pytest.mark.parametrize(
    ("form", "language", "words"),
    [
        ("date", "ru", "15 марта"),
        ("date", "en", "15 March"),
        ("date", "zh", "3月15日"),
        ("on", "ru", "в воскресенье"),
        ("on", "en", "on Sunday"),
        ("on", "zh", "星期日"),
        ("inmonth", "ru", "в марте"),
        ("inmonth", "en", "in March"),
        ("inmonth", "zh", "3月"),
    ],
)
def test_words_in_three_languages(form: str, language: Language, words: str) -> None:
    assert in_words(form, TODAY, language) == words


def test_tuesday_takes_its_own_preposition() -> None:
    assert in_words("on", date(2026, 3, 17), "ru") == "во вторник"


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="no such form"):
        in_words("season", TODAY, "ru")


def test_a_text_with_several_placeholders_and_a_control_character() -> None:
    text = fill("монтаж {date:+3d} или {on:+4d}{ctrl}", nominal=NOMINAL, spoken=SPOKEN, today=TODAY, language="ru")
    assert text == "монтаж 3 марта или в среду\x01"
