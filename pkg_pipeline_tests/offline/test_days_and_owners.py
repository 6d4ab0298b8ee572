"""Day and owner of a task in its talk; half of ``due_in_talk/LANGUAGE.toml`` was never looked at for wording."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.offline.chat_tasks import find_silent
from pkg_pipeline.offline.found import FoundAction
from pkg_pipeline.offline.reading import read
from pkg_pipeline.offline.talk_items import found, prepared
from pkg_pipeline.offline.told_days import days_told
from pkg_pipeline_tests.offline.chats import EMBED, chat

FOLDER = Path(__file__).parent / "due_in_talk"
WEDNESDAY = datetime(2024, 5, 15, 9, tzinfo=UTC)
ME = {"en": "Me", "ru": "Я", "zh": "我"}
LEAST = {"seen": 82, "unseen": 78}
"""Of 96 and 90 (docs/figures.md)."""


def _tasks(said: list[str], language: Language) -> list[FoundAction]:
    lines = [(who, text) for who, _, text in (one.partition(": ") for one in said)]
    reading = prepared(read(chat(*lines, me=ME[language], language=language, start=WEDNESDAY)), EMBED)
    return found(reading)[1] or find_silent(reading)


def due(said: list[str], language: Language) -> str | None:
    """The day of the likeliest task; None where none is found."""
    tasks = _tasks(said, language)
    if not tasks:
        return None
    return str(max(tasks, key=lambda one: one.probability).due or "")


@pytest.mark.parametrize("half", LEAST)
def test_a_task_is_due_on_the_day_that_its_talk_means(half: str) -> None:
    rows: list[tuple[Language, Any]] = [
        (language, row)
        for language in LANGUAGES
        for row in tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))[half]
    ]
    assert len(rows) >= 90
    wrong = [
        f"{row['due']} {got}: {row['said']}" for tongue, row in rows if (got := due(row["said"], tongue)) != row["due"]
    ]
    assert len(rows) - len(wrong) >= LEAST[half], "\n".join(wrong if half == "seen" else [])


def test_the_message_that_names_the_day_is_cited() -> None:
    said = ["Tess: so potluck on sat", "Raj: yay", "Raj: finally", "Me: i'll bring plates"]
    (task,) = _tasks(said, "en")
    assert str(task.due) == "2024-05-18"
    assert 0 in task.lines


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ("明天中午前把报价发我", "self"),
        ("下个月的房租记得提前转我，我要还贷", "self"),
        ("报价我明天中午前发你", "them"),
    ],
)
def test_who_is_asked_bears_a_duty_in_chinese(said: str, owner: str) -> None:
    (task,) = _tasks(["王总: 在吗", "我: 在的", f"王总: {said}", "我: 好的"], "zh")
    assert task.owner == owner


@pytest.mark.parametrize(
    ("said", "language"),
    [
        (["Me: any news on invoice 44?", "Vera: We'll pay it by 29 November."], "en"),
        (["Я: напоминаю про счёт 44", "Вера: Оплатим до 29 ноября."], "ru"),
    ],
)
def test_who_says_we_to_one_other_bears_it(said: list[str], language: Language) -> None:
    (task,) = _tasks(said, language)
    assert task.owner == "them"


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        (["Tess: the concert is on 14 June", "Me: I'll send the programme a week before"], "en", "2024-06-07"),
        (["Tess: viewing on Friday the 24th", "Me: I'll confirm the hour two days before"], "en", "2024-05-22"),
        (["Таня: встреча 14 июня", "Я: пришлю вопросы за неделю до встречи"], "ru", "2024-06-07"),
        (["小陈: 六月十四号开会", "我: 我提前三天把材料发你"], "zh", "2024-06-11"),
    ],
)
def test_what_is_due_so_long_before_another_day(said: list[str], language: Language, day: str) -> None:
    assert due(said, language) == day


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        (["Tess: send me the tables before next Wednesday", "Me: ok, I'll send them by Wednesday"], "en", "2024-05-22"),
        (["Тося: пришли таблицы до следующей среды", "Я: хорошо, пришлю до среды"], "ru", "2024-05-22"),
        (["小唐: 下周五之前把表格发我", "我: 好，周五前发你"], "zh", "2024-05-24"),
        (["Тося: забери костюм 24-го", "Я: заберу с утра"], "ru", "2024-05-24"),
        (["Tess: please sign the lease by the 28th", "Me: reading it tonight with tea"], "en", "2024-05-28"),
    ],
)
def test_an_answer_that_only_says_the_asked_day_again_leaves_it(said: list[str], language: Language, day: str) -> None:
    assert due(said, language) == day


def test_what_begins_on_a_day_beside_a_task_is_not_its_day() -> None:
    assert due(["Тося: Занятия с пятницы. И купи, пожалуйста, тетрадь", "Я: куплю"], "ru") == ""


def test_a_weekday_with_its_number_is_the_day_of_both() -> None:
    assert due(["Tess: I come saturday 25, will bring a set"], "en") == "2024-05-25"
    assert due(["Тося: приеду в субботу 25, привезу набор"], "ru") == "2024-05-25"


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        (["Me: I'll drop the ladder off on Friday", "Tess: can't do Friday. Saturday?", "Me: ok Saturday"], "en", "18"),
        (["Я: привезу стремянку в пятницу", "Лена: в пятницу не могу, давай в субботу", "Я: ок"], "ru", "18"),
        (["Лена: пришли смету до 24 мая", "Я: займусь, завтра напишу мастеру"], "ru", "24"),
        (["Лена: я уезжаю 28 мая", "Лена: ключи отдам в день отъезда", "Я: ок"], "ru", "28"),
        (["王姐: 我28号搬走", "王姐: 钥匙走那天我给你", "我: 好"], "zh", "28"),
    ],
)
def test_a_day_is_moved_or_named_by_another_line(said: list[str], language: Language, day: str) -> None:
    assert due(said, language) == f"2024-05-{day}"


@pytest.mark.parametrize(
    ("said", "language", "day"),
    [
        # said on the 15th, the 15th is the next one; "today, the 15th" is today
        (["Me: I'll bring the crates on the 15th"], "en", "2024-06-15"),
        (["Я: завезу ящики 15-го"], "ru", "2024-06-15"),
        (["我: 箱子我15号带来"], "zh", "2024-06-15"),
        (["Me: I'll bring the crates today, the 15th"], "en", "2024-05-15"),
        # the very day named before, also of a later month
        (["Tess: I need it by 3 July", "Me: by the 3rd you'll have it"], "en", "2024-07-03"),
        (["Таня: нужно к 3 июля", "Я: к 3-му пришлю"], "ru", "2024-07-03"),
        # mostly a bare day is the next one, whatever the month spoken of
        (["Tess: the lease ends in September", "Me: I'll send the papers by the 25th"], "en", "2024-05-25"),
        (["Таня: договор до 30 сентября", "Я: бумаги пришлю до 25-го"], "ru", "2024-05-25"),
        (["小陈: 合同九月到期", "我: 文件25号前发你"], "zh", "2024-05-25"),
    ],
)
def test_the_month_of_a_bare_day(said: list[str], language: Language, day: str) -> None:
    assert due(said, language) == day


def test_after_midnight_a_day_is_that_of_the_memory() -> None:
    late = datetime(2024, 5, 14, 22, 30, tzinfo=UTC)  # half past midnight in Berlin
    talk = chat(("Me", "I'll bring the crates tomorrow"), me="Me", language="en", start=late)
    reading = prepared(read(replace(talk, timezone="Europe/Berlin")), EMBED)
    (task,) = found(reading)[1]
    assert str(task.due) == "2024-05-16"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("third week of june? like the 9th through the 16th", "en"),
        ("третья неделя июня? с 9-го по 16-е", "ru"),
        ("六月吧，9号到16号", "zh"),
    ],
)
def test_days_in_a_row_are_of_the_month_that_the_message_names(text: str, language: Language) -> None:
    # said on the 10th: the next 9th and the next 16th are of different months
    reading = read(chat(("Me", text), me="Me", language=language, start=WEDNESDAY.replace(day=10, month=1)))
    (day,) = [one for one in days_told(reading, reading.lines[0], text) if one.kind == "day_of_month"]
    assert (str(day.begins), str(day.day)) == ("2024-06-09", "2024-06-16")
