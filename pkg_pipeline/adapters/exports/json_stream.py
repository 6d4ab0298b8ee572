"""Streaming JSON parser with bounded memory: containers are iterated, values decoded by the standard library's scanner.

It reports the exact position of a fault and tells a truncated file from a broken one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn

MAX_VALUE_CHARACTERS: Final = 64 * 1024 * 1024
"""The longest single value held in memory."""

_MARGIN: Final = 12
"""A fault this close to the end of the buffer may be a torn token: read on first."""
_AFTER_NUMBER: Final = frozenset(" \t\r\n,]}")
_TORN_NUMBER = re.compile(r"-|\.|[eE][+-]?")
_SPACE = re.compile(r"[ \t\r\n]*")
_OUTSIDE_STRING = re.compile(r'[^"{}\[\]]*+')
_SCALAR = re.compile(r"[^ \t\r\n,\]}]*+")
_INSIDE_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_AHEAD: Final = 8 * 1024
"""The longest match of a searched pattern."""


class JsonFault(Exception):
    """The text cannot be read further. ``unread_characters``: fetched characters behind the fault."""

    def __init__(self, reason: str, *, cut_off: bool, unread: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.cut_off = cut_off
        self.unread_bytes = len(unread.encode("utf-8", "surrogatepass"))


class BadValue(JsonFault):
    """A well-formed value too deep or too long to hold; it was skipped."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, cut_off=False, unread="")


