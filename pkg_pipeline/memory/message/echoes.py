"""What the memory served and somebody pastes back is no news (B14): fingerprints of served lines, and which part of a
message repeats them.

A served line has a form of its own: a bullet or heading, and a date, a time or a label before the words. A message that
quotes what somebody said lacks it, so only runs of lines in that form, with those words, are taken for an echo.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pkg_pipeline.memory.text.marks import WINDOW_MARKS

BEGINNINGS: Final = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Characters of a line's beginnings that are kept beside the whole line: it may come back cut."""

FEWEST_CHARS: Final = 8
"""Shorter lines say too little to be known again; they go with the lines around them."""

FEWEST_BEFORE_OWN: Final = 32
"""A served line is this long where words of one's own stand behind it on the same line: a name begins many lines."""

MOST_CHARS: Final = 4_000
MOST_LINES: Final = 1_000
UNDATED_RUN: Final = 4
"""So many known lines in a row, all but one with a bullet or heading, are an echo without any date."""

KEPT_LINES: Final = 16_384
"""Blocks that are served one after the other have most lines in common."""

_WORD: Final = re.compile(r"[^\W_]+")
_FORM: Final = re.compile(r"[ \t>]*(?:[-*•–]\s|#{1,6}\s|\[)")
_ANY_FORM: Final = re.compile(f"^{_FORM.pattern}", re.MULTILINE)
_LINE: Final = re.compile(r"[^\n]+")
_CUT: Final = re.compile(r"(?:…|\.\.\.)\W*$")
_DIGIT: Final = re.compile(r"\d")
_LABEL: Final = re.compile(r".{0,200}?[:：](?!\d)")
_HEADING: Final = re.compile(r"[ \t>]*#.*")


@dataclass(frozen=True)
class _Line:
    start: int
    text: str

    @cached_property
    def words(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(self.text, 0, MOST_CHARS))

    @cached_property
    def plain(self) -> str:
        """Words alone, so that quotation marks and other bullets change nothing."""
        return " ".join(word.group().casefold() for word in self.words)

    @cached_property
    def wholes(self) -> list[int]:
        """Fingerprints of the line up to each of its words, the whole line last."""
        digest, found = hashlib.blake2b(digest_size=8), list[int]()
        for word in self.words:
            digest.update(_bytes(word.group().casefold() + " "))
            found.append(_number(digest.copy().digest()) | 1)
        return found

    @property
    def whole(self) -> int:
        """The last of ``wholes``, at the cost of one."""
        said = "".join(f"{word.group().casefold()} " for word in self.words)
        return _number(hashlib.blake2b(_bytes(said), digest_size=8).digest()) | 1

    @cached_property
    def beginnings(self) -> list[int]:
        sizes = (size for size in BEGINNINGS if size <= len(self.plain))
        return [_number(hashlib.blake2b(_bytes(self.plain[:size]), digest_size=8).digest()) & ~1 for size in sizes]

    @property
    def says_something(self) -> bool:
        return len(self.plain) >= FEWEST_CHARS and not self.is_label

    @cached_property
    def has_form(self) -> bool:
        return _FORM.match(self.text) is not None

    @cached_property
    def is_dated(self) -> bool:
        """A date or time before the words, or in a heading."""
        label = _LABEL.match(self.text) or _HEADING.match(self.text)
        return self.has_form and label is not None and _DIGIT.search(label.group()) is not None

    @cached_property
    def is_label(self) -> bool:
        """Of the summary message of a window."""
        return self.text.strip(" \t>").startswith(_LABELS)

    @property
    def opening(self) -> int:
        return (self.beginnings or self.wholes[-1:])[0]

    def served_until(self, served: Container[int], *, may_be_cut: bool) -> int | None:
        """Up to which character the line repeats one that was served: its end, or where words of one's own begin.
        ``may_be_cut``: also without an ellipsis.
        """
        if not self.says_something:
            return None
        if self.wholes[-1] in served:
            return len(self.text)
        places = (place for place, one in enumerate(self.wholes) if one in served)
        whole = max((place for place in places if self.words[place].end() >= FEWEST_BEFORE_OWN), default=None)
        is_cut = may_be_cut or _CUT.search(self.text) is not None
        if is_cut and self.beginnings and self.beginnings[-1] in served:
            begun = BEGINNINGS[len(self.beginnings) - 1]
            if whole is None or begun > len(" ".join(word.group().casefold() for word in self.words[: whole + 1])):
                return len(self.text)  # it goes on behind the shorter line
        return None if whole is None else self.words[whole].end()


