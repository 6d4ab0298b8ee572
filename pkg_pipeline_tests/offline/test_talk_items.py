"""What one talk newly asks, promises and settles, as the offline answer to a reading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.records import Attachment, Language, SummaryInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.prompts.conversation_reading import Answer
from pkg_pipeline_tests.offline.chats import EMBED, chat, request


def read_talk(source: SummaryInput) -> Answer:
    reading = ReadingInput((source,), (), source.language, source.timezone, "hash")
    return Answer.read(OfflineLlm(embed=EMBED).complete(request(reading)).text)


def test_a_promise_and_its_end_in_the_same_talk() -> None:
    source = chat(
        ("Vera", "Can you sign the delivery note by Wednesday?"),
        ("Tom", "Sure, I'll sign it tomorrow."),
        ("Tom", "I signed the delivery note."),
        me="Tom",
    )
    (item,) = read_talk(source).told
    assert (item.kind, item.owner, item.due, item.messages) == ("task", "me", "2024-03-12", [1, 2])
    assert item.end is not None
    assert (item.end.state, item.end.messages) == ("done", [3])


def test_a_proposal_says_who_made_it_and_who_agreed() -> None:
    source = chat(("Vera", "How about 840 dollars for the batch?"), ("Tom", "Deal, 840 it is."), me="Tom")
    decisions = [item for item in read_talk(source).told if item.kind == "decision"]
    assert [(item.proposed, item.agreed) for item in decisions] == [("Vera", ["Tom"])]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'll send the draft tomorrow.", "Tom will send the draft tomorrow."),
        ("I'll send you the draft tomorrow.", "I'll send you the draft tomorrow."),
        ("I'll pay by 19 October, don't forget me", "I'll pay by 19 October, don't forget me."),
        ("Завтра отправлю черновик", "Завтра отправлю черновик."),
        ("我明天把合同寄出", "我明天把合同寄出。"),
    ],
)
def test_what_cannot_be_turned_safely_is_quoted_as_said(said: str, told: str) -> None:
    language = "zh" if "我" in said else "ru" if "З" in said else "en"
    source = chat(("Vera", "Hi"), ("Tom", said), me="Tom", language=language)
    assert [item.text for item in read_talk(source).told if item.kind == "task"] == [told]


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        (
            "the printer is out of toner again",
            "I'll order tomorrow",
            "The printer is out of toner again. — I'll order tomorrow.",
        ),
        ("И секатор ты так и не вернул", "В субботу завезу", "И секатор ты так и не вернул. — В субботу завезу."),
        ("梯子你还没还我呢", "周末给你送", "梯子你还没还我呢。 — 周末给你送。"),
        (
            "И лейку ты мне так и не купил",
            "Куплю на этой неделе, до пятницы",
            "И лейку ты мне так и не купил. — Куплю на этой неделе, до пятницы.",
        ),
    ],
)
def test_a_bare_answer_is_told_with_what_it_answers(asked: str, said: str, told: str) -> None:
    language = "zh" if "你" in asked else "ru" if "И" in asked else "en"
    (item,) = read_talk(chat(("Vera", asked), ("Tom", said), me="Tom", language=language)).told
    assert item.text == told
    assert item.messages == [1, 2]


@pytest.mark.parametrize(
    ("language", "asked", "aside", "said"),
    [
        ("en", "Please book the van for both days, Tom", "Thank you, at last", "booking it tonight"),
        ("ru", "Том, закажи нам пропуска на оба дня", "Спасибо, дождались", "закажу сегодня"),
        ("zh", "Tom，麻烦订两天的面包车", "太好了，终于", "今晚订"),
    ],
)
def test_who_only_gives_thanks_between_is_not_what_a_promise_answers(
    language: Language, asked: str, aside: str, said: str
) -> None:
    source = chat(("Vera", asked), ("Ann", aside), ("Tom", said), me="Vera", language=language)
    (item,) = [one for one in read_talk(source).told if one.kind == "task"]
    assert aside not in item.text
    assert {1, 3} <= set(item.messages)


@pytest.mark.parametrize(
    ("language", "said", "is_task"),
    [
        ("en", "I have to wait for the insurer's money, about 14 March", False),
        ("en", "I have to wait for the mould to dry, then I'll cast it on 14 March", True),
        ("ru", "Сначала нужно получить деньги от страховой, примерно 14 марта", False),
        ("ru", "Мне сначала надо дождаться формы, потом отолью, до 14 марта", True),
        ("zh", "我要先等到保险公司的钱，大概3月14日", False),
        ("zh", "我要先等图纸，再在3月14日下单", True),
    ],
)
def test_to_wait_for_what_another_gives_is_no_task(language: Language, said: str, is_task: bool) -> None:
    source = chat(("Vera", said), ("Tom", "Ok"), me="Vera", language=language)
    assert any(item.kind == "task" for item in read_talk(source).told) == is_task


@pytest.mark.parametrize(
    ("language", "reminded", "agreed"),
    [
        ("en", "Tom, the second rate of 900 was due on 4 March", "Fine, 900 on 15 March and 300 on top"),
        ("ru", "Том, второй взнос 900, срок был 4 марта", "Хорошо, 900 до 15 марта и 300 сверху"),
        ("zh", "Tom，第二期900元，3月4日已经到期了", "好，3月15日付900元，另加300元"),
    ],
)
def test_who_reminds_of_what_was_due_decides_nothing(language: Language, reminded: str, agreed: str) -> None:
    source = chat(("Vera", reminded), ("Tom", agreed), ("Vera", "Ok"), me="Tom", language=language)
    assert reminded not in [item.quote for item in read_talk(source).told if item.kind == "decision"]


@pytest.mark.parametrize(
    ("language", "said", "due"),
    [
        ("en", "They don't sell stamps until 20 March. Please weigh the parcel", None),
        ("en", "The lift runs from 20 March. Please carry the desk up by 22 March", "2024-03-22"),
        ("ru", "Лифт не работает до 20 марта. Поднимите стол, пожалуйста", None),
        ("ru", "До 22 марта. Поднимите стол, пожалуйста", "2024-03-22"),
        ("zh", "电梯3月20日前不开。请把桌子搬上楼", None),
        ("zh", "请把桌子搬上楼。3月22日前", "2024-03-22"),
    ],
)
def test_until_when_something_is_not_so_is_no_day_of_what_is_asked_beside_it(
    language: Language, said: str, due: str | None
) -> None:
    source = chat(("Vera", said), ("Tom", "Ok"), me="Tom", language=language)
    [item] = [one for one in read_talk(source).told if one.kind == "task"]
    assert item.due == due


def test_the_same_words_in_one_talk_are_one_item() -> None:
    said = [("Vera", "Please pay the rent by Friday."), ("Tom", "ok")]
    source = chat(*said, ("Vera", "how was the trip?"), ("Tom", "long, rainy, but we saw a lot"), *said, me="Tom")
    assert len([item for item in read_talk(source).told if item.kind == "task"]) == 1


@pytest.mark.parametrize(
    ("language", "said", "quotes"),
    [
        ("en", ["Shall we fix it at 90 euros a month?", "Agreed, 90 from May on."], ["Agreed, 90 from May on."]),
        ("ru", ["Берём зал за 9000?", "Да, договорились, 9000."], ["Да, договорились, 9000."]),
        ("en", ["From which day does the lease run?", "ok, good question"], []),
        ("ru", ["С какого числа аренда?", "Ок, понял"], []),
        ("zh", ["一共是652元吗？", "嗯，我看看"], []),
        ("en", ["Insurance quote is 420 euro a year. Accept?", "[photo]"], []),
    ],
)
def test_a_question_is_no_decision_but_its_answer_may_be(
    language: Language, said: list[str], quotes: list[str]
) -> None:
    source = chat(("Vera", said[0]), ("Tom", said[1]), me="Tom", language=language)
    assert [item.quote for item in read_talk(source).told if item.kind == "decision"] == quotes


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("ru", ["Иди спать уже", "Сам иди))"]),
        ("ru", ["Пусть у вас всегда будет полный зал", "Спасибо! И вам удачи"]),
        ("ru", ["За 200 рублей мне придётся самому её красить", "Ахаха"]),
        ("ru", ["Подвезёшь меня в субботу?", "Ой не, мы на даче"]),
        ("ru", ["Оплати, пожалуйста, интернет", "Уже, ещё вчера"]),
        ("ru", ["Как дела?", "Норм, созвонимся как-нибудь"]),
        ("ru", ["Если плитка приедет до 3 мая, успеем", "Хорошо"]),
        ("en", ["If the tiles are here by 3 May, we'll make it", "ok good"]),
        ("zh", ["如果瓷砖五月三号前到，就来得及", "好"]),
        ("ru", ["[contact: Степан (электрик), +79000001234]", "Хорошо, спасибо"]),
        ("ru", ["Может, покрасить стены в синий?", "Не, не хочу"]),
        ("en", ["go home man, you're drunk", "lol never"]),
        ("en", ["Take care of yourself and get some rest!", "thanks, you too"]),
        ("en", ["Can you lend me your car on Sunday?", "sorry, I can't"]),
        ("en", ["could you book the table?", "already did it yesterday"]),
        ("en", ["we should catch up sometime", "definitely, talk soon"]),
        ("en", ["What if we painted it blue?", "no, I'd rather not"]),
        ("zh", ["早点睡，多喝热水", "好的晚安"]),
        ("zh", ["周日能借我车吗？", "不行啊，我要用"]),
        ("zh", ["改天一起吃饭", "好啊，有空约"]),
        ("zh", ["把电费交一下", "昨天就交了"]),
        ("zh", ["要不刷成蓝色？", "算了，不好看"]),
        ("en", ["shall we do Wales in May?", "maybe, let me think about it"]),
        ("ru", ["Может, продадим дачу?", "Надо подумать"]),
        ("zh", ["要不搬到城西去？", "再说吧，还没想好"]),
    ],
)
def test_pleasantries_jokes_refusals_and_offers_not_taken_are_no_items(language: Language, said: list[str]) -> None:
    source = chat(("Vera", said[0]), ("Tom", said[1]), me="Tom", language=language)
    assert [item.text for item in read_talk(source).told if item.end is None] == []


def test_a_file_sent_at_once_leaves_nothing_to_do() -> None:
    source = chat(("Vera", "send me the photo of the door please"), ("Tom", ""), me="Tom")
    sent = replace(source.messages[1], attachments=(Attachment("door.jpg", "image/jpeg"),))
    assert read_talk(replace(source, messages=(source.messages[0], sent))).told == []
