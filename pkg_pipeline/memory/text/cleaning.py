"""What text and JSON must look like before it is stored, and how damage is mended. Pure rules, no I/O.

PostgreSQL takes neither NUL in ``text`` or ``jsonb`` nor a lone surrogate in anything, and ``jsonb`` has no NaN. These
are replaced by U+FFFD (NaN and infinity by null) and counted; nothing else is altered: bidi controls, joiners, emoji,
U+2028 and odd white space are part of what was said. Names are stricter (``clean_name``): they stand in lines of ours.
Scoring, tokens and markup do not belong here.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

REPLACEMENT: Final = "\ufffd"
"""Stands for each character that cannot be stored."""

MAX_TEXT_CHARACTERS: Final = 2_000_000
"""A message's longest text: above any chat program's limit and any 1 MB line, below what would stall a summariser."""

MAX_JSON_DEPTH: Final = 100
"""Deeper values in metadata are cut: no chat program nests so far, and walking them could exhaust the stack."""

_DAMAGE = re.compile("[\x00\ud800-\udfff]")
_LINE_SPACE = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def clean_text(text: str) -> str:
    """``text`` with every NUL and lone surrogate replaced by U+FFFD; the same object where there is none."""
    return clean_text_counted(text)[0]


def clean_text_counted(text: str) -> tuple[str, int]:
    """``(clean text, number of characters replaced)``; the same object and 0 where nothing had to be done."""
    if text.isascii() and "\x00" not in text:  # most texts leave here; a lone surrogate is never ASCII
        return text, 0
    if _DAMAGE.search(text) is None:
        return text, 0
    return _DAMAGE.subn(REPLACEMENT, text)


def clean_name(name: str) -> str:
    """A name or title as one line that no terminal obeys and that turns no neighbour around.

    Line ends and tabs become one space, marks of writing direction go, other control characters (C0, C1 with U+009B)
    and lone surrogates become U+FFFD; joiners and everything printable stay. Cleaning twice changes nothing more.
    """
    if name.isprintable():  # no control, no mark, no line end: most names
        return name
    return _CONTROL.sub(REPLACEMENT, without_direction(_LINE_SPACE.sub(" ", name)))


def without_direction(text: str) -> str:
    """``text`` without marks of writing direction: what stands beside it is never turned around."""
    return text if text.isascii() else _DIRECTION.sub("", text)


def clean_json(value: Any) -> tuple[Any, int]:
    """A JSON-able value (``parts``, ``metadata``) made fit for ``jsonb``: ``(clean value, number of replacements)``.

    Strings and keys are cleaned like text, NaN and infinities become None, what is nested deeper than
    ``MAX_JSON_DEPTH`` becomes U+FFFD. Shape, order and all other values stay; untouched input comes back as it is.
    """
    return _clean(value, MAX_JSON_DEPTH)


def text_refusal(text: str) -> str | None:
    """Why a text is not taken in, or None. Length is counted in characters after cleaning."""
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
"""What a value of a wrong type, size or depth raises, wherever it is used."""


def unexpected_error(error: Exception) -> str:
    """Why a piece of input is not taken. Only the kind of the error: its words may quote a conversation."""
    return f"it cannot be read: {type(error).__name__} over an unforeseen value"
