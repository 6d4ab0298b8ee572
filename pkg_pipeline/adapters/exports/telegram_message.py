"""One Telegram entry as a record: identity, time, reply, topic, metadata."""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from pkg_pipeline.adapters.exports.json_stream import BadValue
from pkg_pipeline.adapters.exports.telegram_chat import number_of
from pkg_pipeline.adapters.exports.telegram_text import (
    UnreadableText,
    attachments_of,
    links_and_mentions,
    message_text,
    plain,
    service_text,
)
from pkg_pipeline.memory.records import MessageKind, ParsedMessage, Rejected
from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS, unexpected_error
from pkg_pipeline.memory.text.timestamps import UnreadableTime, from_iso

_PREFIXED_ID = re.compile(r"[a-z_]+\d+")
_CONSUMED: Final = frozenset(
    (
        "id",
        "type",
        "date",
        "date_unixtime",
        "edited",
        "edited_unixtime",
        "from",
        "from_id",
        "actor",
        "actor_id",
        "text",
        "text_entities",
        "full_text",
        "rich_message",
        "reply_to_message_id",
        "forwarded_from",
        "thumbnail",
        "thumbnail_file_size",
    )
)
"""Keys that become fields or are useless without media; all others are metadata."""
_TOO_BIG: Final = 1 << 63


class _Unreadable(ValueError):
    """Why an entry is rejected."""


class Topics:
    """Topics of messages by their replies; 16 bytes per message in a topic."""

    def __init__(self) -> None:
        self._titles: dict[int, str | None] = {}
        self._ids = array("q")
        self._roots = array("q")
        self._stray: dict[int, int] = {}  # ids that did not come in ascending order

    def title_of(self, raw: Mapping[str, Any], message_id: int, reply_to: int | None) -> str | None:
        """The topic's title at this point, None outside of topics (General)."""
        action = raw.get("action")
        if action == "topic_created":
            self._titles[message_id] = plain(raw.get("title")) or None
            return self._titles[message_id]
        root = self._root_of(reply_to)
        if action == "topic_edit":
            if root is None and len(self._titles) == 1:  # exports often leave out which topic was edited
                root = next(iter(self._titles))
            if root is not None and (title := plain(raw.get("new_title"))):
                self._titles[root] = title
        if root is None:
            return None
        self._remember(message_id, root)
        return self._titles[root]

    def _root_of(self, reply_to: int | None) -> int | None:
        if reply_to is None or reply_to in self._titles:
            return reply_to
        place = bisect_left(self._ids, reply_to)
        if place < len(self._ids) and self._ids[place] == reply_to:
            return self._roots[place]
        return self._stray.get(reply_to)

    def _remember(self, message_id: int, root: int) -> None:
        if not self._ids or message_id > self._ids[-1]:
            self._ids.append(message_id)
            self._roots.append(root)
        else:
            self._stray[message_id] = root


