"""JSON → one message of a session, or why it is rejected. Cleaning and rows: ``stages.ingest.parsed_rows``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple, cast

from pkg_pipeline.memory.message.blocks import Part, WrongPart, checked_parts, text_of
from pkg_pipeline.memory.records import MessageRole, ParsedMessage, Rejected, Usage
from pkg_pipeline.memory.text.cleaning import clean_json, clean_text
from pkg_pipeline.memory.text.timestamps import UnreadableTime, from_iso_or_unix
from pkg_pipeline.stages.ingest.parsed_rows import LONGEST_ID

NAMES: Final[Mapping[str, str]] = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
"""Role → display name of a sender known only by role."""

MOST_AHEAD = timedelta(days=1)
"""Tolerated clock difference; messages from later than this are rejected."""

_USAGE: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MOST_TOKENS: Final = 2**31 - 1  # what a column of counts holds
_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "sender_name": (str, "a text"),
    "is_self": (bool, "true or false"),
    "deleted": (bool, "true or false"),
    "metadata": (dict, "an object"),
}


class WrongMessage(ValueError):
    """A rejected message: its place and the ``reason``, without content."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.where = where
        self.reason = reason


class NothingRead(ValueError):
    """Every message was rejected and nothing was stored; ``rejected`` has the reasons."""

    def __init__(self, rejected: list[Rejected]) -> None:
        first = rejected[0]
        more = f" (and {len(rejected) - 1:,} more)" if len(rejected) > 1 else ""
        super().__init__(f"no message could be read: {first.where}: {first.reason}{more}")
        self.rejected = rejected


class NewMessage(NamedTuple):
    """One message to append. ``usage`` is what the model reported for it; ``is_time_told`` False: ``sent_at`` is the
    clock's time, ignored for a known message.
    """

    message: ParsedMessage
    usage: Usage | None = None
    is_time_told: bool = True


def listed(messages: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"messages[{number}]", message) for number, message in enumerate(messages))


def parse_many(
    given: Iterable[tuple[str, Any]], *, now: datetime, zone: tzinfo
) -> tuple[list[NewMessage], list[Rejected]]:
    """The messages of (place, JSON value) pairs, and those rejected."""
    messages, rejected = list[NewMessage](), list[Rejected]()
    for where, value in given:
        try:
            if not isinstance(value, Mapping):
                raise WrongMessage(where, "it is not an object")
            messages.append(parse_message(cast("Mapping[str, Any]", value), where=where, now=now, zone=zone))
        except WrongMessage as wrong:
            rejected.append(Rejected(wrong.where, wrong.reason))
    return messages, rejected


def parse_message(fields: Mapping[str, Any], *, where: str, now: datetime, zone: tzinfo) -> NewMessage:
    """One message from its JSON object. ``now`` is its time if it has none and is new; ``zone`` applies to times
    without an offset. Raises WrongMessage.

    Fields: ``id`` or ``message_id``; ``text``, ``content`` (a text or blocks) or ``parts``; ``role``, ``sender_id`` or
    both; ``sent_at`` or ``created_at`` (ISO 8601 or unix); ``sender_name``, ``is_self``, ``reply_to``, ``edited_at``,
    ``deleted``, ``metadata``, ``usage``. Others are ignored.
    """
    try:
        return _parsed(fields, where, now, zone)
    except (UnreadableTime, WrongPart) as error:
        raise WrongMessage(where, str(error)) from None


