"""Numbers, days and names: what was said supports other spellings and nothing else."""

from __future__ import annotations

import time
from datetime import date

import pytest

from pkg_pipeline.memory.gate.binding import misbound, outdated
from pkg_pipeline.memory.gate.calendar import follows_due, said_days, unsaid_day
from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.gate.said_amounts import said_in, unsaid
from pkg_pipeline.memory.gate.series import other_end, other_order
from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.dates import due_date
from pkg_pipeline_tests.memory.conversations import ANNA, ME, WEI, conversation

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
    ("138 000 ₽", "итого 138", True),
    ("40 000–45 000 ₽", "тысяч 40–45", True),
    ("138 000 $", "итого 138", False),
    ("12 банок", "12 литров", False),
    ("6 days", "6 boxes", False),
    ("3箱", "3本", False),
    ("2.5小时", "两个半小时", True),
    ("1万5", "15000元", True),
    ("24", "two dozen", True),
    ("50%", "половину", True),
    ("500 г", "полкило", True),
    ("5 м²", "5 квадратов", True),
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
    ("до воскресенья", "до субботы", False),
    ("в среду", "на той неделе в ср", True),
    ("明天", "后天早上", False),
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
    ("两三天内", date(2024, 3, 17), True),
    ("двадцатого", date(2024, 3, 20), True),
    ("недели через две", date(2024, 3, 28), True),
    ("a week from Friday", date(2024, 3, 22), True),
]


@pytest.mark.parametrize(("said", "due", "follows"), DUE)
def test_a_due_date_is_a_day_that_the_words_name(said: str, due: date, follows: bool) -> None:
    assert follows_due(due, said_days([(said, SPOKEN)])) is follows


SPOKEN_OF = [
    ("Timber is 1,450, roofing 380", ("timber 1,450, roofing 380",), True),
    ("Timber is 380, roofing 1,450", ("timber 1,450, roofing 380",), False),
    ("Берём 75 бокалов и 45 тарелок", ("75 бокалов и 45 тарелок",), True),
    ("Берём 75 тарелок и 45 бокалов", ("75 бокалов и 45 тарелок",), False),
    ("щиток в четверг", ("Щиток в четверг, розетки к 20 марта",), True),
    ("розетки в четверг", ("Щиток в четверг, розетки к 20 марта",), False),
    ("合同从3月1日改到3月15日", ("合同从3月1号改到3月15号",), True),
    ("合同从3月15日改到3月1日", ("合同从3月1号改到3月15号",), False),
    ("The hotel costs 330 a night", ("Hotel is 110 a night, three nights", "330, ok"), False),
    ("Lessons online at 32 an hour", ("45 an hour in person, 32 online",), True),
    ("Lessons online at 32 a week", ("45 an hour in person, 32 online",), False),
    ("The dinner costs 4,350", ("They want 4,800 for the dinner", "They said 4,350 now"), True),
]


@pytest.mark.parametrize(("text", "said", "is_bound"), SPOKEN_OF)
def test_a_figure_stands_with_the_words_that_it_was_said_with(text: str, said: tuple[str, ...], is_bound: bool) -> None:
    messages = conversation(*((ANNA, one) for one in said), language="en").messages
    assert (misbound(text, messages, [SPOKEN] * len(said)) is None) is is_bound


@pytest.mark.parametrize(
    ("text", "is_old"),
    [("14 sockets at $95", True), ("14 sockets at $80", False), ("80 a socket instead of 95", False)],
)
def test_a_number_that_two_people_replaced_is_outdated(text: str, is_old: bool) -> None:
    said = conversation(
        (ANNA, "14 sockets at 95 dollars each"),
        (ME, "80 each?"),
        (ANNA, "All right, 80 a socket"),
        language="en",
    )
    assert (outdated(text, said.messages, [SPOKEN] * 3) is not None) is is_old


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


@pytest.mark.parametrize(
    ("language", "text", "is_due"),
    [
        ("en", "I pay in 30 days after delivery", False),
        ("en", "I pay 2 weeks after the wedding", False),
        ("en", "I pay within 30 days of receipt", False),
        ("en", "After delivery, I pay within 30 days", True),
        ("en", "After delivery, within 30 days", False),
        ("en", "I pay in 30 days", True),
        ("en", "I pay within 30 days from today", True),
        ("en", "I pay in 30 days after lunch", True),
        ("ru", "Оплачу через 30 дней после поставки", False),
        ("ru", "Оплачу в течение 30 дней с момента подписания", False),
        ("ru", "Оплачу после поставки через 30 дней", False),
        ("ru", "Оплачу через 30 дней", True),
        ("ru", "Оплачу через 30 дней после обеда", True),
        ("zh", "到货后30天付", False),
        ("zh", "收到发票后30天内付款", False),
        ("zh", "自签收之日起30天内", False),
        ("zh", "30天后付", True),
        ("zh", "30天内付款", True),
    ],
)
def test_days_after_an_event_are_not_counted_from_the_message(language: Language, text: str, is_due: bool) -> None:
    said, due = date(2026, 3, 3), date(2026, 4, 2)
    assert follows_due(due, said_days([(text, said)])) is is_due
    assert (due_date(text, language, said) == due) is is_due


@pytest.mark.parametrize(
    ("text", "said", "is_other"),
    [
        ("не более 400", "400–450 тысяч", True),
        ("не более 450", "400–450 тысяч", False),
        ("не более 400", "400–450 тысяч, лучше до 400", False),
        ("от 400 до 450", "400–450", False),
        ("at least 450", "400 to 450", True),
        ("不超过40万", "40到45万", True),
        ("不超过45万", "40到45万", False),
        ("至少45万", "40到45万", True),
        ("up to 400", "400", False),
    ],
)
def test_a_limit_is_that_end_of_the_range_that_was_said(text: str, said: str, is_other: bool) -> None:
    assert (other_end(text, [said]) is not None) is is_other


@pytest.mark.parametrize(
    ("text", "said", "is_other"),
    [
        ("500, 600 и 500", "600/500/500", True),
        ("600 тыс., 500 тыс. и 500 тыс.", "600, 500, 500", False),
        ("500、600、500", "600、500和500", True),
        ("500, 600, 500", "600, 500, 500; no, 500, 600, 500", False),
        ("500, 600", "600, 500", False),
    ],
)
def test_numbers_in_a_row_keep_their_order(text: str, said: str, is_other: bool) -> None:
    assert (other_order(text, [said]) is not None) is is_other