@dataclass(slots=True)
class ChatReader:
    """Converts the entries of one chat in order.

    ``own_id``: the chat's number in the export (sender of a channel's posts in older forms); ``peer``: the chat as a
    sender id (``user5``, ``channel7``); ``owner``: the exporting account's sender id if known.
    """

    external_id: str
    own_id: int | None
    peer: str | None
    zone: tzinfo
    owner: str | None = None
    is_personal: bool = False
    _topics: Topics = field(default_factory=Topics)
    _derived_second: str = ""
    _derived_seen: dict[str, int] = field(default_factory=dict[str, int])

    def read(self, raw: object, where: str) -> ParsedMessage | Rejected:
        """The record of an entry, or why there is none; ``raw`` may be a ``BadValue``."""
        if isinstance(raw, BadValue):
            return Rejected(where, raw.reason, self.external_id)
        if not isinstance(raw, dict):
            return Rejected(where, f"not a message but a JSON {type(raw).__name__}", self.external_id)
        try:
            return self._message(raw, where)
        except (_Unreadable, UnreadableText, UnreadableTime) as error:
            reason = str(error)
        except UNEXPECTED_ERRORS as error:
            reason = unexpected_error(error)
        number = number_of(raw.get("id"))
        named = reason if number is None else f"message {number}: {reason}"
        return Rejected(where, named, self.external_id, None if number is None else str(number))

    def _message(self, raw: dict[str, Any], where: str) -> ParsedMessage:
        kind = _kind(raw)
        sent_at, time_assumed = self._sent_at(raw)
        message_id = _integer(raw, "id")
        sender = self._sender(raw)
        name = raw.get("from", raw.get("actor"))
        text = service_text(raw) if kind == "service" else message_text(raw)
        metadata = {key: value for key, value in raw.items() if key not in _CONSUMED}
        if isinstance(raw.get("text"), list) or raw.get("text_entities"):
            metadata.update(links_and_mentions(raw.get("text_entities") or raw["text"]))
        reply_to = self._reply_to(raw, metadata)
        return ParsedMessage(
            chat_external_id=self.external_id,
            external_id=self._derived_id(raw, sender, text) if message_id is None else str(message_id),
            sent_at=sent_at,
            text=text,
            sender_external_id=sender,
            sender_name=name if isinstance(name, str) and name else None,
            is_self=self._is_self(sender),
            kind=kind,
            reply_to=None if reply_to is None else str(reply_to),
            topic=None if message_id is None else self._topics.title_of(raw, message_id, reply_to),
            forwarded_from=_forwarded_from(raw),
            edited_at=self._edited_at(raw),
            time_assumed=time_assumed,
            metadata=metadata,
            where=where,
            attachments=() if kind == "service" else attachments_of(raw),
        )

    def _sent_at(self, raw: dict[str, Any]) -> tuple[datetime, bool]:
        if (moment := _unixtime(raw.get("date_unixtime"))) is not None:
            return moment, False
        if not isinstance(raw.get("date"), str):
            raise _Unreadable("it has no readable date")
        return from_iso(raw["date"], self.zone)

    def _edited_at(self, raw: dict[str, Any]) -> datetime | None:
        """None for the zero that exports up to 2021 have in unedited messages."""
        edited = _unixtime(raw.get("edited_unixtime"))
        if edited is None and isinstance(raw.get("edited"), str):
            try:
                edited, _ = from_iso(raw["edited"], self.zone)
            except UnreadableTime:
                return None
        return edited if edited is not None and edited.year > 1970 else None

    def _sender(self, raw: dict[str, Any]) -> str | None:
        value = raw.get("from_id", raw.get("actor_id"))
        if isinstance(value, int) and not isinstance(value, bool):
            return self.peer if value == self.own_id and self.peer else f"user{value}"
        if isinstance(value, str):
            if _PREFIXED_ID.fullmatch(value):
                return value
            if value.isdecimal():
                return f"user{value}"
            raise _Unreadable("its sender's id cannot be read")
        if value is not None:
            raise _Unreadable(f"its sender's id is of type {type(value).__name__}")
        name = raw.get("from", raw.get("actor"))
        return f"name:{name}" if isinstance(name, str) and name else None

    def _is_self(self, sender: str | None) -> bool | None:
        if sender is None or not sender.startswith("user"):
            return None  # an anonymous administrator or a channel may well be the owner
        if self.owner is not None:
            return sender == self.owner
        return False if self.is_personal and sender == self.peer else None

    def _reply_to(self, raw: dict[str, Any], metadata: dict[str, Any]) -> int | None:
        target = _integer(raw, "reply_to_message_id")
        if target is None or raw.get("reply_to_peer_id", self.peer) == self.peer:
            return target
        metadata["reply_to_message_id"] = target  # of another chat: reply_to_peer_id beside it says which
        return None

    def _derived_id(self, raw: dict[str, Any], sender: str | None, text: str) -> str:
        """For exports without ids: hash of second, sender and text, plus a count among equals."""
        second = str(raw.get("date_unixtime") or raw.get("date"))
        if second != self._derived_second:
            self._derived_second = second
            self._derived_seen.clear()
        identity = "\x1f".join((second, sender or "", text)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(identity).hexdigest()[:20]
        count = self._derived_seen.get(digest, 0)
        self._derived_seen[digest] = count + 1
        return f"derived-{digest}" if count == 0 else f"derived-{digest}-{count}"


def _kind(raw: dict[str, Any]) -> MessageKind:
    kind = raw.get("type", "message")
    if kind == "message" or kind == "service":
        return kind
    if kind == "unsupported":
        raise _Unreadable("Telegram Desktop could not export it (type unsupported): it has no date and no content")
    raise _Unreadable(f"unknown type of message {str(kind)[:40]!r}")


def _integer(raw: dict[str, Any], key: str) -> int | None:
    if raw.get(key) is None:
        return None
    number = number_of(raw[key])
    if number is None or abs(number) >= _TOO_BIG:
        raise _Unreadable(f"its {key} is not an integer")
    return number


def _unixtime(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    try:
        return datetime.fromtimestamp(int(value), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _forwarded_from(raw: dict[str, Any]) -> str | None:
    """The original sender; "unknown" where the name is missing."""
    if "forwarded_from" not in raw and "forwarded_from_id" not in raw:
        return None
    for key in ("forwarded_from", "forwarded_from_id"):
        if isinstance(name := raw.get(key), str) and name:
            return name
    return "unknown"