def _parsed(fields: Mapping[str, Any], where: str, now: datetime, zone: tzinfo) -> NewMessage:
    """Inlined checks and positional arguments: runs for every message."""
    get = fields.get
    role, sender_id, name, is_self = get("role"), get("sender_id"), get("sender_name"), get("is_self")
    deleted, metadata, reply_to, edited_at = get("deleted"), get("metadata"), get("reply_to"), get("edited_at")
    usage = get("usage")
    if (
        (name is not None and type(name) is not str)
        or (is_self is not None and type(is_self) is not bool)
        or (deleted is not None and type(deleted) is not bool)
        or (metadata is not None and type(metadata) is not dict)
    ):
        raise WrongMessage(where, _wrong_type(fields))
    if role is not None and (type(role) is not str or role not in NAMES):
        raise WrongMessage(where, f"role is not one of {', '.join(NAMES)}")
    if sender_id is not None:
        sender_id = _id(fields, "sender_id", where)
    elif role is None:
        raise WrongMessage(where, "it has neither role nor sender_id")
    elif is_self is None and role == "user":
        is_self = True  # whose words a named sender's are only the caller knows
    text, parts = _said(fields, where)
    value = get("created_at") if get("sent_at") is None else get("sent_at")
    moment, is_assumed = (now, False) if value is None else _moment(value, where, now, zone)
    message = ParsedMessage(
        "",  # the session is its chat
        _id(fields, "id" if get("message_id") is None else "message_id", where),
        moment,
        text,
        role if sender_id is None else sender_id,
        NAMES.get(role or "") if name is None and sender_id is None else name,
        is_self,
        "message",
        cast("MessageRole | None", role),
        parts,
        None if reply_to is None else _id(fields, "reply_to", where),
        None,  # topic
        None,  # forwarded_from
        None if edited_at is None else from_iso_or_unix(edited_at, zone)[0],
        deleted is True,
        is_assumed,
        cast("dict[str, Any]", metadata or {}),
        where,
    )
    return NewMessage(message, None if usage is None else _usage(usage, where), value is not None)


def _wrong_type(fields: Mapping[str, Any]) -> str:
    for name, (kind, expected) in _TYPES.items():
        value = fields.get(name)
        if value is not None and type(value) is not kind:
            return f"{name} is not {expected}"
    return "a field is not of its type"


def _id(fields: Mapping[str, Any], name: str, where: str) -> str:
    value = fields.get(name)
    if type(value) is str and 0 < len(value) <= LONGEST_ID and value.isprintable():
        return value  # a lone surrogate is not printable, nor is NUL
    if type(value) is int:
        value = str(value) if abs(value) < 10**LONGEST_ID else "9" * (LONGEST_ID + 1)
    if value is None:
        raise WrongMessage(where, f"{name} is missing")
    if type(value) is not str:
        raise WrongMessage(where, f"{name} is neither a text nor an integer")
    if not value or len(value) > LONGEST_ID:
        raise WrongMessage(where, f"{name} is empty" if not value else f"{name} is longer than {LONGEST_ID} characters")
    if clean_text(value) is not value:
        raise WrongMessage(where, f"{name} has characters that cannot be stored")
    return value


def _said(fields: Mapping[str, Any], where: str) -> tuple[str, list[Part] | None]:
    """(text, parts). ``content`` is a text or a list of blocks."""
    text, content, parts = fields.get("text"), fields.get("content"), fields.get("parts")
    if content is not None:
        if isinstance(content, str):
            if text is not None:
                raise WrongMessage(where, "text and content are both texts; give one of them")
            text = content
        elif isinstance(content, list):
            if parts is not None:
                raise WrongMessage(where, "content and parts are both blocks; give one of them")
            parts = cast("list[Any]", content)
        else:
            raise WrongMessage(where, "content is neither a text nor a list of blocks")
    if parts is not None and type(parts) is not list:
        raise WrongMessage(where, "parts is not a list")
    if text is not None and type(text) is not str:
        raise WrongMessage(where, "text is not a text")
    if not parts:
        if text is None:
            raise WrongMessage(where, "it has neither text nor content nor parts")
        return text, None
    blocks = checked_parts(clean_json(parts)[0])
    return (text_of(blocks) if text is None else text), blocks


def _moment(value: object, where: str, now: datetime, zone: tzinfo) -> tuple[datetime, bool]:
    moment, is_assumed = from_iso_or_unix(value, zone)
    if moment > now + MOST_AHEAD:
        raise WrongMessage(where, f"it was sent at {moment.isoformat()}, which is still to come")
    return moment, is_assumed


def _usage(given: object, where: str) -> Usage:
    if not isinstance(given, dict):
        raise WrongMessage(where, "usage is not an object")
    told = cast("dict[str, Any]", given)
    counts = [told.get(name) or 0 for name in _USAGE]
    for name, count in zip(_USAGE, counts, strict=True):
        if type(count) is not int or not 0 <= count <= _MOST_TOKENS:
            raise WrongMessage(where, f"usage.{name} is no number of tokens")
    return Usage(counts[0], counts[1], cache_read_tokens=counts[2], cache_write_tokens=counts[3])
