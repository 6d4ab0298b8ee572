"""Cuts long texts into passages.

Word units: 1 per word, 0.6 per Chinese character or kana, 1 per six characters of words over twelve.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

PASSAGE_WORDS: Final = 100
"""Target size."""
FEWEST_WORDS: Final = 60
MOST_WORDS: Final = 120
"""Largest size of a cut."""
WHOLE_WORDS: Final = 145
"""A remainder up to this stays whole."""
BLOCK_WORDS: Final = 45
"""Target size where a text has blocks: paragraphs, headings with what follows, code."""
FEWEST_BLOCK_WORDS: Final = 25
WHOLE_BLOCK_WORDS: Final = 90
"""Blocks up to this stay together."""

_TENTHS: Final = 10
_DENSE_TENTHS: Final = 6
_LONG_WORD_CHARS: Final = 12
_WORD_CHARS: Final = 6
_LONGEST_WORD_CHARS: Final = PASSAGE_WORDS * _WORD_CHARS
"""Longer "words" are cut."""

# Chinese characters, kana and their punctuation; Korean has spaces
_DENSE = (
    "\u2e80-\u2fff\u3001-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff65"
    "\U00020000-\U0003ffff"
)
# joined to the preceding character: accents, parts of an emoji
_STICKY = "\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
_UNIT = re.compile(
    rf"[^\s{_DENSE}]{{1,{_LONGEST_WORD_CHARS}}}(?<!\u200d)(?![{_STICKY}])"
    rf"|[^\s{_DENSE}]{{1,{_LONGEST_WORD_CHARS}}}"
    rf"|(?P<dense>[{_DENSE}][{_STICKY}]{{0,4}})"
)
_UNITS_IN_WORDS = re.compile(f"[{_DENSE}{_STICKY}]")
_SENTENCE_END_CHARS: Final = 4
_SENTENCE_END = re.compile(r"[.!?…。．！？｡]['\"»”’)\]」』）】]*\Z")
_CLOSING: Final = frozenset("、。，．！？；：）」』】〉》〕’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ")
"""Dense characters that begin no passage."""

_SURELY_WHOLE_CHARS: Final = WHOLE_WORDS
"""Shorter texts need no counting."""

_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]+\*\*:?[ \t]*$|```[a-z])", re.MULTILINE)
"""A line that belongs to what follows it: a heading, a line in bold, the beginning of code in a language."""

_TORN, _BETWEEN, _SENTENCE, _LINE = range(4)


class _Unit(NamedTuple):
    start: int
    end: int
    tenths: int
    is_dense: bool


def passages(text: str) -> list[tuple[int, int]]:
    """Character ranges ``(start, end)`` of the passages, in order, covering all but white space. Linear, idempotent.

    A passage has at most ``WHOLE_WORDS`` units. A text with blocks is cut between them, about every ``BLOCK_WORDS``;
    another about every ``PASSAGE_WORDS`` behind a line, else a sentence, else a word; only oversized words are cut.
    """
    ranges: list[tuple[int, int]] = []
    waiting: list[_Unit] = []
    blocks: list[tuple[int, int]] = []  # units and tenths before each block that begins among those waiting
    tenths = 0
    if len(text) <= _SURELY_WHOLE_CHARS:
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return [(start, end)] if start < end else []
    has_lines = "\n" in text
    for unit in _units(text):
        if has_lines and waiting and _begins_block(text, waiting[-1], unit):
            blocks.append((len(waiting), tenths))
        waiting.append(unit)
        tenths += unit.tenths
        while cut := _cut(text, waiting, blocks, tenths):
            ranges.append((waiting[0].start, waiting[cut - 1].end))
            taken = sum(one.tenths for one in waiting[:cut])
            blocks = [(count - cut, before - taken) for count, before in blocks if count > cut]
            tenths -= taken
            del waiting[:cut]
    if waiting:
        ranges.append((waiting[0].start, waiting[-1].end))
    return ranges


def both_ends(text: str, words: int) -> tuple[str, str]:
    """``first_words`` and ``last_words`` on one line each."""
    if len(text) <= words:  # a unit has at least a character
        whole = " ".join(text.split())
        return whole, whole
    if _UNITS_IN_WORDS.search(text) is None:
        parts = text.split()
        lengths = map(len, parts[: words + 1])
        tenths = sum(_TENTHS if one <= _LONG_WORD_CHARS else one * _TENTHS // _WORD_CHARS for one in lengths)
        if tenths <= words * _TENTHS:
            whole = " ".join(parts)
            return whole, whole
    return " ".join(first_words(text, words).split()), " ".join(last_words(text, words).split())


def first_words(text: str, words: float) -> str:
    """The first ``words`` word units, stripped; reads no further."""
    left = round(words * _TENTHS)
    start = end = 0
    for unit in _units(text):
        if unit.tenths > left:
            return text[start:end] or text[unit.start : unit.start + _chars(left)]
        start, end = (start if end else unit.start), unit.end
        left -= unit.tenths
    return text[start:end]


def last_words(text: str, words: float) -> str:
    left = round(words * _TENTHS)
    units = list(_units(text))
    if not units:
        return ""
    start = end = units[-1].end
    for unit in reversed(units):
        if unit.tenths > left:
            return text[start:end] or text[max(unit.start, end - _chars(left)) : end]
        start = unit.start
        left -= unit.tenths
    return text[start:end]


def _chars(tenths: int) -> int:
    return max(tenths, 0) * _WORD_CHARS // _TENTHS


def _units(text: str) -> Iterator[_Unit]:
    for found in _UNIT.finditer(text):
        start, end = found.span()
        is_dense = found.lastgroup is not None
        length = end - start
        tenths = _DENSE_TENTHS if is_dense else _TENTHS
        if not is_dense and length > _LONG_WORD_CHARS:
            tenths = length * _TENTHS // _WORD_CHARS
        yield _Unit(start, end, tenths, is_dense)


def _cut(text: str, waiting: list[_Unit], blocks: list[tuple[int, int]], tenths: int) -> int:
    """Units of the next passage, 0 where more can wait."""
    if tenths > WHOLE_BLOCK_WORDS * _TENTHS:
        enough = [(count, before) for count, before in blocks if before >= FEWEST_BLOCK_WORDS * _TENTHS]
        if enough:
            return min(enough, key=lambda block: abs(block[1] - BLOCK_WORDS * _TENTHS))[0]
    return _best_cut(text, waiting) if tenths > WHOLE_WORDS * _TENTHS else 0


def _begins_block(text: str, last: _Unit, following: _Unit) -> bool:
    """Whether a paragraph, heading or code begins here; what stands under a heading does not."""
    gap = text[last.end : following.start]
    if "\n" not in gap or _is_under_heading(text, last):
        return False
    line = text.rfind("\n", 0, following.start) + 1
    return gap.count("\n") > 1 or _HEADING.match(text, line) is not None


def _is_under_heading(text: str, last: _Unit) -> bool:
    return _HEADING.match(text, text.rfind("\n", 0, last.end) + 1, last.end) is not None


def _best_cut(text: str, waiting: list[_Unit]) -> int:
    """Units the next passage takes: the best cut, nearest to the target."""
    best, best_cut, tenths = (-1, -1, 0), 0, 0
    for count, unit in enumerate(waiting[:-1], start=1):
        tenths += unit.tenths
        if tenths > MOST_WORDS * _TENTHS and best_cut:
            break
        is_enough = tenths >= FEWEST_WORDS * _TENTHS
        rank = _rank(text, unit, waiting[count]) if is_enough else _TORN
        place = (int(is_enough), rank, -abs(tenths - PASSAGE_WORDS * _TENTHS))
        if place > best:
            best, best_cut = place, count
    return best_cut


def _rank(text: str, last: _Unit, following: _Unit) -> int:
    gap = text[last.end : following.start]
    if "\n" in gap or "\u2029" in gap:
        return _TORN if _is_under_heading(text, last) else _LINE
    if text[following.start] in _CLOSING:
        return _TORN
    if (gap or last.is_dense) and _SENTENCE_END.search(text, max(last.end - _SENTENCE_END_CHARS, 0), last.end):
        return _SENTENCE
    return _BETWEEN if gap or last.is_dense or following.is_dense else _TORN