class JsonStream:
    """A reader at one position; methods advance it or raise ``JsonFault``, after which ``seek`` can resume."""

    def __init__(self, chunks: Iterable[bytes], *, max_value_characters: int = MAX_VALUE_CHARACTERS) -> None:
        self._chunks = _decoded(chunks)
        self._max_value_characters = max_value_characters
        self._text = ""
        self._at = 0
        self._ended = False
        self._began = 0  # where the last value begins in the buffer
        # raw control characters are accepted; cleaning removes them
        self._decode = JSONDecoder(strict=False, parse_constant=lambda _: None).raw_decode

    def peek(self) -> str:
        """The next significant character, not consumed."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # pyright: ignore[reportOptionalMemberAccess]  # matches ""
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fetch():
                raise self._fault("the file ends too early", cut_off=True)

    def value(self) -> Any:
        """The next value. Raises ``BadValue`` after skipping one that cannot be held."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except JSONDecodeError as error:
                self._fetch_or_fail(error)
            except RecursionError:
                self._refuse("it is nested too deep")
            except ValueError:
                self._refuse("a number in it has thousands of digits")
            else:
                # a number may go on in the next chunk (``0`` of ``0.5``); strings and containers show their end
                shown = self._text[end - 1] in '"}]' or self._text[end : end + 1] in _AFTER_NUMBER
                if shown or not self._fetch():
                    self._began, self._at = self._at, end
                    return value

    def members(self, *, inside: bool = False) -> Iterator[str]:
        """Keys of an object (``inside``: already at a key); the caller consumes each value before the next key."""
        yield from self._entries("{", "}", inside=inside)

    def elements(self, *, inside: bool = False) -> Iterator[int]:
        """Indexes of an array (``inside``: already at an element); the caller consumes each element before the next."""
        for index, _ in enumerate(self._entries("[", "]", inside=inside)):
            yield index

    def skip(self) -> None:
        """Skips a value of any size with bounded memory."""
        opening = self.peek()
        if opening == "{":
            for _ in self.members():
                self._skip_part()
        else:
            self._skip_part()

    def _skip_part(self) -> None:
        if self.peek() != "[":
            with suppress(BadValue):
                self.value()
            return
        for _ in self.elements():
            with suppress(BadValue):
                self.value()

    def stands_at(self, pattern: re.Pattern[str]) -> bool:
        """Whether the next significant characters match; nothing is consumed."""
        self.peek()
        if len(self._text) - self._at < _AHEAD:
            self._fetch(_AHEAD)
        return pattern.match(self._text, self._at) is not None

    def seek(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Advances to the next match anywhere; None at the end of the file."""
        while (found := pattern.search(self._text, self._at)) is None:
            self._at = max(self._at, len(self._text) - _AHEAD)
            if not self._fetch(_AHEAD):
                return None
        self._at = found.start()
        return found

    def check_swallowed(self, value: object, mark: re.Pattern[str], hint: str) -> None:
        """Reports the value just read as a fault if another value matching ``mark`` lies within it (a stray quote or
        bracket). Every mark contains ``hint``.
        """
        began, end, text = self._began, self._at, self._text
        if isinstance(value, dict):
            if text.find(hint, text.find(hint, began, end) + 1, end) < 0:
                return  # at most its own, which is all but ever so
        else:  # the other may only begin in it
            self._at = began
            self._fetch(_AHEAD)
            began, end, text = self._at, self._at + end - began, self._text
            self._began, self._at = began, end
        found = mark.search(text, began + 1)
        if found is None or found.start() >= end:
            return
        with suppress(ValueError):
            JSONDecoder(strict=True).raw_decode(text, began)
            if isinstance(value, dict):
                return
        self._at = began
        fault = self._fault("what stands here goes on into what follows", cut_off=False)
        self.step()
        raise fault

    def fault(self, reason: str) -> JsonFault:
        """A fault at the current position: valid JSON that cannot be meant."""
        return self._fault(reason, cut_off=False)

    def step(self) -> None:
        """Advances by one character, so that ``seek`` finds something else."""
        self._at = min(self._at + 1, len(self._text))

    def expect_end(self) -> None:
        """Raises ``JsonFault`` unless only white space follows."""
        try:
            self.peek()
        except JsonFault:
            return
        raise self._fault("there is more after the end of the JSON document", cut_off=False)

    def _entries(self, opening: str, closing: str, *, inside: bool) -> Iterator[str]:
        if not inside:
            self._take(opening)
            if self.peek() == closing:
                self._at += 1
                return
        while True:
            key = ""
            if opening == "{":
                if self.peek() != '"':
                    raise self._fault("a key in quotes is expected", cut_off=False)
                key = self.value()
                self._take(":")
            yield key
            following = self.peek()
            if following != closing and following != ",":
                raise self._fault(f"',' or '{closing}' is expected", cut_off=False)
            self._at += 1
            if following == closing:
                return

    def _take(self, character: str) -> None:
        if self.peek() != character:
            raise self._fault(f"{character!r} is expected", cut_off=False)
        self._at += 1

    def _fetch_or_fail(self, error: JSONDecodeError) -> None:
        """Fetches more for a value torn by the end of the buffer; else raises the fault."""
        torn = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _MARGIN
        if torn and not self._ended:
            held = len(self._text) - self._at
            if held > self._max_value_characters:
                self._refuse(f"it is longer than {self._max_value_characters:,} characters")
            self._fetch(held)  # doubles the buffer: few scans of a long value
            return
        is_cut = torn and _is_incomplete(error, self._text[error.pos :].strip())
        reason = "the file ends too early" if is_cut else error.msg
        fault = self._fault(reason, cut_off=is_cut, at=min(error.pos, len(self._text)))
        self.step()
        raise fault

    def _pass_over(self) -> None:
        """Skips a value by its brackets and quotes, in pieces."""
        depth, is_string = 0, False
        is_container = self.peek() in '{["'
        while True:
            pattern = _INSIDE_STRING if is_string else _OUTSIDE_STRING if is_container else _SCALAR
            found = pattern.match(self._text, self._at)
            self._at = found.end() if found else self._at
            mark = self._text[self._at : self._at + 1]
            if not mark or mark == "\\":  # the buffer ends here, perhaps within an escape
                if not self._fetch():
                    raise self._fault("the file ends too early", cut_off=True)
                continue
            if not is_container:
                return
            self._at += 1
            if mark == '"':
                is_string = not is_string
            else:
                depth += 1 if mark in "{[" else -1
            if depth == 0 and not is_string:
                return

    def _refuse(self, reason: str) -> NoReturn:
        self._pass_over()
        raise BadValue(reason)

    def _fetch(self, at_least: int = 1) -> bool:
        """Appends that many characters to the buffer; False at the end of the file."""
        parts = [self._text[self._at :]]
        fetched = 0
        while fetched < at_least and not self._ended:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
            else:
                parts.append(chunk)
                fetched += len(chunk)
        if fetched:
            self._text = "".join(parts)
            self._at = 0
        return fetched > 0

    def _fault(self, reason: str, *, cut_off: bool, at: int | None = None) -> JsonFault:
        """``at``: position of the fault if not the current one."""
        unread = "" if cut_off else self._text[self._at if at is None else at :]
        return JsonFault(reason, cut_off=cut_off, unread=unread)


def _is_incomplete(error: JSONDecodeError, rest: str) -> bool:
    """At the end of the file: whether the text is truncated rather than wrong."""
    if not rest or error.msg.startswith(("Unterminated string", "Invalid \\")):
        return True
    return _TORN_NUMBER.fullmatch(rest) is not None or any(
        word.startswith(rest) for word in ("true", "false", "null", "-Infinity", "NaN")
    )


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    """UTF-8 with or without BOM; undecodable bytes become U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    for chunk in chunks:
        if text := decoder.decode(chunk):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text
