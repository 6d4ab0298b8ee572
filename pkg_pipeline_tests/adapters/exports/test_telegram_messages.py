"""Who, when, in reply to what: the fields of one Telegram entry through all forms since 2020."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.memory.records import Attachment, Rejected
from pkg_pipeline_tests.adapters.exports.content import account, chat, entry, telegram

BERLIN = ZoneInfo("Europe/Berlin")
GROUP = {"type": "private_supergroup", "id": 7, "name": "Team"}


@pytest.mark.parametrize(
    ("times", "sent_at", "assumed"),
    [
        ({"date_unixtime": "1709287200"}, datetime(2024, 3, 1, 10, tzinfo=UTC), False),
        ({"date_unixtime": 1709287200}, datetime(2024, 3, 1, 10, tzinfo=UTC), False),
        ({"date_unixtime": None, "date": "2020-07-01T12:00:00"}, datetime(2020, 7, 1, 10, tzinfo=UTC), True),  # +2
        ({"date_unixtime": None, "date": "2020-12-01T12:00:00"}, datetime(2020, 12, 1, 11, tzinfo=UTC), True),  # +1
        ({"date_unixtime": "soon", "date": "2020-12-01T12:00:00+03:00"}, datetime(2020, 12, 1, 9, tzinfo=UTC), False),
    ],
)
def test_the_time_is_utc_and_an_assumed_zone_is_marked(
    times: dict[str, Any], sent_at: datetime, *, assumed: bool
) -> None:
    (message,) = telegram(chat(entry(**times)), zone=BERLIN).messages
    assert (message.sent_at, message.time_assumed) == (sent_at, assumed)


@pytest.mark.parametrize(
    ("edits", "edited_at"),
    [
        ({}, None),
        ({"edited_unixtime": "1709287260"}, datetime(2024, 3, 1, 10, 1, tzinfo=UTC)),
        ({"edited": "2020-07-01T12:00:00"}, datetime(2020, 7, 1, 10, tzinfo=UTC)),
        ({"edited": "1970-01-01T05:00:00"}, None),  # every unedited message up to 2021
        ({"edited": "1969-12-31T19:00:00"}, None),  # the same west of Greenwich
        ({"edited": "1970-01-01T01:00:00", "edited_unixtime": "0"}, None),
        ({"edited": "?"}, None),
    ],
)
def test_edits(edits: dict[str, Any], edited_at: datetime | None) -> None:
    (message,) = telegram(chat(entry(**edits)), zone=BERLIN).messages
    assert message.edited_at == edited_at


@pytest.mark.parametrize(
    ("header", "who", "sender"),
    [
        (GROUP, {"from_id": "user42"}, "user42"),
        (GROUP, {"from_id": "channel7"}, "channel7"),  # anonymous administrator
        (GROUP, {"from_id": "chat9"}, "chat9"),
        (GROUP, {"from_id": 42}, "user42"),
        (GROUP, {"from_id": "42"}, "user42"),
        ({"type": "public_channel", "id": 7}, {"from_id": 7}, "channel7"),
        ({"type": "private_group", "id": 7}, {"from_id": 7}, "chat7"),
        ({"type": "private_channel", "id": 10036995664}, {"from_id": 10036995664}, "channel1447061072"),
        (GROUP, {"from": None, "from_id": "user42"}, "user42"),  # deleted account
        (GROUP, {"from": "Ben", "from_id": None}, "name:Ben"),
        (GROUP, {"from": None, "from_id": None}, None),
    ],
)
def test_the_sender_is_the_id_and_never_the_name(
    header: dict[str, Any], who: dict[str, Any], sender: str | None
) -> None:
    (message,) = telegram(chat(entry(**who), **header)).messages
    assert message.sender_external_id == sender
    assert message.sender_name == who.get("from", "Anna")


@pytest.mark.parametrize(
    ("fields", "forwarded_from"),
    [
        ({}, None),
        ({"forwarded_from": "News"}, "News"),
        ({"forwarded_from": None}, "unknown"),
        ({"forwarded_from": None, "forwarded_from_id": "channel500"}, "channel500"),
    ],
)
def test_forwards_are_marked(fields: dict[str, Any], forwarded_from: str | None) -> None:
    (message,) = telegram(chat(entry(**fields))).messages
    assert message.forwarded_from == forwarded_from
    assert message.sender_external_id == "user5"


def test_a_reply_into_another_chat_is_no_reply_in_this_one() -> None:
    here, same, there = telegram(
        chat(
            entry(1, reply_to_message_id=-99),
            entry(2, reply_to_message_id=1, reply_to_peer_id="user5"),
            entry(3, reply_to_message_id=1, reply_to_peer_id="channel9"),
        )
    ).messages
    assert (here.reply_to, same.reply_to, there.reply_to) == ("-99", "1", None)
    assert there.metadata == {"reply_to_message_id": 1, "reply_to_peer_id": "channel9"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("text", "not a message but a JSON str"),
        (None, "not a message but a JSON NoneType"),
        ({"id": 87, "type": "unsupported"}, "message 87: Telegram Desktop could not export it"),
        (entry(9, type="hologram"), "message 9: unknown type of message 'hologram'"),
        (entry(9, date=None, date_unixtime=None), "message 9: it has no readable date"),
        (entry(9, date="yesterday", date_unixtime=None), "message 9: 'yesterday' is no ISO 8601 time"),
        (entry(9, date_unixtime="9" * 30, date=None), "message 9: it has no readable date"),
        (entry(9, text={"error": 1}), "message 9: text is of type dict"),
        (entry(9, text=["a", 5]), "message 9: a run of the text is of type int"),
        (entry(9, from_id="ERROR: name"), "message 9: its sender's id cannot be read"),
        (entry(9, from_id=[1]), "message 9: its sender's id is of type list"),
        ({**entry(9), "id": True}, "its id is not an integer"),
        (entry(9, reply_to_message_id="x"), "message 9: its reply_to_message_id is not an integer"),
        (
            {"id": 9, "type": "service", "date_unixtime": "1", "action": "topic_created", "title": 5},
            "message 9: text is of type int",
        ),
    ],
)
def test_an_unreadable_entry_is_rejected_with_its_place_and_the_rest_goes_in(raw: Any, reason: str) -> None:
    items = telegram(account(chat(entry(1)), chat(entry(1), raw, entry(2))))
    (rejected,) = items.rejected
    assert rejected.where == "chats.list[1].messages[1]"
    assert rejected.reason.startswith(reason)
    assert len(items.messages) == 3


def test_every_message_says_where_it_stands() -> None:
    left = {"about": "…", "list": [chat(entry(3), id=6)]}
    items = telegram(account(chat(entry(1), entry(2)), left_chats=left))
    assert [message.where for message in items.messages] == [
        "chats.list[0].messages[0]",
        "chats.list[0].messages[1]",
        "left_chats.list[0].messages[0]",
    ]


def test_without_ids_the_same_messages_get_the_same_ids_and_equal_ones_stay_two() -> None:
    def minimal(second: str, text: str) -> dict[str, Any]:
        return {"type": "message", "date_unixtime": second, "from": "A", "text": text}

    raws = [minimal("1544006350", "ok"), minimal("1544006350", "ok"), minimal("1544006351", "ok")]
    first = telegram({"name": "N", "messages": raws}).messages
    again = telegram({"name": "N", "messages": [*raws, minimal("1544006352", "new")]}).messages
    ids = [message.external_id for message in first]
    assert len(set(ids)) == 3
    assert [message.external_id for message in again][:3] == ids
    assert all(identifier.startswith("derived-") for identifier in ids)


def service(number: int, action: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "service",
        "date_unixtime": "1709287200",
        "actor_id": "user5",
        "action": action,
        **fields,
    }


def test_a_topic_is_found_by_walking_the_replies() -> None:
    items = telegram(
        chat(
            service(2, "topic_created", title="Budget"),
            service(4, "topic_created", title="Trip"),
            entry(5, reply_to_message_id=2),
            entry(6, reply_to_message_id=5),  # a real reply inside the topic
            entry(7, reply_to_message_id=6),
            entry(8, reply_to_message_id=4),
            entry(9),
            entry(10, reply_to_message_id=9),
            entry(11, reply_to_message_id=999),
            entry(3, reply_to_message_id=4),  # out of order
            entry(12, reply_to_message_id=3),
            service(13, "topic_edit", new_title="Money", reply_to_message_id=2),
            entry(14, reply_to_message_id=7),
            service(15, "topic_edit", new_title="Nobody knows which"),
            entry(16, reply_to_message_id=8),
            **GROUP,
        )
    )
    topics = {int(message.external_id): message.topic for message in items.messages}
    budget, trip, none = (2, 5, 6, 7), (4, 8, 3, 12, 16), (9, 10, 11, 15)
    assert topics == {
        **dict.fromkeys(budget, "Budget"),
        **dict.fromkeys(trip, "Trip"),
        **dict.fromkeys(none),
        **dict.fromkeys((13, 14), "Money"),
    }


def test_the_only_topic_is_the_one_that_was_renamed() -> None:
    items = telegram(
        chat(
            service(2, "topic_created", title="Old"),
            service(3, "topic_edit", new_title="New", new_icon_emoji_id=1),
            entry(4, reply_to_message_id=2),
            **GROUP,
        )
    )
    assert [message.topic for message in items.messages] == ["Old", "New", "New"]


def test_rejections_name_no_words_of_the_conversation() -> None:
    items = telegram(chat(entry(1, text=["secret words", 5])))
    assert items == [items[0], Rejected("messages[0]", "message 1: a run of the text is of type int", "user:5", "1")]


@pytest.mark.parametrize(
    ("fields", "attachments"),
    [
        ({}, ()),
        ({"file": "(File not included.)", "media_type": "sticker", "sticker_emoji": "🙂"}, ()),
        (
            {"file": "files/c.pdf", "file_name": "c.pdf", "mime_type": "application/pdf", "file_size": 9},
            (Attachment("c.pdf", "application/pdf", 9),),
        ),
        ({"file": "files/old.doc"}, (Attachment("old.doc", None, None),)),
        ({"photo": "(File not included.)", "photo_file_size": 7}, (Attachment(None, "image/jpeg", 7),)),
        ({"photo": "photos/p_1.jpg"}, (Attachment("p_1.jpg", "image/jpeg", None),)),
        ({"file": 5, "media_type": "voice_message"}, (Attachment(None, "voice_message", None),)),
    ],
)
def test_files_and_photos_are_attachments_whatever_the_caption(
    fields: dict[str, Any], attachments: tuple[Attachment, ...]
) -> None:
    (message,) = telegram(chat(entry(text="as agreed", **fields))).messages
    assert (message.text, message.attachments) == ("as agreed", attachments)
