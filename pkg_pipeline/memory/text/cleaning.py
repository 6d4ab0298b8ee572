"""Makes text and JSON storable in PostgreSQL.

NUL and lone surrogates become U+FFFD, NaN and infinity null; everything else is kept. ``clean_name`` is stricter.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

REPLACEMENT: Final = "\ufffd"

MAX_TEXT_CHARACTERS: Final = 2_000_000
"""Longest message text."""

MAX_JSON_DEPTH: Final = 100
"""Deeper JSON is cut, against stack exhaustion."""

_DAMAGE = re.compile("[\x00\ud800-\udfff]")
_LINE_SPACE = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def clean_text(text: str) -> str:
    """``text`` with NUL and lone surrogates replaced by U+FFFD; the same object if unchanged."""
    return clean_text_counted(text)[0]


def clean_text_counted(text: str) -> tuple[str, int]:
    """``(clean text, number of characters replaced)``; the same object and 0 if unchanged."""
    if text.isascii() and "\x00" not in text:  # fast path; a lone surrogate is never ASCII
        return text, 0
    if _DAMAGE.search(text) is None:
        return text, 0
    return _DAMAGE.subn(REPLACEMENT, text)


def clean_name(name: str) -> str:
    """A name or title as one line without control characters and text direction marks. Idempotent.

    Line ends and tabs become a space, other control characters (C0, C1) and lone surrogates U+FFFD; joiners stay.
    """
    if name.isprintable():  # fast path for most names
        return name
    return _CONTROL.sub(REPLACEMENT, without_direction(_LINE_SPACE.sub(" ", name)))


def without_direction(text: str) -> str:
    return text if text.isascii() else _DIRECTION.sub("", text)


def clean_json(value: Any) -> tuple[Any, int]:
    """A JSON value made fit for ``jsonb``: ``(clean value, number of replacements)``.

    Strings and keys as ``clean_text``, NaN and infinities None, deeper than ``MAX_JSON_DEPTH`` U+FFFD. Unchanged input
    is returned as is.
    """
    return _clean(value, MAX_JSON_DEPTH)


def text_refusal(text: str) -> str | None:
    """Why a text is rejected, or None; length in characters after cleaning."""
    if len(text) <= MAX_TEXT_CHARACTERS:
        return None
    return f"the text has {len(text):,} characters, more than the {MAX_TEXT_CHARACTERS:,} that a message may have"


def _clean(value: Any, depth_left: int) -> tuple[Any, int]:
    if isinstance(value, str):
        return clean_text_counted(value)
    if isinstance(value, float):
        return (value, 0) if math.isfinite(value) else (None, 1)
    if isinstance(value, dict):
        return _clean_object(cast(dict[Any, Any], value), depth_left)
    if isinstance(value, (list, tuple)):
        return _clean_array(cast("list[Any] | tuple[Any, ...]", value), depth_left)
    return value, 0


def _clean_object(value: dict[Any, Any], depth_left: int) -> tuple[Any, int]:
    if depth_left == 0:
        return REPLACEMENT, 1
    clean: dict[str, Any] = {}
    replaced = 0
    for key, item in value.items():
        clean_key, in_key = clean_text_counted(str(key))
        clean[clean_key], in_item = _clean(item, depth_left - 1)
        replaced += in_key + in_item
    return (clean, replaced) if replaced else (value, 0)


def _clean_array(value: list[Any] | tuple[Any, ...], depth_left: int) -> tuple[Any, int]:
    if depth_left == 0:
        return REPLACEMENT, 1
    pairs = [_clean(item, depth_left - 1) for item in value]
    replaced = sum(count for _, count in pairs)
    return ([item for item, _ in pairs], replaced) if replaced else (value, 0)


UNEXPECTED_ERRORS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of values of a wrong type, size or depth."""


def unexpected_error(error: Exception) -> str:
    """Why input is rejected: the error's type only, its message may quote a conversation."""
    return f"it cannot be read: {type(error).__name__} over an unforeseen value"
