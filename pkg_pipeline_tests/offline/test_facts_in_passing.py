"""What is told in passing: birthdays by an age, mails spelt in words, tastes and homes, and what is none (P13)."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline_tests.offline.test_facts import Said, shown
from training.fact_labels import is_value

FOUND: list[tuple[Language, Said, tuple[str, str, str]]] = [
    ("en", (("Tess", "I'll be 40 on May 3rd"),), ("birthday", "05-03", "Tess")),
    ("en", (("Tess", "my mail is tess dot lowe at posthaus dot com"),), ("email", "tess.lowe@posthaus.com", "Tess")),
    (
        "en",
        (("Tess", "do you have Marlene's number?"), ("Me", "yes 304-555-0148. don't give it out")),
        ("phone", "+13045550148", "Marlene"),
    ),
    ("en", (("Tess", "i'm vegetarian btw, since january"),), ("preference", "vegetarian", "Tess")),
    ("ru", (("Лена", "5 мая мне 35, приходите"),), ("birthday", "05-05", "Лена")),
    ("ru", (("Лена", "пиши на lena собака mail точка ru"),), ("email", "lena@mail.ru", "Лена")),
    ("ru", (("Лена", "у меня аллергия на орехи, учти"),), ("preference", "аллергия на орехи", "Лена")),
    ("zh", (("小李", "加我微信 taozi_fix88"),), ("account", "taozi_fix88", "小李")),
    ("zh", (("小李", "我对花生过敏"),), ("preference", "对花生过敏", "小李")),
    ("en", (("Tess", "got a job!! barista at Kettle"),), ("position", "barista", "Tess")),
    ("ru", (("Лена", "нашла работу!! логист на складе"),), ("position", "логист", "Лена")),
    ("zh", (("小李", "找到工作了! 物业前台"),), ("position", "物业前台", "小李")),
    ("en", (("Tess", "020 7946 0018, that's mine, ring whenever"),), ("phone", "+442079460018", "Tess")),
    ("en", (("Tess", "Hi, Tess from Birch & Co here"),), ("organization", "Birch & Co", "Tess")),
    ("zh", (("小李", "我搬到大理啦"),), ("address", "大理", "小李")),
    ("zh", (("小李", "小红书搜 xiaoli_mao 不关注绝交"), ("我", "关注了")), ("account", "xiaoli_mao", "小李")),
    ("zh", (("陈静", "报价见附件。\n\n陈静\n采购经理\n杭州云帆科技有限公司"),), ("position", "采购经理", "陈静")),
]

NONE: list[tuple[Language, Said, str]] = [
    ("zh", (("小李", "我农历八月十五生日"),), "birthday"),
    ("ru", (("Лена", "его 8 925 555-19-90"),), "phone"),
    ("en", (("Tess", "meet at the corner at nine dot"),), "email"),
    ("en", (("Tess", "he is 40 on the list of 5 May"),), "birthday"),
    ("ru", (("Лена", "мне 40 рублей сдачи 5 мая дали"),), "birthday"),
    ("en", (("Tess", "Good morning my daughter."),), "family"),
    ("en", (("Tess", "Isaac, 17/06/2014, ring 020 7946 0018"),), "birthday"),
]


@pytest.mark.parametrize(("language", "said", "fact"), FOUND)
def test_what_is_told_in_passing_is_found(language: Language, said: Said, fact: tuple[str, str, str]) -> None:
    assert fact in shown(language, said)


@pytest.mark.parametrize(("language", "said", "kind"), NONE)
def test_what_only_looks_so_is_none(language: Language, said: Said, kind: str) -> None:
    assert kind not in {one for one, _, _ in shown(language, said)}


def test_tastes_for_and_against_are_not_the_same() -> None:
    assert is_value("preference", "can't do tuna", "no tuna, mercury")
    assert not is_value("preference", "loves milk", "no milk")
    assert not is_value("preference", "不吃辣", "不吃香菜")
    assert is_value("preference", "не ест мясо", "мясо нельзя")
