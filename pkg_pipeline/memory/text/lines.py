"""Makes and shortens printed lines.

They begin with ``- `` or ``#`` and end with a newline, so that o200k token counts of lines add up exactly (P6).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pkg_pipeline.memory.text.cleaning import without_direction

ELLIPSIS: Final = "…"
Count = Callable[[str], int]

_BREAK: Final = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_BROKEN_WORD_CHARS: Final = 15
"""A cut goes back to a space at most this far away."""


LINE_TOKENS: Final = 10
"""Tokens of a printed message beside its text; measured."""


def in_full(*, messages: int, text_tokens: int) -> int:
    """Tokens of ``messages`` with ``text_tokens`` of text, printed in full (P8)."""
    return text_tokens + messages * LINE_TOKENS


def one_line(text: str) -> str:
    """``text`` without line breaks (``a / b``), control characters, direction marks, runs of blanks."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _SPACE.sub(" ", _BREAK.sub(" / ", without_direction(text).strip())).strip()


def bullet(text: str) -> str:
    return f"- {text}\n"


def fit(text: str, *, limit: int, count: Count, printed: Callable[[str], str] = bullet) -> str | None:
    """``text`` cut so that ``printed`` of it has at most ``limit`` tokens; None if nothing is left."""
    tokens = count(printed(text))
    length = len(text)
    shortened = text
    while tokens > limit:
        length = min(length - 1, length * max(limit, 0) // tokens)
        if length <= 0:
            return None
        shortened = _cut(text, length) + ELLIPSIS
        tokens = count(printed(shortened))
    return shortened


def _cut(text: str, length: int) -> str:
    """At most ``length`` characters, back to a word's end if near."""
    if text[length : length + 1].isspace():
        return text[:length].rstrip()
    space = text.rfind(" ", max(length - _BROKEN_WORD_CHARS, 1), length)
    return text[: space if space > 0 else length].rstrip()
