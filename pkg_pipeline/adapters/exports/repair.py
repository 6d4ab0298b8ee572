r"""Repairs invalid JSON of Telegram Desktop in a byte stream: escapes like ``\x01``, and unquoted custom emoji paths of
4.1.x (``"document_id": video_files/sticker (2).webm``). Independent of chunking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_KEY: Final = b'"document_id":'
_VALUE_LIMIT: Final = 300
"""Longest unquoted path; a key with its value is held back until complete."""
_WINDOW: Final = len(_KEY) + _VALUE_LIMIT + 16

_BACKSLASH: Final = 0x5C
_BAD_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_BARE_VALUE = re.compile(
    rb'(?<!\\)("document_id": ?)(?!null\b|true\b|false\b)([^\s",\-\d{}\[\]:][^\r\n]{0,%d}?)(,?[ \t]{0,8}\r?\n)'
    % _VALUE_LIMIT
)


def repaired(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The repaired content; holds back at most a few hundred bytes."""
    held = b""
    for chunk in chunks:
        data = held + chunk
        cut = _safe_end(data)
        held = data[cut:]
        if cut:
            yield _mend(data[:cut])
    if held:
        yield _mend(held)


def _mend(data: bytes) -> bytes:
    if _KEY in data:
        data = _BARE_VALUE.sub(_quote, data)
    if b"\\x" in data:
        data = _BAD_ESCAPE.sub(_as_unicode_escape, data)
    return data


def _as_unicode_escape(match: re.Match[bytes]) -> bytes:
    digits = match.group(1)
    return match.group() if digits is None else b"\\u00" + digits  # any other escape, a doubled backslash too, stays


def _quote(match: re.Match[bytes]) -> bytes:
    key, value, end = match.groups()
    return key + b'"' + value.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"' + end


def _safe_end(data: bytes) -> int:
    """Where ``data`` can be cut without tearing an escape or ``document_id`` line."""
    end = len(data)
    open_line = max(end - _WINDOW, data.rfind(b"\n") + 1, 0)
    cut = data.find(_KEY, open_line)
    if cut < 0:
        cut = next((end - size for size in range(len(_KEY) - 1, 0, -1) if data.endswith(_KEY[:size])), end)
    if cut < end:
        return cut - _backslashes_before(data, cut)  # keep escapes of quotes together
    return _before_torn_escape(data)


def _before_torn_escape(data: bytes) -> int:
    r"""The start of an escape that ends with the data (``\``, ``\x`` or ``\x0``), else the end."""
    end = len(data)
    for back in (1, 2, 3):
        start = end - back
        if start < 0 or data[start] != _BACKSLASH or _backslashes_before(data, start) % 2:
            continue  # no escape, or the second half of a doubled backslash
        if back == 1 or data[start + 1 : start + 2] == b"x":
            return start
    return end


def _backslashes_before(data: bytes, position: int) -> int:
    start = position
    while start > 0 and data[start - 1] == _BACKSLASH:
        start -= 1
    return position - start
