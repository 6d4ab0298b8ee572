"""What gives up, moves or says no (B16, B18)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from pkg_pipeline.memory.gate.duty import agrees, says_no
from pkg_pipeline.memory.gate.progress import gives_up, is_joke, is_weighed_answer, may_renew, tells_done
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.records import Person, SourceMessage

ANNA = Person(UUID(int=1), "Anna", False)


def said(text: str) -> SourceMessage:
    return SourceMessage(1, "m1", ANNA, datetime(2026, 3, 2, 10, tzinfo=UTC), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Спасибо, но в среду никак", True),
        ("Нет, не смогу", True),
        ("Хорошо, приду", False),
        ("No, sorry", True),
        ("Thanks, but I can't on Monday", True),
        ("Sure, no problem", False),
        ("没问题", False),
        ("不行，周三我没空", True),
        ("谢谢，不可以", True),
        ("行，周三", False),
        ("不错，就周三", False),
    ],
)
def test_a_no_after_thanks_is_a_no_and_agrees_to_nothing(text: str, expected: bool) -> None:
    assert says_no(said(text)) is expected
    assert agrees(said(text)) is not expected


@pytest.mark.parametrize(
    ("sentence", "matter", "expected"),
    [
        ("We found another caterer", "Send the menu", True),
        ("The piano is not leaving the hall", "Move the piano", True),
        ("Пианино в фургон не влезает", "Перевезти пианино", True),
        ("Смысла нет", "Купить зонт", True),
        ("Смету так и не прислали", "Прислать смету", False),
        ("I haven't moved the piano yet", "Move the piano", False),
        ("找了别家", "订蛋糕", True),
    ],
)
def test_giving_up_is_told_by_its_words_or_by_denying_something_of_the_matter(
    sentence: str, matter: str, expected: bool
) -> None:
    assert gives_up(sentence, content(matter)) is expected


@pytest.mark.parametrize(
    "text",
    [
        "Not booked.",
        "The fence is not painted",
        "The lamp is not sold yet",
        "Фургон не забронирован",
        "Забор не покрашен, шторы не сшиты",
        "Дверь не закрыта",
        "面包车没订",
    ],
)
def test_what_is_denied_is_not_told_as_done(text: str) -> None:
    assert not tells_done(text)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("推到下周三了", True),
        ("已经寄出了", False),
        ("Moved to next Tuesday", True),
        ("It's cancelled", False),
        ("Перенесли на пятницу", True),
        ("Отменили совсем", False),
        ("Sorry, not booked yet.", True),
        ("The van is not booked yet", True),
        ("The fence is not painted", True),
        ("Not sold yet", True),
        ("It's not needed any more", False),
        ("Извини, ещё не забронировала", True),
        ("Фургон пока не забронирован", True),
        ("不好意思，还没订", True),
        ("面包车没订", True),
    ],
)
def test_what_is_moved_may_be_renewed_and_what_is_over_may_not(quote: str, expected: bool) -> None:
    assert may_renew(quote) is expected


@pytest.mark.parametrize(
    ("texts", "quote", "expected"),
    [
        (["Sue him! Just kidding"], "Sue him!", True),
        (["I'm not kidding, we sell the van"], "we sell the van", False),
        (["I'll buy you a castle haha"], "I'll buy you a castle", True),
        (["haha fine, I'll bring the chairs"], "I'll bring the chairs", False),
        (["I'll bring the chairs haha", "ok, thanks"], "I'll bring the chairs", False),
        (["куплю тебе остров ахаха"], "куплю тебе остров", True),
        (["ахаха ладно, привезу стулья"], "привезу стулья", False),
        (["я не шучу, продаём машину"], "продаём машину", False),
        (["我给你买座岛哈哈"], "我给你买座岛", True),
        (["哈哈好，我带椅子"], "我带椅子", False),
    ],
)
def test_laughter_makes_a_joke_only_of_the_words_before_it(texts: list[str], quote: str, expected: bool) -> None:
    assert is_joke([replace(said(text), number=at) for at, text in enumerate(texts, 1)], quote) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I can't, but my sister can, she'll do it on Monday", False),
        ("I can't, sorry", True),
        ("Не могу, но сестра свободна, она сделает", False),
        ("Не могу, извини", True),
        ("我不行，让她去", False),
        ("我不行", True),
    ],
)
def test_who_refuses_and_names_another_for_it_does_not_put_it_off(answer: str, expected: bool) -> None:
    assert is_weighed_answer(said(answer)) is expected
