"""The last day that a decision speaks of, and the last on which it is of use (B17)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.lasting import Told, holds_until, last_day
from pkg_pipeline.offline.reading import read
from pkg_pipeline_tests.offline.chats import chat

SAID = date(2024, 3, 11)
"""A Monday, on which all chats here are held."""


@pytest.mark.parametrize(
    ("language", "said", "until"),
    [
        ("en", "Fine, we pay the deposit by 31 March.", date(2024, 3, 31)),
        ("en", "OK, tomorrow at ten in the workshop.", date(2024, 3, 12)),
        ("en", "The fitting is on 14 March and the party on 20 March.", date(2024, 3, 20)),
        ("en", "It is 45k for the whole job, same rate as before.", None),
        ("en", "The rent is 670 from 1 April.", None),
        ("en", "From 1 April on it is Tuesdays.", None),
        ("en", "Agreed, 20 minutes every Monday, the first one tomorrow.", None),
        ("en", "We shook hands on 1 March.", None),
        ("ru", "Оплатим до 28 марта.", date(2024, 3, 28)),
        ("ru", "Да, встречаемся в пятницу в семь.", date(2024, 3, 15)),
        ("ru", "С 1 апреля аренда 45 тысяч.", None),
        ("ru", "Чеки сдаём до 25-го числа каждого месяца.", None),
        ("ru", "По четвергам созваниваемся, начнём 14 марта.", None),
        ("zh", "定金我3月22日付。", date(2024, 3, 22)),
        ("zh", "可以，不过最晚3月24日。", date(2024, 3, 24)),
        ("zh", "从4月1日起每公斤15元。", None),
        ("zh", "房租4月1日开始涨到2000。", None),
        ("zh", "每周一上午开会，明天第一次。", None),
    ],
)
def test_until_when_a_decision_is_of_use(language: Language, said: str, until: date | None) -> None:
    talk = read(chat(("Vera", said), me="Tom", language=language))
    sentences = [sentence for line in talk.lines for sentence in line.sentences]
    assert talk.lines[0].day == SAID
    assert last_day(talk, sentences) == until


@pytest.mark.parametrize(
    ("stays", "until", "least", "most"),
    [
        (2.5, None, None, None),  # a rent
        (-1.0, None, date(2024, 3, 16), date(2024, 6, 1)),  # a job without a day
        (-1.0, date(2024, 3, 14), date(2024, 3, 13), date(2024, 3, 25)),  # a visit
    ],
)
def test_a_rent_holds_on_and_a_visit_is_over_after_its_day(
    stays: float, until: date | None, least: date | None, most: date | None
) -> None:
    last = holds_until(Told(SAID, 1.0, stays, until, is_again=False, begins=False))
    assert last == least if least is None or most is None else last is not None and least <= last <= most


@given(st.floats(-2.5, 2.5), st.floats(0, 1), st.one_of(st.none(), st.dates(SAID, date(2025, 3, 1))), st.booleans())
def test_what_stays_more_probably_holds_no_shorter(
    stays: float, more: float, until: date | None, is_again: bool
) -> None:
    one = holds_until(Told(SAID, 1.0, stays, until, is_again, begins=False))
    other = holds_until(Told(SAID, 1.0, stays + more, until, is_again, begins=False))
    assert one is None or one >= SAID
    assert other is None or (one is not None and other >= one)
