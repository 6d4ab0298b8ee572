"""Numbers, days and names: what was said supports other spellings and nothing else."""

from __future__ import annotations

import time
from datetime import date

import pytest

from pkg_pipeline.memory.gate.calendar import follows_due, said_days, unsaid_day
from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.gate.said_amounts import said_in, unsaid
from pkg_pipeline_tests.memory.conversations import ANNA, ME, WEI

NUMBERS = [
    ("Цена 350 000 ₽", "за триста пятьдесят тысяч", True),
    ("530 000 ₽", "350 тысяч", False),
    ("990 000 ₽", "350 тысяч", False),
    ("350 000 $", "350 тысяч рублей", False),
    ("400 000–450 000 ₽", "400–450", True),
    ("700, 500 и 400", "600/500/500", False),
    ("35万元", "350000元", True),
    ("2500元", "两千五", True),
    ("36万元", "三十五万", False),
    ("90 минут", "полтора часа", True),
    ("через 2 недели", "через 14 дней", True),
    ("10%", "10 штук", False),
    ("15:00", "в три", True),
    ("16:00", "в три", False),
    ("1.5 million", "one and a half million", True),
    ("three hundred and fifty thousand", "$350k", True),
    ("8 912 345-67-89", "+7 (912) 345 67 89", True),
    ("8 912 345-67-80", "+7 (912) 345 67 89", False),
]


@pytest.mark.parametrize(("text", "said", "is_said"), NUMBERS)
def test_a_number_in_another_spelling_is_the_same_and_another_is_not(text: str, said: str, is_said: bool) -> None:
    heard = said_in((said,), frozenset())
    assert (unsaid(text, heard, heard) is None) is is_said


def test_words_become_digits() -> None:
    assert spelled("двадцать пятого марта, полпятого") == "25 марта, 4:30"
    assert spelled("two thousand and five or one million") == "2005 or 1000000"
    assert spelled("周三下午三点，三十五万") == "周三下午3点, 350000"


SPOKEN = date(2024, 3, 14)  # a Thursday
DAYS = [
    ("в пятницу", "завтра", True),
    ("15 марта", "завтра", True),
    ("в субботу", "завтра", False),
    ("25 декабря", "15 октября", False),
    ("20 марта 2020", "20-го", False),
    ("tomorrow", "next week", False),
    ("12–18 May", "from 12 to 18 May", True),
    ("2–18 May", "from 12 to 18 May", False),
    ("周六", "明天", False),
    ("3月20日", "三月二十号", True),
]


@pytest.mark.parametrize(("text", "said", "is_said"), DAYS)
def test_a_day_in_other_words_is_the_same_and_another_is_not(text: str, said: str, is_said: bool) -> None:
    assert (unsaid_day(text, said_days([(said, SPOKEN)])) is None) is is_said


DUE = [
    ("до пятницы", date(2024, 3, 15), True),
    ("до пятницы", date(2024, 3, 22), False),
    ("by the end of the month", date(2024, 3, 29), True),
    ("in two weeks", date(2024, 3, 28), True),
    ("Friday week", date(2024, 3, 22), True),
    ("下周三之前", date(2024, 3, 20), True),
    ("下周三之前", date(2024, 3, 27), False),
    ("someday", date(2024, 3, 15), False),
]


@pytest.mark.parametrize(("said", "due", "follows"), DUE)
def test_a_due_date_is_a_day_that_the_words_name(said: str, due: date, follows: bool) -> None:
    assert follows_due(due, said_days([(said, SPOKEN)])) is follows


def test_a_person_is_found_by_another_form_or_script_of_the_name() -> None:
    people = (ANNA, ME, WEI)
    assert [find_person(name, people) for name in ("Аня", "Anna", "Анной Беловой", "Ilya", "Wang Wei", "Ольга")] == [
        ANNA,
        ANNA,
        ANNA,
        ME,
        WEI,
        None,
    ]


@pytest.mark.parametrize(
    "text", ["1 " * 20_000, "1,1" * 20_000, "сто " * 9_000, "一" * 20_000, "3:3" * 9_000, "-1–" * 9_000]
)
def test_hostile_numbers_take_no_time(text: str) -> None:
    begin = time.process_time()
    heard = said_in((text,), frozenset())
    unsaid(text[:2_500], heard, heard)
    unsaid_day(text[:2_500], said_days([(text, SPOKEN)]))
    assert time.process_time() - begin < 5
