"""An open item meets a later message: what is kept, given up, put off, repeated, superseded, and what stays open."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Attachment, Language, SummaryInput
from pkg_pipeline.offline import line_head
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.evidence import heard, shows
from pkg_pipeline.offline.linking import Linked, link
from pkg_pipeline.offline.matters import Open, matter_of, roots_of_text, sums_of, things_of_text
from pkg_pipeline.offline.reading import read
from pkg_pipeline_tests.offline.chats import EMBED, MONDAY, chat

ANNA = uuid5(NAMESPACE_URL, "Anna")
SUNDAY = MONDAY.date() + timedelta(days=6)


def shown(ref: str, quote: str, owner: str = "them", due: date | None = None, **more: Any) -> ShownItem:
    given: dict[str, Any] = {
        "ref": ref,
        "id": uuid5(NAMESPACE_URL, ref),
        "kind": "decision" if ref.startswith("d") else "action_item",
        "status": "open",
        "text": quote,
        "owner": owner,
        "owner_name": None,
        "due_date": due,
        "said_at": MONDAY - timedelta(days=6),
        "quote": quote,
        "owner_entity_id": ANNA if owner == "them" else None,
    }
    return ShownItem(**(given | more))


def linked(source: SummaryInput, *items: ShownItem) -> Linked:
    reading = line_head.judged(read(source), EMBED)
    decided = find_decisions(reading)
    return link(reading, items, find_actions(reading, settled=[d.sentence for d in decided]), decided, EMBED)


def told(*said: tuple[str, str], language: Language = "en") -> SummaryInput:
    return chat(*said, me="Me", language=language)


OPEN = {
    "en": (
        shown("a1", "I'll send you the signed contract on Thursday"),
        shown("a2", "I'll call the plumber about the leak"),
    ),
    "ru": (shown("a1", "Пришлю подписанный договор в четверг"), shown("a2", "Позвоню сантехнику насчёт протечки")),
    "zh": (shown("a1", "周四我把签好的合同发给你"), shown("a2", "我给师傅打电话问漏水的事")),
}


@pytest.mark.parametrize(
    ("said", "language", "ref"),
    [
        ([("Anna", "The contract is sent, check your mail")], "en", "a1"),
        ([("Anna", "I called the plumber, he comes on Friday")], "en", "a2"),
        ([("Me", "Did you send the contract?"), ("Anna", "Yes, this morning")], "en", "a1"),
        ([("Me", "Got the contract, thanks!")], "en", "a1"),
        ([("Anna", "Договор отправила, посмотри почту")], "ru", "a1"),
        ([("Anna", "Сантехнику уже позвонила, придёт в пятницу")], "ru", "a2"),
        ([("Me", "Договор получил, спасибо!")], "ru", "a1"),
        ([("Anna", "合同已经发给你了")], "zh", "a1"),
        ([("Me", "合同收到了，谢谢")], "zh", "a1"),
    ],
)
def test_a_promise_is_kept_in_a_few_words(said: list[tuple[str, str]], language: Language, ref: str) -> None:
    changes = linked(told(*said, language=language), *OPEN[language]).changes
    assert [(c.ref, c.to in ("done", "perhaps_done")) for c in changes] == [(ref, True)]
    numbers = {n: text for n, (_, text) in enumerate(said, 1)}
    assert all(c.quote in numbers[c.numbers[0]] for c in changes)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ([("Me", "Did you send the contract?")], "en"),
        ([("Me", "Did you send the contract?"), ("Anna", "Not yet, sorry")], "en"),
        ([("Anna", "The contract is still with our lawyer")], "en"),
        ([("Me", "Договор отправила?")], "ru"),
        ([("Me", "Договор отправила?"), ("Anna", "Ещё нет, не успела")], "ru"),
        ([("Me", "合同发了吗？")], "zh"),
        ([("Me", "合同发了吗？"), ("Anna", "还没呢")], "zh"),
    ],
)
def test_a_question_or_not_yet_closes_nothing(said: list[tuple[str, str]], language: Language) -> None:
    changes = linked(told(*said, language=language), *OPEN[language]).changes
    assert [c for c in changes if c.to in ("done", "perhaps_done", "cancelled")] == []


ASKED_AFTER = {
    "en": (shown("a1", "I'll send you the drawing"), shown("a2", "I'll book the van")),
    "ru": (shown("a1", "Пришлю тебе чертёж"), shown("a2", "Забронирую фургон")),
    "zh": (shown("a1", "我把图纸发给你"), shown("a2", "我来订面包车")),
}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("Me", "Got the photos, thanks! And the drawing?")),
        ("en", ("Me", "And the drawing? Got the photos, thanks!")),
        ("en", ("Me", "Thanks for the call to the printer! By the way, van is booked?")),
        ("en", ("Anna", "Sent the photos this morning. Do you need the drawing too?")),
        ("ru", ("Me", "Фото получил, спасибо! А чертёж?")),
        ("ru", ("Me", "Спасибо за звонок в типографию! Кстати, фургон забронирован?")),
        ("ru", ("Anna", "Фото отправила утром. Чертёж тоже нужен?")),
        ("zh", ("Me", "照片收到了，谢谢！图纸呢？")),
        ("zh", ("Me", "谢谢你给印刷厂打电话！对了，面包车订了吗？")),
    ],
)
def test_what_is_named_in_a_question_alone_is_not_closed(language: Language, said: tuple[str, str]) -> None:
    changes = linked(told(said, language=language), *ASKED_AFTER[language]).changes
    assert [one for one in changes if one.to in ("done", "perhaps_done")] == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("Anna", "Sent! Is the drawing clear enough?")),
        ("en", ("Me", "Got the drawing, thanks! And the photos?")),
        ("ru", ("Anna", "Отправила! Чертёж понятный?")),
        ("zh", ("Me", "图纸收到了，谢谢！照片呢？")),
    ],
)
def test_a_question_beside_what_is_told_takes_nothing_back(language: Language, said: tuple[str, str]) -> None:
    assert [one.ref for one in linked(told(said, language=language), *ASKED_AFTER[language]).changes] == ["a1"]


@pytest.mark.parametrize(
    ("language", "promise", "said"),
    [
        ("zh", "定金2052元我付", ("定金加尾款一共6052元，对吧？", "好，6052元，3月29日付")),
        ("en", "I'll pay the deposit of 2,052", ("so deposit and rest, 6,052 in all?", "yes, 6,052, payable 29 March")),
        ("ru", "Оплачу депозит 2052", ("значит, депозит и остаток, всего 6052?", "да, 6052, оплата 29 марта")),
    ],
)
def test_a_payment_for_a_day_to_come_is_no_payment_yet(language: Language, promise: str, said: tuple[str, str]) -> None:
    talk = told(("Anna", said[0]), ("Me", said[1]), language=language)
    changes = linked(talk, shown("a1", promise, owner="self")).changes
    assert "done" not in {one.to for one in changes}


def test_a_file_that_fits_keeps_the_promise() -> None:
    source = told(("Anna", "here it is"))
    with_file = replace(source.messages[0], attachments=(Attachment("contract_signed.pdf", "application/pdf", 90_000),))
    changes = linked(replace(source, messages=(with_file,)), *OPEN["en"]).changes
    assert [c.ref for c in changes] == ["a1"]


@pytest.mark.parametrize(
    ("language", "promise", "said", "is_so"),
    [
        ("en", "I'll lend you the tent", "Great news, they gave me a scholarship!", False),
        ("en", "I'll lend you the tent", "Here you go, the tent", True),
        ("en", "I'll lend you the tent", "Done!", True),
        ("ru", "Привезу тебе палатку", "Ура, мне дали стипендию на весь год!", False),
        ("ru", "Привезу тебе палатку", "Палатка у тебя под дверью", True),
        ("ru", "Привезу тебе палатку", "Готово!", True),
        ("zh", "我把帐篷借给你", "太好了，奖学金名单今天公布了！", False),
        ("zh", "我把帐篷借给你", "帐篷放你门口了", True),
        ("zh", "我把帐篷借给你", "好了", True),
    ],
)
def test_news_of_another_matter_shows_no_promise_kept(language: Language, promise: str, said: str, is_so: bool) -> None:
    (message,) = heard(read(told(("Anna", said), language=language)), frozenset())
    item = Open(matter_of(promise), ANNA, MONDAY, None, promise, promise, roots_of_text(promise))
    assert shows(item, message) is is_so


@pytest.mark.parametrize(
    ("language", "said", "asks"),
    [
        ("en", "the balance of 4000 was due on Monday", True),
        ("en", "the overdue invoice is paid, sent it this morning", False),
        ("ru", "Счёт № 46, срок был 19 октября", True),
        ("ru", "просроченный счёт оплатил, чек отправил", False),
        ("zh", "还有上次的4000元尾款，11月25日已经到期了", True),
        ("zh", "到期的尾款今天付了", False),
    ],
)
def test_a_reminder_of_what_was_due_keeps_nothing(language: Language, said: str, asks: bool) -> None:
    (message,) = heard(read(told(("Anna", said), language=language)), frozenset())
    assert message.only_reminds is asks


@pytest.mark.parametrize(
    ("promise", "is_so"), [("I'll book the train tickets", False), ("I'll send you the plan", True)]
)
def test_a_photo_shows_what_is_done_by_handing_it_over(promise: str, is_so: bool) -> None:
    source = told(("Anna", "[photo]"))
    sent = replace(source.messages[0], attachments=(Attachment("photo.jpg", "image/jpeg", 90_000),))
    (message,) = heard(read(replace(source, messages=(sent,))), frozenset())
    item = Open(matter_of(promise), ANNA, MONDAY, None, promise, promise, roots_of_text(promise))
    assert shows(item, message) is is_so


@pytest.mark.parametrize("placeholder", ["[file contract_signed.pdf]", "[file, 90 kB]"])
def test_what_stands_for_a_file_is_no_words_and_is_what_is_quoted(placeholder: str) -> None:
    source = told(("Anna", placeholder))
    sent = replace(source.messages[0], attachments=(Attachment("contract_signed.pdf", "application/pdf", 90_000),))
    changes = linked(replace(source, messages=(sent,)), *OPEN["en"]).changes
    assert [(c.ref, c.to, c.quote) for c in changes] == [("a1", "done", placeholder)]


@pytest.mark.parametrize(
    ("said", "language", "ref"),
    [
        ([("Anna", "No need for the contract any more, never mind the contract")], "en", "a1"),
        ([("Me", "Сантехник отменяется, протечку не надо")], "ru", "a2"),
        ([("Me", "合同不用发了")], "zh", "a1"),
    ],
)
def test_what_is_given_up_is_cancelled(said: list[tuple[str, str]], language: Language, ref: str) -> None:
    assert [(c.ref, c.to) for c in linked(told(*said, language=language), *OPEN[language]).changes] == [
        (ref, "cancelled")
    ]


@pytest.mark.parametrize(
    ("said", "language", "text"),
    [
        ([("Anna", "I'll send you the contract tomorrow")], "en", "I'll send you the contract tomorrow."),
        ([("Anna", "Договор пришлю завтра")], "ru", "Договор пришлю завтра."),
        ([("Anna", "我明天把合同发给你")], "zh", "我明天把合同发给你。"),
    ],
)
def test_a_promise_given_again_renews_the_item_in_its_newest_words_and_makes_no_twin(
    said: list[tuple[str, str]], language: Language, text: str
) -> None:
    result = linked(told(*said, language=language), *OPEN[language])
    assert [(c.ref, c.to, c.due_date, c.text) for c in result.changes] == [("a1", "renewed", "2024-03-12", text)]
    assert result.repeats == {0}


def test_a_promise_said_again_word_for_word_is_not_kept_by_it() -> None:
    """ "Signed" is a word of completion elsewhere."""
    item = shown("a1", "I will send the signed letter.", owner="self")
    result = linked(told(("Me", "I will send the signed letter.")), item)
    assert [(c.ref, c.to) for c in result.changes] == [("a1", "renewed")]
    assert result.repeats == {0}


@pytest.mark.parametrize(
    ("text", "sums"),
    [
        ("2,420 a month", {2420}),
        ("9,4 млн", set[int]()),
        ("12,50 in all", {12}),
        ("158 000 руб", {158_000}),
        ("1,58,000", {158_000}),
        ("15.900", {15_900}),
        ("350 тыс", {350_000}),
        ("5万", {50_000}),
    ],
)
def test_a_comma_stands_between_thousands_or_before_a_fraction(text: str, sums: set[int]) -> None:
    assert sums_of(text) == sums


def test_nothing_shown_nothing_linked() -> None:
    assert linked(told(("Anna", "See you"), ("Me", "Bye"))) == Linked()


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("ordered a new kettle today", {"new", "kettl"}),
        ("I'll order the filters tonight", {"filte"}),
        ("отправила маме торт", {"мам", "торт"}),
        ("договор отправлю завтра", {"догов"}),
        ("订了蛋糕", {"蛋糕"}),
        ("done, thanks!", set[str]()),
        ("I'll send the invoice by 15 Nov", {"invoi"}),
        ("pay the rent", {"rent"}),
        ("Внесу аванс завтра", {"аванс"}),
        ("付定金", {"定金"}),
        ("把发票发给你", {"发票"}),
    ],
)
def test_things_are_what_is_spoken_of_without_deeds_and_days(text: str, things: set[str]) -> None:
    assert things_of_text(text) == things


@pytest.mark.parametrize(
    ("language", "promise", "said"),
    [
        ("en", "Please check the seating plan by 15 March", "Checked the plan, swap tables 4 and 9 please"),
        ("en", "I'll send the seating plan by 15 March", "sent!!"),
        ("ru", "Проверьте рассадку до 15 марта", "Проверила, на столе 4 поменяйте местами гостей, пожалуйста"),
        ("ru", "Отправлю рассадку до 15 марта", "отправила!!"),
        ("zh", "3月15日前把座位表核对一下", "核对过了，请把4号桌和9号桌换一下"),
        ("zh", "我3月15日前把座位表发你", "座位表发给你了"),
    ],
)
def test_who_tells_the_very_deed_as_done_kept_it_though_ahead_or_with_a_wish(
    language: Language, promise: str, said: str
) -> None:
    item = shown("a1", promise, due=date(2024, 3, 15))
    [change] = linked(told(("Anna", said), ("Me", "ok"), language=language), item).changes
    assert (change.ref, change.to in ("done", "perhaps_done"), change.quote[:4]) == ("a1", True, said[:4])


@pytest.mark.parametrize(
    ("language", "promise", "reminder", "said", "is_kept"),
    [
        ("en", "I'll send the timesheets tonight", "A reminder: timesheets by the 25th", "sent!!", True),
        ("en", "I'll send the timesheets tonight", "A reminder: timesheets by the 25th", "soon, sorry", False),
        ("en", "I'll send the timesheets tonight", "The kettle is broken again", "called the repairman", False),
        ("ru", "Скину табели вечером", "Напоминаю про табели, до 25-го", "скинула!!", True),
        ("ru", "Скину табели вечером", "Напоминаю про табели, до 25-го", "скоро, простите", False),
        ("ru", "Скину табели вечером", "Чайник опять сломался", "вызвала мастера", False),
        ("zh", "我今晚把考勤表发你", "提醒一下，考勤表25号之前交", "发了！！", True),
        ("zh", "我今晚把考勤表发你", "提醒一下，考勤表25号之前交", "不好意思，马上", False),
    ],
)
def test_two_words_to_who_asked_again_keep_a_promise(
    language: Language, promise: str, reminder: str, said: str, is_kept: bool
) -> None:
    talk = told(
        ("Me", "Who books the hall?"),
        ("Anna", "ok"),
        ("Tom", reminder),
        ("Anna", said),
        ("Tom", "!"),
        language=language,
    )
    changes = linked(talk, shown("a1", promise, due=date(2024, 3, 8))).changes
    assert [one.to for one in changes if one.to == "done"] == ["done"] * is_kept
