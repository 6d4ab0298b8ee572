"""Marks that the product prints (times, names, labels), and quoting of text that looks like them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.normalise import plain
from pkg_pipeline.memory.text.phrases import marks

OWNER: Final = "me"
"""Mark of the owner's messages in a window."""

WINDOW_MARKS: Final = (
    "Conversation Summary",
    "Relevant Memory",
    "Recallable Topics",
    "The conversation goes on.",
    "System",
    "Tool",
)
"""Bracketed labels of window lines without a speaker."""

_COLON: Final = re.compile("[:：︓﹕∶꞉ː˸։]")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
_PARTS: Final = re.compile(r"[()\[\]{}<>（）【】「」《》,，;；/|·—–]| - ")
_BEGINS_A_WORD: Final = re.compile(r"[^\W\d_\uf900-\U0010ffff]")
"""No folding makes a digit of it, or nothing."""
_TIME: Final = re.compile(r"\d{1,2}\s?:\s?\d{2}")
_LONGEST_HEAD: Final = 80
_BRACKETED: Final = tuple(f"[{plain(mark)}" for mark in WINDOW_MARKS)
_LINE: Final = re.compile(r"^.*$", re.MULTILINE)
_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def named(name: str) -> str:
    """A name as printed before a colon; quoted if it looks like a mark."""
    shown = one_line(name)
    return f'"{shown.replace(chr(34), chr(39))}"' if _is_like_ours(shown) else shown


@lru_cache(maxsize=4096)
def _is_like_ours(name: str) -> bool:
    if _COLON.search(name) or name.startswith('"'):
        return True
    return any(_begins_with_mark(part) for part in (name, *_PARTS.split(name)))


@cache
def _marks() -> tuple[str, ...]:
    return tuple(map(plain, (OWNER, "tool", *marks())))


def _begins_with_mark(text: str) -> bool:
    folded = _EDGES.sub("", plain(text))
    return _TIME.match(folded) is not None or any(
        folded.startswith(mark) and not folded[len(mark) : len(mark) + 1].isalnum() for mark in _marks()
    )


def quoted(text: str) -> str:
    """A single line printed without a label; quoted if it begins like one."""
    head = _COLON.split(text[:_LONGEST_HEAD], maxsplit=1)
    is_timed = not _BEGINS_A_WORD.match(text) and _TIME.match(plain(text[:_LONGEST_HEAD]))
    is_like_ours = is_timed or (len(head) > 1 and _begins_with_mark(head[0]))
    return f'"{text}"' if is_like_ours else text


def continued(text: str) -> str:
    """Several lines behind a name, further ones indented."""
    return _LINE_END.sub("\n  ", text)


def unmarked(text: str) -> str:
    """A text of a window, mark-like lines escaped with a backslash."""
    if not any(bracket in text for bracket in "[［"):
        return text
    return _LINE.sub(lambda match: _escaped(match.group()), text)


def _escaped(line: str) -> str:
    is_like_ours = plain(line[:_LONGEST_HEAD]).replace("[ ", "[").startswith(_BRACKETED)
    return f"\\{line}" if is_like_ours else line
