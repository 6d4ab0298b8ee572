"""Open items that a later message promises anew, in other words, for another day, or not at all."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from pkg_pipeline.memory.gate.progress import may_renew
from pkg_pipeline.memory.records import Language
from pkg_pipeline_tests.offline.chats import MONDAY
from pkg_pipeline_tests.offline.test_linking import OPEN, SUNDAY, linked, shown, told


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("I'll send you the holiday photos tonight", "en"),
        ("I'll call mum on sunday", "en"),
        ("Пришлю тебе фотки с отпуска вечером", "ru"),
        ("晚上把照片发你", "zh"),
    ],
)
def test_another_promise_of_the_same_deed_renews_nothing(said: str, language: Language) -> None:
    changes = linked(told(("Anna", said), language=language), *OPEN[language]).changes
    assert [one.to for one in changes if one.to == "renewed"] == []


@pytest.mark.parametrize(
    ("language", "old", "said", "text"),
    [
        (
            "en",
            "I'll book the van by 8 March",
            "Sorry, not booked yet. I'll book the van by 30 March.",
            "Anna will book the van by 30 March.",
        ),
        (
            "en",
            "Anna will fix the boiler by 8 March.",
            "Sorry, I did not fix the boiler by 8 March. I'll do it by 30 March.",
            "Anna will fix the boiler.",
        ),
        (
            "ru",
            "Забронирую фургон до 8 марта",
            "Извини, ещё не забронировала. Забронирую фургон до 30 марта.",
            "Забронирую фургон до 30 марта.",
        ),
        ("ru", "Починю котёл до 8 марта", "Извини, ещё не починила. Починю до 30 марта.", "Починю котёл."),
        (
            "zh",
            "我3月8日前把面包车订好",
            "不好意思，还没订。我3月30日前把面包车订好。",
            "我3月30日前把面包车订好。",
        ),
    ],
)
def test_what_is_renewed_is_told_by_the_words_that_promise_or_without_the_old_day(
    language: Language, old: str, said: str, text: str
) -> None:
    [change] = linked(told(("Anna", said), language=language), shown("a1", old, due=date(2024, 3, 8))).changes
    assert (change.to, change.due_date, change.text) == ("renewed", "2024-03-30", text)
    assert may_renew(change.quote)


@pytest.mark.parametrize(
    ("language", "open_items", "said"),
    [
        ("en", ("I'll send the contract by 12 March", "I'll send the invoice by 15 March"), "Got the contract"),
        ("ru", ("Пришлю договор до 12 марта", "Пришлю счёт до 15 марта"), "Договор получил"),
        ("zh", ("我3月12日前把合同发给你", "我3月15日前把发票发给你"), "合同收到了"),
    ],
)
def test_a_contract_and_an_invoice_are_two_things(language: Language, open_items: tuple[str, str], said: str) -> None:
    first, second = (shown(f"a{n}", text, due=date(2024, 3, 9 + 3 * n)) for n, text in enumerate(open_items, 1))
    assert [one.ref for one in linked(told(("Me", said), language=language), first, second).changes] == ["a1"]
    assert linked(told(("Anna", open_items[1]), language=language), first).repeats == frozenset()


@pytest.mark.parametrize(
    ("promise", "said", "language", "day"),
    [
        (
            "I'll bring the ladder back on Friday",
            [("Me", "no ladder on Friday then?"), ("Anna", "This weekend, definitely")],
            "en",
            SUNDAY,
        ),
        (
            "I'll bring the ladder back on Friday",
            [("Me", "how is the ladder doing?"), ("Anna", "is Sunday all right?"), ("Me", "yes")],
            "en",
            SUNDAY,
        ),
        ("Стремянку верну в пятницу", [("Me", "и где она?"), ("Anna", "на выходных точно")], "ru", None),
        ("Верну стремянку в пятницу", [("Me", "а стремянка?"), ("Anna", "на выходных точно")], "ru", SUNDAY),
        ("梯子我周五还你", [("Me", "梯子呢"), ("Anna", "这周末一定")], "zh", SUNDAY),
        # nothing of it was said, or no day is vowed
        (
            "I'll bring the ladder back on Friday",
            [("Me", "hello!"), ("Anna", "See you Sunday, definitely")],
            "en",
            None,
        ),
        ("I'll bring the ladder back on Friday", [("Me", "and the ladder?"), ("Anna", "is Sunday ok?")], "en", None),
        # the day is another thing's
        ("Пришлю паспорта в пятницу", [("Me", "А паспорта?"), ("Anna", "Смету сделаю до 24 марта")], "ru", None),
    ],
)
def test_a_new_day_vowed_or_granted_renews_what_was_spoken_of(
    promise: str, said: list[tuple[str, str]], language: Language, day: date | None
) -> None:
    item = shown("a1", promise, due=MONDAY.date() - timedelta(days=3))
    renewed = [one.due_date for one in linked(told(*said, language=language), item).changes if one.to == "renewed"]
    assert renewed == ([] if day is None else [day.isoformat()])
