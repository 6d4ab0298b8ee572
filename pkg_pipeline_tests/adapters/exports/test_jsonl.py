"""The generic format, field by field and fault by fault."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.adapters.exports.jsonl import MAX_LINE_BYTES
from pkg_pipeline.memory.records import Attachment, ParsedChat, ParsedMessage, Rejected
from pkg_pipeline_tests.adapters.exports.content import jsonl

AT = datetime(2024, 3, 1, 10, tzinfo=UTC)


def line(**fields: Any) -> bytes:
    given = {
        "chat_id": "c",
        "message_id": "m1",
        "sender_id": "u",
        "sent_at": "2024-03-01T10:00:00+00:00",
        "text": "hi",
        **fields,
    }
    return json.dumps({name: value for name, value in given.items() if value != "ABSENT"}, ensure_ascii=False).encode()


def test_the_required_fields_are_enough() -> None:
    assert jsonl(line()) == [
        ParsedChat("jsonl", "c", "direct"),
        ParsedMessage("c", "m1", AT, "hi", sender_external_id="u", where="line 1"),
    ]


def test_every_optional_field_arrives() -> None:
    items = jsonl(
        line(
            source="crm", chat_title="Deal", chat_kind="group", chat_category="work", sender_name="Anna", is_self=False,
            role="assistant", parts=[{"type": "text", "text": "hi"}], reply_to="m0", edited_at=1709287260, deleted=True,
            metadata={"a": [1]},
        )
    )  # fmt: skip
    assert items == [
        ParsedChat("crm", "c", "group", "Deal", "work"),
        ParsedMessage(
            "c", "m1", AT, "hi", sender_external_id="u", sender_name="Anna", is_self=False, role="assistant",
            parts=[{"type": "text", "text": "hi"}], reply_to="m0", edited_at=datetime(2024, 3, 1, 10, 1, tzinfo=UTC),
            is_deleted=True, metadata={"a": [1]}, where="line 1",
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sent_at", "expected", "assumed"),
    [
        ("2024-03-01T10:00:00Z", AT, False),
        ("2024-03-01T13:00:00+03:00", AT, False),
        ("2024-03-01 10:00:00+00:00", AT, False),
        ("2024-03-01T11:00:00", AT, True),  # wall time in Berlin, +1
        ("2024-07-01T12:00:00", datetime(2024, 7, 1, 10, tzinfo=UTC), True),  # +2
        (1709287200, AT, False),
        (1709287200.5, datetime(2024, 3, 1, 10, 0, 0, 500000, tzinfo=UTC), False),
        ("1709287200", AT, False),
        (1709287200000, AT, False),
        (1709287200000000, AT, False),
        (1709287200000000000, AT, False),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), False),
    ],
)
def test_times(sent_at: Any, expected: datetime, *, assumed: bool) -> None:
    (message,) = jsonl(line(sent_at=sent_at), zone=ZoneInfo("Europe/Berlin")).messages
    assert (message.sent_at, message.time_assumed) == (expected, assumed)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        *[
            ({name: "ABSENT"}, f"{name} is missing")
            for name in ("chat_id", "message_id", "sender_id", "sent_at", "text")
        ],
        ({"text": None}, "text is missing"),
        ({"text": 5}, "text is not a text but a number"),
        ({"chat_id": ""}, "chat_id is empty"),
        ({"chat_id": 1.5}, "chat_id is not a text or an integer but a number"),
        ({"message_id": True}, "message_id is not a text or an integer but true or false"),
        ({"message_id": "x" * 501}, "message_id is longer than 500 characters"),
        ({"sender_id": "a\x00b"}, "sender_id has characters that cannot be stored"),
        ({"sent_at": "yesterday"}, "sent_at: 'yesterday' is no ISO 8601 time"),
        ({"sent_at": True}, "sent_at: neither an ISO 8601 text nor unix seconds"),
        ({"sent_at": "inf"}, "sent_at: inf is no unix time"),
        ({"sent_at": "0001-01-01T00:00:00+14:00"}, "sent_at: '0001-01-01T00:00:00+14:00' is no ISO 8601 time"),
        ({"edited_at": "never"}, "edited_at: 'never' is no ISO 8601 time"),
        ({"role": "robot"}, "role is not one of assistant, system, tool, user but 'robot'"),
        ({"chat_kind": "party"}, "chat_kind is not one of channel, direct, group, thread but 'party'"),
        ({"chat_category": ["work"]}, "chat_category is not one of mass, personal, work but a list"),
        ({"chat_title": 5}, "chat_title is not a text but a number"),
        ({"is_self": "yes"}, "is_self is not true or false but 'yes'"),
        ({"deleted": 1}, "deleted is not true or false but a number"),
        ({"parts": {}}, "parts is not a list but an object"),
        ({"metadata": []}, "metadata is not an object but a list"),
        ({"sender_name": 1}, "sender_name is not a text but a number"),
        ({"reply_to": [1]}, "reply_to is not a text or an integer but a list"),
        ({"source": 7.5}, "source is not a text or an integer but a number"),
    ],
)
def test_a_bad_line_is_rejected_with_number_and_reason_and_the_rest_goes_in(
    fields: dict[str, Any], reason: str
) -> None:
    items = jsonl(b"\n".join([line(), line(**{"message_id": "m2", **fields}), line(message_id="m3")]))
    assert items.rejected == [Rejected("line 2", reason)]
    assert [message.external_id for message in items.messages] == ["m1", "m3"]


def test_marks_ends_and_blank_lines() -> None:
    content = b"\xef\xbb\xbf" + line() + b"\r\n\r\n  \n" + line(message_id=2, reply_to=1) + b"\r\n"
    assert [(m.external_id, m.reply_to, m.where) for m in jsonl(content).messages] == [
        ("m1", None, "line 1"),
        ("2", "1", "line 4"),
    ]


def test_a_cut_last_line_is_rejected_alone() -> None:
    whole = line() + b"\n" + line(message_id="m2")
    for cut in range(len(line()) + 2, len(whole)):
        items = jsonl(whole[:cut])
        assert [message.external_id for message in items.messages] == ["m1"]
        assert items.rejected[0].where == "line 2"
        assert "cut off" in items.rejected[0].reason


def test_what_cleaning_can_mend_is_not_refused() -> None:
    broken = [line(text="X").replace(b"X", mark) for mark in (b"\\ud83d", b"\xff", b"\x01", b"\\u0000")]
    items = jsonl(b"\n".join(broken))
    assert [message.text for message in items.messages] == ["\ud83d", "\ufffd", "\x01", "\x00"]


def test_a_line_of_a_megabyte_goes_in_and_one_over_the_limit_is_rejected_alone() -> None:
    content = b"\n".join(
        [
            line(text="a" * (1 << 20)),
            line(text="b" * MAX_LINE_BYTES),
            line(message_id="m3"),
            line(text="c" * MAX_LINE_BYTES),
        ]
    )
    items = jsonl(content)
    assert [len(message.text) for message in items.messages] == [1 << 20, 2]
    assert [(r.where, r.reason) for r in items.rejected] == [
        ("line 2", "the line is longer than 8,388,608 bytes"),
        ("line 4", "the line is longer than 8,388,608 bytes"),
    ]


def test_a_chat_is_told_when_first_seen_and_when_it_changes() -> None:
    items = jsonl(
        b"\n".join(
            [
                line(chat_title="A", chat_kind="group"),
                line(chat_title="A", chat_kind="group"),
                line(chat_id="d", chat_kind="thread"),
                line(),  # says nothing about its chat: nothing changed
                line(chat_title="B"),
                line(chat_category="work"),
                line(source="other", chat_kind="group"),  # the same id elsewhere is another chat
                line(),
            ]
        )
    )
    assert items.chats == [
        ParsedChat("jsonl", "c", "group", "A"),
        ParsedChat("jsonl", "d", "thread"),
        ParsedChat("jsonl", "c", "group", "B"),
        ParsedChat("jsonl", "c", "group", "B", "work"),
        ParsedChat("other", "c", "group"),
        ParsedChat("jsonl", "c", "direct"),
    ]
    assert len(items.messages) == 8


def test_without_a_kind_a_third_sender_makes_a_group_and_a_role_a_thread() -> None:
    items = jsonl(
        b"\n".join([*[line(sender_id=s) for s in "aabbcd"], line(chat_id="t", role="user"), line(chat_id="t")])
    )
    assert [(found.external_id, found.kind) for found in items.chats] == [
        ("c", "direct"),
        ("c", "group"),
        ("t", "thread"),
    ]


@pytest.mark.parametrize("seed", range(200))
def test_every_line_of_a_mutated_file_is_a_message_or_a_rejection(seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(b"\n".join(line(message_id=str(n), text="привет", metadata={"n": n}) for n in range(20)))
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(content))
        content[at] = chance.choice(b'"{}[],:\\x0a9\x00\xff \n\r')
    items = jsonl(bytes(content))
    lines = [number for number, text in enumerate(bytes(content).split(b"\n"), 1) if text.strip()]
    assert [item.where for item in items if not isinstance(item, ParsedChat)] == [f"line {number}" for number in lines]


def test_attachments_are_kept_and_stand_for_missing_words() -> None:
    files = [{"name": "folder/Contract 7.pdf", "type": "application/pdf", "size": 12}, {"type": "image/png"}]
    _, message = jsonl(line(text="", attachments=files))
    assert isinstance(message, ParsedMessage)
    assert message.attachments == (
        Attachment("Contract 7.pdf", "application/pdf", 12),
        Attachment(None, "image/png", None),
    )
    assert message.text == "[file Contract 7.pdf] [photo]"
    _, worded = jsonl(line(attachments=files))
    assert isinstance(worded, ParsedMessage)
    assert worded.text == "hi"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("a.pdf", "attachments is not a list but 'a.pdf'"),
        (["a.pdf"], "attachments[0] is not an object"),
        ([{}, {"size": -1}], "attachments[1].size is not a number of bytes"),
        ([{"size": True}], "attachments[0].size is not a number of bytes"),
        ([{"name": 5}], "attachments[0].name is not a text"),
        ([{}] * 51, "attachments has 51 entries, at most 50 are kept"),
    ],
)
def test_a_line_with_a_wrong_attachment_is_rejected(given: Any, reason: str) -> None:
    assert jsonl(line(attachments=given)) == [Rejected("line 1", reason)]
