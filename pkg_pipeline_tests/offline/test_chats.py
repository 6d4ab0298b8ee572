"""What a person would take from small chats in three languages: tasks, owners, days, what is done, what was agreed."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.records import Language, SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.prompts.conversation_reading import AnswerItem
from pkg_pipeline.prompts.summary import to_candidate
from pkg_pipeline_tests.offline.chats import answered, chat, read_items


def tasks(source: SummaryInput) -> list[AnswerItem]:
    return [one for one in read_items(source).told if one.kind == "task"]


RUSSIAN = chat(
    ("Вера", "Здравствуйте! Сможете прислать чертёж до среды?"),
    ("Я", "Да, пришлю завтра."),
    ("Вера", "И ещё: предлагаю цену 84 тысячи рублей за партию."),
    ("Я", "Согласен, договорились на 84."),
    ("Вера", "Не забудьте подписать накладную."),
    ("Я", "Накладную подписал."),
    me="Я",
    language="ru",
)
ENGLISH = chat(
    ("Vera", "Can you send me the drawing by Wednesday?"),
    ("Tom", "Sure, I'll send it tomorrow."),
    ("Vera", "How about 840 dollars for the batch?"),
    ("Tom", "Deal, 840 it is."),
    ("Vera", "Please sign the delivery note."),
    ("Tom", "I signed the delivery note."),
    me="Tom",
)
CHINESE = chat(
    ("小薇", "你能在周三之前把图纸发给我吗？"),
    ("老唐", "可以，我明天发给你。"),
    ("小薇", "这批货一共8400元，怎么样？"),
    ("老唐", "成交，就8400元。"),
    ("小薇", "麻烦你把送货单签一下。"),
    ("老唐", "送货单签好了。"),
    me="老唐",
    language="zh",
)


@pytest.mark.parametrize("source", [RUSSIAN, ENGLISH, CHINESE], ids=["ru", "en", "zh"])
def test_the_promise_sets_owner_and_day(source: SummaryInput) -> None:
    item = next(i for i in tasks(source) if {1, 2} & set(i.messages))
    assert (item.owner, item.due, item.end) == ("me", "2024-03-12", None)


@pytest.mark.parametrize("source", [RUSSIAN, ENGLISH, CHINESE], ids=["ru", "en", "zh"])
def test_what_was_done_later_ended_with_the_message_that_says_so(source: SummaryInput) -> None:
    item = next(i for i in tasks(source) if 5 in i.messages)
    assert item.owner == "me"
    assert item.end is not None
    assert (item.end.state, item.end.messages) == ("done", [6])


@pytest.mark.parametrize("source", [RUSSIAN, ENGLISH, CHINESE], ids=["ru", "en", "zh"])
def test_an_accepted_price_is_a_high_decision(source: SummaryInput) -> None:
    found = read_items(source).told
    decisions = [one for one in found if one.kind == "decision" and {3, 4} & set(one.messages)]
    assert [d.importance for d in decisions] == ["high"]


@pytest.mark.parametrize("source", [RUSSIAN, ENGLISH, CHINESE], ids=["ru", "en", "zh"])
def test_the_gate_publishes_all_of_it(source: SummaryInput) -> None:
    result = check(to_candidate(answered(source)), source)
    assert result.quarantine_reason is None
    assert result.dropped == ()


def test_who_is_called_by_name_owns_the_task() -> None:
    source = chat(
        ("Сергей", "Коллеги, доброе утро"),
        ("Паша", "Доброе!"),
        ("Маша", "Привет"),
        ("Сергей", "Паша, проверь, пожалуйста, реквизиты до завтра"),
        me="Маша",
        language="ru",
    )
    (item,) = tasks(source)
    assert (item.owner, item.who, item.due) == ("them", "Паша", "2024-03-12")


def test_a_day_is_that_of_the_owners_time_zone() -> None:
    from datetime import UTC, datetime

    late = datetime(2024, 3, 11, 22, 30, tzinfo=UTC)  # already the 12th in Vladivostok
    said = (("Анна", "Пришли смету завтра"), ("Я", "Хорошо, пришлю"), ("Анна", "Жду"))
    here = chat(*said, me="Я", language="ru", start=late, timezone="Asia/Vladivostok")
    assert tasks(here)[0].due == "2024-03-13"


@pytest.mark.parametrize(
    ("said", "language", "kind", "value"),
    [
        ("My new address is 12 Park Lane", "en", "address", "12 Park Lane"),
        ("Мой новый номер +7 916 123-45-67, запиши", "ru", "phone", "+79161234567"),
        ("write to me: anna.k@example.org", "en", "email", "anna.k@example.org"),
        ("Мой день рождения 5 мая", "ru", "birthday", "05-05"),
        ("我的生日是5月12日", "zh", "birthday", "05-12"),
        ("我现在是产品经理", "zh", "position", "产品经理"),
    ],
)
def test_facts_people_tell_of_themselves(said: str, language: Language, kind: str, value: str) -> None:
    answer = read_items(chat(("Anna", said), ("Me", "ok"), ("Anna", "ok"), language=language))
    assert (kind, value, "Anna") in [(f.type, f.value, f.about) for f in answer.facts]


def test_questions_and_small_talk_give_no_items() -> None:
    source = chat(
        ("Ann", "How was the concert?"),
        ("Me", "Loud! And yours?"),
        ("Ann", "We stayed at home, the kids were asleep by nine."),
        ("Me", "Sounds nice too"),
    )
    assert read_items(source).told == []
