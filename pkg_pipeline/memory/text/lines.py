"""How any text becomes one printed line, and how a line is shortened. What is printed and why is not decided here.

A printed line begins with ``- `` or ``#`` and ends with one newline. o200k splits text right behind such a newline, so
that the token counts of lines add up exactly to that of the block (P6).
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
"""A cut goes back to the last space if that is not farther away than this; Chinese has none and is cut anywhere."""


LINE_TOKENS: Final = 10
"""What a printed message costs beside its text: dash, time, speaker, newline. Measured: 8 for me, 11–13 for names."""


def in_full(*, messages: int, text_tokens: int) -> int:
    """What ``messages`` with ``text_tokens`` of text would cost, printed word for word like the newest ones (P8)."""
    return text_tokens + messages * LINE_TOKENS


def one_line(text: str) -> str:
    """``text`` without line breaks (``a / b``), control characters, marks that turn a line around, runs of blanks."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _SPACE.sub(" ", _BREAK.sub(" / ", without_direction(text).strip())).strip()


def bullet(text: str) -> str:
    """The printed line of one item."""
    return f"- {text}\n"


def fit(text: str, *, limit: int, count: Count, printed: Callable[[str], str] = bullet) -> str | None:
    """``text`` shortened at its end so that ``printed`` of it has at most ``limit`` tokens; None if nothing is left.

    The first guess cuts in proportion; each further one in proportion to how far the last was over.
    """
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
    """The first ``length`` characters, back to the end of a word where one is near."""
    if text[length : length + 1].isspace():
        return text[:length].rstrip()
    space = text.rfind(" ", max(length - _BROKEN_WORD_CHARS, 1), length)
    return text[: space if space > 0 else length].rstrip()
