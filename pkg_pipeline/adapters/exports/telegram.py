"""Reads Telegram Desktop's ``result.json`` as a stream: one chat or a whole account, every form since 2020.

Walks file and chats; one entry is read in ``telegram_message.py``. Memory is bounded by the first messages of a chat
and by topics, never by the file. Chat keys are ``kind:id``, since group 5 and user 5 may both exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import tzinfo
from itertools import chain
from typing import Any, Final

from pkg_pipeline.adapters.exports.json_stream import JsonFault, JsonStream
from pkg_pipeline.adapters.exports.reading import ByteSource, DamagedFile, ExportItem
from pkg_pipeline.adapters.exports.repair import repaired
from pkg_pipeline.adapters.exports.telegram_chat import SOURCE, DescribedChat, Entry, Opening, number_of
from pkg_pipeline.adapters.exports.telegram_message import ChatReader
from pkg_pipeline.memory.records import ParsedOwner, Rejected

CHAT_SECTIONS: Final = ("chats", "left_chats")


def read_telegram(source: ByteSource, *, zone: tzinfo) -> Iterator[ExportItem]:
    """Everything in one ``result.json``: the owner, and each chat before its messages.

    ``zone`` is where wall times without ``date_unixtime`` are assumed to be from. Never raises for the content: an
    entry that cannot be read is a ``Rejected`` with its place, and a file that is broken or cut off gives all that
    stands before the fault and then a ``Rejected`` with the byte position.
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
        self._headers_ahead: dict[str, dict[str, Any]] | None = None

    def items(self) -> Iterator[ExportItem]:
        try:
            if self._stream.peek() != "{":
                yield Rejected("byte 0", "a Telegram export begins with '{'")
                return
            yield from self._root()
            self._stream.expect_end()
        except JsonFault as fault:
            yield self._rejection(fault)
        except DamagedFile as damage:
            yield Rejected(f"byte {self._source.bytes_read}", f"{damage}; everything before was read")

    def _root(self) -> Iterator[ExportItem]:
        header: dict[str, Any] = {}
        for key in self._stream.members():
            if key == "messages":
                yield from self._chat(header, place="", is_left=False)
            elif key in CHAT_SECTIONS:
                yield from self._section(key)
            elif key == "personal_information":
                yield from self._owned_by(_owner(self._stream.value()))
            elif key in ("name", "type", "id"):
                header[key] = self._stream.value()
            else:
                self._stream.skip()
        if not self._chats_seen:
            yield Rejected("", "there is no chat in this export")

    def _section(self, section: str) -> Iterator[ExportItem]:
        if self._stream.peek() == "[":
            yield from self._list(section, section)
        elif self._stream.peek() != "{":
            if self._stream.value() is not None:
                yield Rejected(section, "not a list of chats")
        else:
            for key in self._stream.members():
                if key == "list" and self._stream.peek() == "[":
                    yield from self._list(f"{section}.list", section)
                else:
                    self._stream.skip()

    def _list(self, place: str, section: str) -> Iterator[ExportItem]:
        for index in self._stream.elements():
            chat_place = f"{place}[{index}]"
            if self._stream.peek() != "{":
                self._stream.skip()
                yield Rejected(chat_place, "not a chat")
                continue
            header: dict[str, Any] = {}
            for key in self._stream.members():
                if key == "messages":
                    yield from self._chat(header, place=f"{chat_place}.", is_left=section == "left_chats")
                elif key in ("name", "type", "id"):
                    header[key] = self._stream.value()
                else:
                    self._stream.skip()

    def _chat(self, header: dict[str, Any], *, place: str, is_left: bool) -> Iterator[ExportItem]:
        self._chats_seen += 1
        self._place = f"{place}messages"
        if self._stream.peek() != "[":
            if self._stream.value() is not None:
                yield Rejected(self._place, "not a list of messages")
            return
        if not {"type", "id"} <= header.keys():
            header = {**self._header_ahead(place), **header}
        entries = self._entries()
        opening = Opening(header, owner_known=self._owner is not None)
        fault = _look_at(entries, opening)
        described = DescribedChat(header, opening)
        if self._owner is None and (owner_id := described.inferred_owner()):
            yield from self._owned_by(ParsedOwner(SOURCE, owner_id))
        yield described.chat(is_left=is_left)
        reader = ChatReader(
            external_id=described.external_id,
            own_id=described.number,
            peer=described.peer,
            zone=self._zone,
            owner=self._owner.external_id if self._owner else None,
            is_personal=described.type == "personal_chat",
        )
        prefix = f"{place}messages["
        for index, raw in chain(opening.entries, () if fault else entries):
            yield reader.read(raw, f"{prefix}{index}]")
        if fault:
            raise fault

    def _entries(self) -> Iterator[Entry]:
        for index in self._stream.elements():
            yield index, self._stream.value()

    def _owned_by(self, owner: ParsedOwner | None) -> Iterator[ExportItem]:
        if owner is not None and owner != self._owner:
            self._owner = owner
            yield owner

    def _header_ahead(self, place: str) -> dict[str, Any]:
        """Name, type and id of a chat whose messages come first (a file written again with sorted keys)."""
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
            return Rejected(f"byte {position}", f"the file is cut off at byte {position}{after}; export it again")
        return Rejected(f"byte {position}", f"not valid JSON at byte {position}: {fault.reason}{after}")


def _look_at(entries: Iterator[Entry], opening: Opening) -> JsonFault | DamagedFile | None:
    """Reads on until the opening says enough; a fault on the way waits until what was read is passed on."""
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
        if key in ("name", "type", "id"):
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