_LABELS: Final = tuple(f"[{mark}]" for mark in WINDOW_MARKS)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _number(digest: bytes) -> int:
    return int.from_bytes(digest, "big", signed=True)


def _lines(text: str) -> list[_Line]:
    return [_Line(found.start(), found.group()) for found in _LINE.finditer(text)][:MOST_LINES]


def fingerprints(text: str) -> list[int]:
    """Of the lines of a served block and of their beginnings, each once, sorted: signed 64-bit numbers, the odd ones of
    whole lines.
    """
    return sorted({one for line in _lines(text) if len(line.text) <= MOST_CHARS for one in _prints(line.text)})


@lru_cache(KEPT_LINES)
def _prints(text: str) -> tuple[int, ...]:
    """Of one line, none where it says too little."""
    line = _Line(0, text)
    return (line.whole, *line.beginnings) if line.says_something else ()


def openings(text: str) -> list[int]:
    """What is looked up first; empty for almost every message, in less time than it takes to count its tokens."""
    if _ANY_FORM.search(text) is None:
        return []
    lines = _lines(text)
    has_label = any(line.is_label for line in lines)
    formed = [line for line in lines if line.says_something and (line.has_form or has_label)]
    if has_label or len(formed) >= UNDATED_RUN - 1 or any(line.is_dated for line in formed):
        return [line.opening for line in formed]
    return []


def all_prints(text: str) -> list[int]:
    """All that ``own_parts`` can ask for, where an opening is known."""
    return list({one for line in _lines(text) for several in (line.wholes, line.beginnings) for one in several})


def own_parts(text: str, served: Container[int]) -> tuple[int, ...] | None:
    """Where the words of one's own begin and end (start, end, start, end, …), in characters; None: all are.

    ``served``: those of ``all_prints`` that are known.
    """
    lines = _lines(text)
    if not lines:
        return None
    ends = [line.served_until(served, may_be_cut=False) for line in lines]
    if len(lines) > 1 and ends[-2] is not None and ends[-1] is None:  # a block cut by its length
        ends[-1] = lines[-1].served_until(served, may_be_cut=True)
    own: list[int] = []
    at = 0
    for first, last in _runs(lines, ends):
        _add(own, text, at, lines[first].start)
        end = ends[last]
        at = lines[last].start + (len(lines[last].text) if end is None else end)
    if at == 0:
        return None
    _add(own, text, at, len(text))
    return tuple(own)


def own_words(text: str, own: Sequence[int] | None) -> str:
    """The text without what it repeats, as ``own_words`` in SQL."""
    if own is None:
        return text
    return "\n".join(text[start:end] for start, end in zip(own[::2], own[1::2], strict=True))


def _add(own: list[int], text: str, start: int, end: int) -> None:
    said = text[start:end]
    if _WORD.search(said):
        own += [start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())]


def _runs(lines: Sequence[_Line], ends: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """First and last of each run of lines that is an echo. Short lines go with known ones around them; a
    line with words of one's own behind it ends a run.
    """
    at = 0
    while at < len(lines):
        if ends[at] is None and not lines[at].is_label:
            at += 1
            continue
        first = last = at
        known: list[_Line] = []
        while at < len(lines) and (ends[at] is not None or lines[at].is_label or not lines[at].says_something):
            end = ends[at]
            if end is not None or lines[at].is_label:
                last = at
            if end is not None:
                known.append(lines[at])
            at += 1
            if end is not None and end < len(lines[last].text):
                break
        if _is_echo(known, lines[first : last + 1]):
            while first and not lines[first - 1].says_something and lines[first - 1].has_form:
                first -= 1  # a short heading
            yield first, last


def _is_echo(known: Sequence[_Line], run: Sequence[_Line]) -> bool:
    if any(line.is_label for line in run):
        return bool(known)
    formed = sum(line.has_form for line in known)
    if any(line.is_dated for line in known):
        return formed > 1 or any(line.is_dated and line.beginnings for line in known)
    return len(known) >= UNDATED_RUN and formed >= len(known) - 1
