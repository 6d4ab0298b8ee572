"""Reads the generic JSONL format, one message per line; unreadable lines are rejected with number and reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

import orjson

from pkg_pipeline.adapters.exports import lenient_json
from pkg_pipeline.adapters.exports.reading import ByteSource, DamagedFile, ExportFormat
from pkg_pipeline.memory.message import attachments
from pkg_pipeline.memory.records import Attachment, ChatKind, ParsedChat, ParsedMessage, Rejected
from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS, clean_text, unexpected_error
from pkg_pipeline.memory.text.timestamps import UnreadableTime, from_iso_or_unix

DEFAULT_SOURCE: Final = "jsonl"
REQUIRED: Final = ("chat_id", "message_id", "sender_id", "sent_at", "text")
MAX_LINE_BYTES: Final = 8 * 1024 * 1024
MAX_ID_CHARACTERS: Final = 500
"""Limit of keys in a PostgreSQL index."""

_CHAT_KINDS: Final = frozenset(("direct", "group", "channel", "thread"))
_CHAT_CATEGORIES: Final = frozenset(("personal", "work", "mass"))
_ROLES: Final = frozenset(("user", "assistant", "system", "tool"))
_DIRECT_SENDERS: Final = 2  # me and the other
_OPTIONS: Final = (
    ("sender_name", str, "a text"),
    ("is_self", bool, "true or false"),
    ("deleted", bool, "true or false"),
    ("parts", list, "a list"),
    ("metadata", dict, "an object"),
    ("attachments", list, "a list"),
)
_LINES_TRIED: Final = 20
_FIELDS_ENOUGH: Final = 3
"""Required fields that make a file JSONL of ours, even if all lines lack one."""
_BOM: Final = b"\xef\xbb\xbf"
_TOO_LONG: Final = object()


class _BadLine(ValueError):
    """Why a line is rejected."""


class _CutOff(_BadLine):
    """A line that ends within its object."""


@dataclass(slots=True)
class _Seen:
    """The latest state of a chat; ``senders`` are counted while its kind is unknown."""

    chat: ParsedChat
    senders: set[str] | None


def read_jsonl(source: ByteSource, *, zone: tzinfo) -> Iterator[ParsedChat | ParsedMessage | Rejected]:
    """Everything in one JSONL file, in order of lines.

    A ``ParsedChat`` is yielded at its first line and after every change; the latest one is valid for a message. Without
    ``chat_kind``: ``thread`` if lines have a ``role``, else ``direct`` for up to two senders, else ``group``. ``zone``:
    for ISO times without offset. Never raises for the content.
    """
    seen: dict[str, _Seen] = {}
    try:
        for number, line in _lines(source):
            if line is _TOO_LONG:
                yield Rejected(f"line {number}", f"the line is longer than {MAX_LINE_BYTES:,} bytes")
                continue
            try:
                fields = _object(line)
                message = _message(fields, f"line {number}", zone)
                chat = _chat_if_changed(fields, message, seen)
            except (_BadLine, UnreadableTime) as error:
                # the file's end is known only before a last line without a line end
                is_cut = isinstance(error, _CutOff) and source.sha256 is not None
                yield Rejected(f"line {number}", str(error), is_damage=is_cut)
                continue
            except UNEXPECTED_ERRORS as error:
                yield Rejected(f"line {number}", unexpected_error(error))
                continue
            if chat is not None:
                yield chat
            yield message
    except DamagedFile as damage:
        yield Rejected(f"byte {source.bytes_read}", f"{damage}; everything before was read", is_damage=True)


def _lines(source: ByteSource) -> Iterator[tuple[int, Any]]:
    """``(number from 1, line)`` of non-blank lines; ``_TOO_LONG`` instead of one over the limit."""
    number = 0
    rest: list[bytes] = []  # pieces of a line whose end is not read yet
    rest_bytes = 0
    for chunk in source.chunks():
        *complete, last = chunk.split(b"\n")
        for complete_line in complete:
            line: Any = complete_line
            number += 1
            if rest_bytes:
                rest_bytes += len(line)
                rest.append(line)
                line = b"".join(rest) if rest_bytes <= MAX_LINE_BYTES else _TOO_LONG
                rest, rest_bytes = [], 0
            if number == 1 and line is not _TOO_LONG:
                line = line.removeprefix(_BOM)
            if line is _TOO_LONG or (line and not line.isspace()):
                yield number, line
        rest_bytes += len(last)
        rest.append(last)
        if rest_bytes > MAX_LINE_BYTES:
            rest.clear()  # its length is all that is still needed
    if rest_bytes > MAX_LINE_BYTES:
        yield number + 1, _TOO_LONG
    elif (line := b"".join(rest).removeprefix(_BOM if number == 0 else b"")) and not line.isspace():
        yield number + 1, line


def _object(line: bytes) -> dict[str, Any]:
    try:
        fields = lenient_json.loads(line)
    except lenient_json.NotJson as error:
        if not line.rstrip().endswith(b"}"):
            raise _CutOff(f"{error} (the line is cut off or not JSON at all)") from None
        raise _BadLine(str(error)) from None
    if type(fields) is not dict:
        raise _BadLine(f"not a JSON object but a {type(fields).__name__}")
    return fields


def _message(fields: dict[str, Any], where: str, zone: tzinfo) -> ParsedMessage:
    """Raises ``_BadLine``. Checks are inline and names positions, as this runs for every line."""
    get = fields.get
    text, sent_at, name, is_self = get("text"), get("sent_at"), get("sender_name"), get("is_self")
    role, parts, metadata, deleted = get("role"), get("parts"), get("metadata"), get("deleted")
    reply_to, edited_at, files = get("reply_to"), get("edited_at"), get("attachments")
    if type(text) is not str:
        raise _BadLine(_wrong("text", text, "a text"))
    if sent_at is None:
        raise _BadLine("sent_at is missing")
    if (
        (name is not None and type(name) is not str)
        or (is_self is not None and type(is_self) is not bool)
        or (deleted is not None and type(deleted) is not bool)
        or (parts is not None and type(parts) is not list)
        or (metadata is not None and type(metadata) is not dict)
        or (files is not None and type(files) is not list)
        or (role is not None and (type(role) is not str or role not in _ROLES))
    ):
        raise _BadLine(_wrong_option(fields))
    try:
        moment, assumed = from_iso_or_unix(sent_at, zone)
    except UnreadableTime as error:
        raise _BadLine(f"sent_at: {error}") from None
    attached = _attachments(files) if files else ()
    return ParsedMessage(
        _id(fields, "chat_id"),
        _id(fields, "message_id"),
        moment,
        text if text.strip() or not attached else attachments.described(attached),
        _id(fields, "sender_id"),
        name,
        is_self,
        "message",
        role,
        parts,
        None if reply_to is None else _id(fields, "reply_to"),
        None,  # topic
        None,  # forwarded_from
        None if edited_at is None else _edited_at(edited_at, zone),
        deleted is True,
        assumed,
        metadata or {},
        where,
        attached,
    )


def _attachments(given: list[Any]) -> tuple[Attachment, ...]:
    try:
        return attachments.checked(given)
    except attachments.WrongAttachment as error:
        raise _BadLine(str(error)) from None


def _wrong_option(fields: dict[str, Any]) -> str:
    for name, kind, expected in _OPTIONS:
        value = fields.get(name)
        if value is not None and type(value) is not kind:
            return _wrong(name, value, expected)
    return _wrong("role", fields.get("role"), "one of " + ", ".join(sorted(_ROLES)))


def _edited_at(value: object, zone: tzinfo) -> datetime:
    try:
        return from_iso_or_unix(value, zone)[0]
    except UnreadableTime as error:
        raise _BadLine(f"edited_at: {error}") from None


def _id(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if type(value) is str and 0 < len(value) <= MAX_ID_CHARACTERS and value.isprintable():
        return value
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise _BadLine(_wrong(name, value, "a text or an integer"))
    if not value or len(value) > MAX_ID_CHARACTERS:
        raise _BadLine(f"{name} is empty" if not value else f"{name} is longer than {MAX_ID_CHARACTERS} characters")
    if clean_text(value) is not value:
        raise _BadLine(f"{name} has characters that cannot be stored")
    return value


def _wrong(name: str, value: object, expected: str) -> str:
    return f"{name} is missing" if value is None else f"{name} is not {expected} but {_json_type(value)}"


def _json_type(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    kind = kinds.get(type(value), "something else")
    return f"{value!r}" if kind == "a text" and isinstance(value, str) and len(value) <= 40 else kind


def _chat_if_changed(fields: dict[str, Any], message: ParsedMessage, seen: dict[str, _Seen]) -> ParsedChat | None:
    """The chat of this line if new or changed. Raises ``_BadLine``."""
    known = seen.get(message.chat_external_id)
    kind, category, title = fields.get("chat_kind"), fields.get("chat_category"), fields.get("chat_title")
    source = fields.get("source", DEFAULT_SOURCE)
    if known is not None:  # the usual line: nothing is new
        chat = known.chat
        if source == chat.source and title in (None, chat.title) and category in (None, chat.category):
            settled = known.senders is None or (message.sender_external_id in known.senders and message.role is None)
            if (kind is None and settled) or (kind == chat.kind and known.senders is None):
                return None
    _check_chat(kind, category, fields)
    if source != DEFAULT_SOURCE:
        source = DEFAULT_SOURCE if source is None else _id(fields, "source")
    if known is not None and known.chat.source != source:
        known = None  # another chat that happens to have the same id
    said = ParsedChat(source, message.chat_external_id, kind or "direct", title, category)
    return _remembered(message, known, seen, said, kind_said=kind is not None)


def _check_chat(kind: object, category: object, fields: dict[str, Any]) -> None:
    for name, value, allowed in (("chat_kind", kind, _CHAT_KINDS), ("chat_category", category, _CHAT_CATEGORIES)):
        if value is not None and (type(value) is not str or value not in allowed):
            raise _BadLine(_wrong(name, value, "one of " + ", ".join(sorted(allowed))))
    title = fields.get("chat_title")
    if title is not None and type(title) is not str:
        raise _BadLine(_wrong("chat_title", title, "a text"))


def _remembered(
    message: ParsedMessage, known: _Seen | None, seen: dict[str, _Seen], said: ParsedChat, *, kind_said: bool
) -> ParsedChat | None:
    """Merges the line's data about its chat; the chat if that changed it."""
    kind: ChatKind = said.kind
    senders: set[str] | None = None
    if not kind_said:
        if known is not None and known.senders is None:
            kind = known.chat.kind
        elif message.role is not None:
            kind = "thread"
        else:
            senders = known.senders if known is not None and known.senders is not None else set()
            senders.add(message.sender_external_id or "")
            if len(senders) > _DIRECT_SENDERS:
                kind, senders = "group", None
    before = known.chat if known is not None else None
    chat = ParsedChat(
        said.source,
        said.external_id,
        kind,
        said.title or (before.title if before else None),
        said.category or (before.category if before else None),
    )
    seen[said.external_id] = _Seen(chat, senders)
    return None if chat == before else chat


def _refusal(head: bytes) -> str | None:
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    for line in lines[:_LINES_TRIED]:
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            quoted = sum(f'"{name}"'.encode() in line for name in REQUIRED)
            if line.lstrip().startswith(b"{") and quoted >= _FIELDS_ENOUGH:
                return None  # cut off by the head, or damaged: the reader will say
            continue
        if isinstance(fields, dict) and sum(name in fields for name in REQUIRED) >= _FIELDS_ENOUGH:
            return None
    return f"no line is an object with {', '.join(REQUIRED)}"


FORMAT: Final = ExportFormat(_refusal, lambda source, zone: read_jsonl(source, zone=zone))
