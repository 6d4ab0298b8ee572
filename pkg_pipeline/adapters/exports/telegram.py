"""Reads Telegram Desktop's ``result.json`` (one chat or an account, every form since 2020) as a stream.

Memory is bounded by a chat's first messages and its topics. Chat keys are ``kind:id``, as group 5 and user 5 may both
exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import tzinfo
from itertools import chain
from typing import Any, Final

from pkg_pipeline.adapters.exports import telegram_marks as marks
from pkg_pipeline.adapters.exports.json_stream import BadValue, JsonFault, JsonStream
from pkg_pipeline.adapters.exports.reading import ByteSource, DamagedFile, ExportFormat
from pkg_pipeline.adapters.exports.repair import repaired
from pkg_pipeline.adapters.exports.telegram_chat import CHAT_TYPES, SOURCE, DescribedChat, Entry, Opening, number_of
from pkg_pipeline.adapters.exports.telegram_message import ChatReader
from pkg_pipeline.memory.records import ExportItem, ParsedOwner, Rejected

LEFT_CHATS: Final = "left_chats"
CHAT_SECTIONS: Final = ("chats", LEFT_CHATS)
_HEAD_BYTES: Final = 256 * 1024
_SECTIONS: Final = frozenset((*CHAT_SECTIONS, "personal_information", "frequent_contacts"))
_FOREIGN_KEYS: Final = frozenset(("guild", "channel", "mapping", "chat_messages", "conversation_id"))
HEADER: Final = frozenset(("name", "type", "id"))


def read_telegram(source: ByteSource, *, zone: tzinfo) -> Iterator[ExportItem]:
    """The owner, and each chat before its messages.

    ``zone``: for times without ``date_unixtime``. Never raises for the content: unreadable entries are ``Rejected``
    with their place; a broken or truncated file gives one marked as damage with the byte position, and reading resumes
    at the next recognizable entry.
    """
    return _Account(source, zone).items()


class _Account:
    def __init__(self, source: ByteSource, zone: tzinfo) -> None:
        self._source = source
        self._zone = zone
        self._stream = JsonStream(repaired(source.chunks()))
        self._owner: ParsedOwner | None = None
        self._place = ""
        self._chats_seen = 0
        self._index = -1
        self._is_left = False
        self._header: dict[str, Any] = {}  # of the chat whose messages have not come yet
        self._reader: ChatReader | None = None
        self._headers_ahead: dict[str, dict[str, Any]] | None = None

    def items(self) -> Iterator[ExportItem]:
        try:
            yield from self._document()
            if not self._chats_seen:  # perhaps nested elsewhere by a wrong bracket or quote
                self._stream = JsonStream(repaired(self._source.uncounted_chunks()))
                yield from self._behind_a_fault()
        except DamagedFile as damage:
            reason = f"{damage}; everything before was read"
            yield Rejected(f"byte {self._source.bytes_read}", reason, is_damage=True)

    def _document(self) -> Iterator[ExportItem]:
        try:
            if self._stream.peek() != "{":
                yield Rejected("byte 0", "a Telegram export begins with '{'", is_damage=True)
                return
            yield from self._root()
            self._stream.expect_end()
        except JsonFault as fault:
            yield self._rejection(fault)
            yield from self._behind_a_fault()

    def _root(self) -> Iterator[ExportItem]:
        for key in self._stream.members():
            if key == "messages" or self._stream.stands_at(marks.MESSAGE_LIST):
                yield from self._chat(place="")
            elif key in CHAT_SECTIONS or self._stream.stands_at(marks.CHAT_SECTION):
                self._is_left = key == LEFT_CHATS
                yield from self._section(key)
            elif key == "personal_information":
                yield from self._owned_by(_owner(self._value()))
            elif key in HEADER:
                self._header[key] = self._value()
            else:
                self._stream.skip()
        if not self._chats_seen:
            yield Rejected("", "there is no chat in this export", is_damage=True)

    def _value(self) -> Any:
        """None for a value that cannot be held."""
        try:
            return self._stream.value()
        except BadValue:
            return None

    def _section(self, section: str) -> Iterator[ExportItem]:
        if self._stream.peek() == "[":
            yield from self._list(section)
        elif self._stream.peek() != "{":
            if self._value() is not None:
                yield Rejected(section, "not a list of chats")
        else:
            for key in self._stream.members():
                if (key == "list" and self._stream.peek() in "[{") or self._stream.stands_at(marks.CHAT_LIST):
                    yield from self._list(f"{section}.list")
                else:
                    self._stream.skip()

    def _list(self, place: str) -> Iterator[ExportItem]:
        for index in self._stream.elements():
            chat_place = f"{place}[{index}]"
            if self._stream.stands_at(marks.ENTRY):
                raise self._stream.fault("a message stands where a chat should")
            if self._stream.peek() != "{":
                self._stream.skip()
                yield Rejected(chat_place, "not a chat")
            else:
                self._reader, self._header = None, {}
                yield from self._chat_object(chat_place)

    def _chat_object(self, place: str, *, inside: bool = False) -> Iterator[ExportItem]:
        has_messages = False
        for key in self._stream.members(inside=inside):
            if key == "messages" or self._stream.stands_at(marks.MESSAGE_LIST):
                has_messages = True
                yield from self._chat(place=f"{place}.")
            elif key in HEADER:
                self._header[key] = self._value()
            else:
                self._stream.skip()
        if not has_messages:
            yield Rejected(place, "it has no list of messages")

    def _chat(self, *, place: str) -> Iterator[ExportItem]:
        header, self._header = self._header, {}
        self._chats_seen += 1
        self._place = f"{place}messages"
        self._index, self._reader = -1, None
        if self._stream.peek() != "[":
            if self._value() is not None:
                yield Rejected(self._place, "not a list of messages")
            return
        if not {"type", "id"} <= header.keys():
            header = {**self._header_ahead(place), **header}
        entries = self._entries()
        opening = Opening(header, owner_known=self._owner is not None)
        fault = _look_at(entries, opening)
        if fault and not opening.has_old_ids:  # a chat keeps its key though its first entries are broken
            opening.has_old_ids = marks.OLD_SENDER.search(self._source.head(_HEAD_BYTES)) is not None
        described = DescribedChat(header, opening)
        if self._owner is None and (owner_id := described.inferred_owner()):
            yield from self._owned_by(ParsedOwner(SOURCE, owner_id))
        yield described.chat(is_left=self._is_left)
        self._reader = ChatReader(
            external_id=described.external_id,
            own_id=described.number,
            peer=described.peer,
            zone=self._zone,
            owner=self._owner.external_id if self._owner else None,
            is_personal=described.type == "personal_chat",
        )
        yield from self._read(chain(opening.entries, () if fault else entries))
        if fault:
            raise fault

    def _entries(self, *, inside: bool = False) -> Iterator[Entry]:
        first = self._index + 1
        for index in self._stream.elements(inside=inside):
            try:
                raw = self._stream.value()
            except BadValue as bad:
                raw = bad
            else:
                self._stream.check_swallowed(raw, marks.MARKS, '"id"')
            yield first + index, raw

    def _read(self, entries: Iterable[Entry]) -> Iterator[ExportItem]:
        reader, prefix = self._reader, f"{self._place}["
        for index, raw in entries:
            self._index = index
            if reader is not None:
                yield reader.read(raw, f"{prefix}{index}]")
            else:
                yield Rejected(f"{prefix}{index}]", "nobody can tell which chat it belongs to")

    def _behind_a_fault(self) -> Iterator[ExportItem]:
        """Entries and chat headers found behind a fault."""
        while (found := self._stream.seek(marks.MARKS)) is not None:
            try:
                if found["entry"]:
                    self._index += 1  # what lies in between was at least one
                    yield from self._read(self._entries(inside=True))
                elif found["chat"] or (found["messages"] and {"type", "id"} <= self._header.keys()):
                    self._header = {} if found["chat"] else self._header
                    yield from self._chat_object("a chat behind the damage", inside=True)
                else:
                    self._reader, self._header = None, {}
                    self._is_left = self._is_left or bool(found["left"])
                    self._stream.step()
            except JsonFault as fault:
                yield self._rejection(fault)

    def _owned_by(self, owner: ParsedOwner | None) -> Iterator[ExportItem]:
        if owner is not None and owner != self._owner:
            self._owner = owner
            yield owner

    def _header_ahead(self, place: str) -> dict[str, Any]:
        """Name, type and id of a chat whose messages come first (sorted keys)."""
        if self._headers_ahead is None:
            stream = JsonStream(repaired(self._source.uncounted_chunks()))
            self._headers_ahead = {}
            with suppress(JsonFault, DamagedFile):  # what was found before is what there is; the fault comes in order
                _collect_headers(stream, "", self._headers_ahead)
        return self._headers_ahead.get(place, {})

    def _rejection(self, fault: JsonFault) -> Rejected:
        position = self._source.bytes_read - (0 if fault.cut_off else fault.unread_bytes)
        after = f"; what stands before it was read (it is in or after {self._place})" if self._place else ""
        if fault.cut_off:
            reason = f"the file is cut off at byte {position}{after}; export it again"
        else:
            reason = f"not valid JSON at byte {position}: {fault.reason}{after}"
        return Rejected(f"byte {position}", reason, is_damage=True)


def _look_at(entries: Iterator[Entry], opening: Opening) -> JsonFault | DamagedFile | None:
    """Reads on until the opening is enough; a fault is raised after what was read."""
    try:
        for entry in entries:
            opening.add(entry)
            if opening.is_enough:
                break
    except (JsonFault, DamagedFile) as fault:
        return fault
    return None


def _collect_headers(stream: JsonStream, place: str, headers: dict[str, dict[str, Any]]) -> None:
    header = headers.setdefault(place, {})
    for key in stream.members():
        if key in HEADER:
            header[key] = stream.value()
        elif key in CHAT_SECTIONS and not place and stream.peek() == "{":
            for inner in stream.members():
                if inner == "list" and stream.peek() == "[":
                    for index in stream.elements():
                        if stream.peek() == "{":
                            _collect_headers(stream, f"{key}.list[{index}].", headers)
                        else:
                            stream.skip()
                else:
                    stream.skip()
        else:
            stream.skip()


def _owner(section: Any) -> ParsedOwner | None:
    if not isinstance(section, dict) or (number := number_of(section.get("user_id"))) is None:
        return None
    names = [section.get(part) for part in ("first_name", "last_name")]
    return ParsedOwner(SOURCE, f"user{number}", " ".join(n for n in names if isinstance(n, str) and n) or None)


def _refusal(head: bytes) -> str | None:
    if head[:1] == b"[":
        return "begins with a list"
    keys, chat_type = _top_level(head)
    if keys & _FOREIGN_KEYS:
        return "its keys are another program's"
    if "messages" in keys or keys & _SECTIONS or str(chat_type) in CHAT_TYPES:
        return None
    if any(found["entry"] or found["chat"] for found in marks.MARKS.finditer(head.decode("latin-1"))):
        return None  # broken before its first message
    return "no JSON object with chats or messages"


def _top_level(head: bytes) -> tuple[set[str], object]:
    """Keys of the outermost object within the head, and the value of ``type``."""
    stream = JsonStream(repaired(iter((head,))))
    keys: set[str] = set()
    chat_type: object = None
    with suppress(JsonFault):  # the head ends somewhere
        for key in stream.members():
            keys.add(key)
            if key == "type":
                chat_type = stream.value()
            else:
                stream.skip()
    return keys, chat_type


FORMAT: Final = ExportFormat(_refusal, lambda source, zone: read_telegram(source, zone=zone))
