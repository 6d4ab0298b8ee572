"""One message of a session from JSON: the forms that are taken, and what is said of those that are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.records import ParsedMessage, Usage
from pkg_pipeline.stages.sessions.parsing import NewMessage, WrongMessage, parse_many, parse_message

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
BLOCKS = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]


def told(**fields: Any) -> NewMessage:
    return parse_message({"id": "1", "role": "user", **fields}, where="w", now=NOW, zone=ZoneInfo("Europe/Berlin"))


def parsed(**fields: Any) -> ParsedMessage:
    return told(**fields).message


@pytest.mark.parametrize(
    ("fields", "text", "parts"),
    [
        ({"text": "hi"}, "hi", None),
        ({"content": "hi"}, "hi", None),
        ({"text": ""}, "", None),
        ({"content": BLOCKS}, "one\ntwo", BLOCKS),
        ({"parts": BLOCKS}, "one\ntwo", BLOCKS),
        ({"text": "short", "parts": BLOCKS}, "short", BLOCKS),
        ({"text": "hi", "parts": []}, "hi", None),
        ({"content": "hi", "parts": BLOCKS}, "hi", BLOCKS),
    ],
)
def test_what_is_said(fields: dict[str, Any], text: str, parts: list[Any] | None) -> None:
    message = parsed(**fields)
    assert (message.text, message.parts) == (text, parts)


@pytest.mark.parametrize(
    ("fields", "at", "is_assumed"),
    [
        ({}, NOW, False),
        ({"sent_at": "2026-01-10T10:00:00+01:00"}, datetime(2026, 1, 10, 9, tzinfo=UTC), False),
        ({"sent_at": "2026-01-10T10:00:00"}, datetime(2026, 1, 10, 9, tzinfo=UTC), True),
        ({"created_at": 1768035600}, datetime(2026, 1, 10, 9, tzinfo=UTC), False),
        ({"sent_at": NOW.timestamp() + 3600}, NOW + timedelta(hours=1), False),
    ],
)
def test_when_it_was_said(fields: dict[str, Any], at: datetime, is_assumed: bool) -> None:
    message = parsed(text="hi", **fields)
    assert (message.sent_at, message.time_assumed) == (at, is_assumed)


@pytest.mark.parametrize(
    ("fields", "is_self"),
    [
        ({"role": "user"}, True),
        ({"role": "assistant"}, None),
        ({"role": "user", "sender_id": "ann"}, None),
        ({"role": "user", "is_self": False}, False),
        ({"role": None, "sender_id": 7, "is_self": True}, True),
    ],
)
def test_whose_words_they_are(fields: dict[str, Any], is_self: bool | None) -> None:
    assert parsed(text="hi", **fields).is_self is is_self


def test_usage_is_that_of_the_call() -> None:
    assert told(text="", usage={"input_tokens": 3, "output_tokens": 4}).usage == Usage(3, 4)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": None, "text": ""}, "id is missing"),
        ({"id": "", "text": ""}, "id is empty"),
        ({"id": True, "text": ""}, "id is neither a text nor an integer"),
        ({"id": 10**600, "text": ""}, "id is longer than 500 characters"),
        ({"id": "x" * 501, "text": ""}, "id is longer than 500 characters"),
        ({"id": "a\ud800", "text": ""}, "id has characters that cannot be stored"),
        ({}, "it has neither text nor content nor parts"),
        ({"text": 5}, "text is not a text"),
        ({"text": "a", "content": "b"}, "text and content are both texts; give one of them"),
        ({"content": BLOCKS, "parts": BLOCKS}, "content and parts are both blocks; give one of them"),
        ({"content": {"type": "text"}}, "content is neither a text nor a list of blocks"),
        ({"parts": "x"}, "parts is not a list"),
        ({"parts": ["x"]}, "parts[0] is not an object"),
        ({"parts": [{"type": "tool_use", "id": "a", "name": ""}]}, "parts[0] is a tool_use without name"),
        ({"text": "", "role": "king"}, "role is not one of user, assistant, system, tool"),
        ({"text": "", "role": None}, "it has neither role nor sender_id"),
        ({"text": "", "sent_at": "yesterday"}, "'yesterday' is no ISO 8601 time"),
        ({"text": "", "sent_at": True}, "neither an ISO 8601 text nor unix seconds"),
        (
            {"text": "", "sent_at": "2026-04-01T00:00:00Z"},
            "it was sent at 2026-04-01T00:00:00+00:00, which is still to come",
        ),
        ({"text": "", "sender_name": 5}, "sender_name is not a text"),
        ({"text": "", "deleted": "yes"}, "deleted is not true or false"),
        ({"text": "", "metadata": []}, "metadata is not an object"),
        ({"text": "", "reply_to": []}, "reply_to is neither a text nor an integer"),
        ({"text": "", "usage": 5}, "usage is not an object"),
        ({"text": "", "usage": {"input_tokens": -1}}, "usage.input_tokens is no number of tokens"),
        ({"text": "", "usage": {"output_tokens": 2**31}}, "usage.output_tokens is no number of tokens"),
    ],
)
def test_what_is_wrong_is_said(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongMessage) as wrong:
        parsed(**fields)
    assert (wrong.value.where, wrong.value.reason) == ("w", reason)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "id",
    "message_id",
    "text",
    "content",
    "parts",
    "role",
    "sender_id",
    "sent_at",
    "metadata",
    "usage",
    "deleted",
]


@given(st.lists(st.tuples(st.just("x"), JSON | st.dictionaries(st.sampled_from(FIELDS), JSON)), max_size=4))
def test_nothing_that_json_can_say_raises(values: list[tuple[str, Any]]) -> None:
    messages, rejected = parse_many(values, now=NOW, zone=UTC)
    assert len(messages) + len(rejected) == len(values)
