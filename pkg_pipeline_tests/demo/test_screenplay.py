"""The format of the conversation files, on files of a few lines."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.demo.screenplay import Chat, Edit, ScreenplayError, Speaker, read
from pkg_pipeline.demo.timing import said

OWNER = Speaker("user1", "Alex", is_self=True)
ZONE = ZoneInfo("Asia/Nicosia")
HEADER = "chat: personal_chat 22 | Anna\nlanguage: en\nme: A\ncast: N = user22 | Anna\n\n"


def one_chat(body: str) -> Chat:
    (chat,) = read(HEADER + body, owner=OWNER)
    return chat


def test_header_and_plain_lines() -> None:
    chat = one_chat("-5d\n09:14 N: Hello: again\n09:15 A: Hi\n")
    assert (chat.kind, chat.external_id, chat.title, chat.language) == ("personal_chat", "22", "Anna", "en")
    assert [(line.day, line.clock, line.who, line.text) for line in chat.lines] == [
        (-5, "09:14", "N", "Hello: again"),
        (-5, "09:15", "A", "Hi"),
    ]


def test_marks_in_brackets() -> None:
    (first, second) = one_chat("-5d topic=x\n09:14 N [photo; #a]: See\n09:15 A [^a; react 👍 N; late]:\n").lines
    assert (first.flags, first.label, first.topic) == (("photo",), "a", "x")
    assert (second.flags, second.reply_to, second.text) == (("react 👍 N", "late"), "a", "")


def test_further_lines_and_edits() -> None:
    (line,) = one_chat("-5d\n09:14 N: One\n  two\n  ~edited +3h: One, two\n").lines
    assert line.text == "One\ntwo"
    assert line.edit == Edit(timedelta(hours=3), "One, two")


def test_service_entries() -> None:
    (line,) = one_chat('-5d\n09:14 N ! create_group [#g] title="The band" members="A|B"\n').lines
    assert (line.action, line.label, dict(line.fields)) == (
        "create_group",
        "g",
        {"title": "The band", "members": "A|B"},
    )


def test_a_deleted_account_has_no_name() -> None:
    (chat,) = read(
        "chat: personal_chat 9 | null\nlanguage: ru\nme: A\ncast: X = user9 | null\n\n-5d\n09:14 X: Ау\n", owner=OWNER
    )
    assert chat.title is None
    assert chat.cast["X"].name is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-5d\n", "no chat: header"),
        (HEADER + "09:14 N: Hi\n", "unknown header"),
        (HEADER + "-5d\n9:14 N: Hi\n", "line 7: neither a day nor a line"),
        (HEADER + "-5d\n  lost\n", "line 7: nothing to continue"),
        (HEADER + "-5d\n09:14 Q: Hi\n", "speakers outside its cast: Q"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(ScreenplayError, match=reason):
        read(text.replace("\n\n09", "\n09"), owner=OWNER)


@pytest.mark.parametrize(
    ("today", "sent_on"),
    [
        (date(2026, 3, 18), date(2026, 3, 13)),  # −5 is Friday 13 March: stays
        (date(2026, 3, 19), date(2026, 3, 13)),  # Saturday → the Friday before
        (date(2026, 3, 20), date(2026, 3, 16)),  # Sunday → the Monday after
    ],
)
def test_work_days_move_off_the_weekend(today: date, sent_on: date) -> None:
    now = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    (line,) = said(one_chat("-5d work\n09:14 N: Hi, {date:+1d}\n"), now=now, zone=ZONE)
    assert line.sent_at.date() == sent_on
    assert line.text == f"Hi, {(today - timedelta(days=4)).day} March"  # dates count from the heading's own day


def test_lines_of_one_minute_keep_their_order() -> None:
    now = datetime(2026, 3, 18, 12, tzinfo=UTC)
    lines = said(one_chat("-5d\n09:14 N: b\n09:14 N: a\n09:14 A: c\n"), now=now, zone=ZONE)
    assert [line.text for line in lines] == ["b", "a", "c"]
    assert len({line.sent_at for line in lines}) == 3


@pytest.mark.parametrize(
    "body",
    [
        "-5d\n09:14 N: Hi\n09:13 A: Hi\n",  # out of order
        "-1d\n09:14 N: Hi\n  ~edited +9d: Ho\n",  # edited in the future
    ],
)
def test_what_cannot_have_happened_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match=r"is not after|in the future"):
        said(one_chat(body), now=datetime(2026, 3, 18, 12, tzinfo=UTC), zone=ZONE)
