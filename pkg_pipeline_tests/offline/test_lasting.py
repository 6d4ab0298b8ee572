"""The last day that a decision speaks of (B17)."""

from __future__ import annotations

from datetime import date

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.lasting import last_day
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
