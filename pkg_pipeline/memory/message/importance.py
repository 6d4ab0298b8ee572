r"""Message importance (P15), and why a message is kept for good (P16), by ``languages/*/importance.toml``.

Patterns run on lower-cased text with ``е`` for ``ё``, ``'`` for ``’``, spaces for line ends, at the start of a word,
number or symbol. Each begins with letters, a symbol or ``\d`` after look-behinds and has no ``.``, ``\S``, ``\W``,
``[^…]``, ``^``, ``$`` or unbounded repetition: a batch is joined with NUL and no match may cross it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.languages import LANGUAGES, patterns, table
from pkg_pipeline.memory.records import Language, Score

IMPORTANT_FROM: Final = 0.5
"""P16: messages with this score or more are kept in the summary."""
MARKED_ABOVE: Final = 0.5
"""P13: messages above this score are marked ``[!]`` in the prompt."""

DATE, AMOUNT, AGREEMENT, DEADLINE = "has_date", "has_amount", "has_agreement", "has_deadline"
LONG_MESSAGE, QUESTION = "long_message", "question"
WEIGHTS: Final = {DATE: 0.3, AMOUNT: 0.3, AGREEMENT: 0.4, DEADLINE: 0.3, LONG_MESSAGE: 0.2, QUESTION: 0.1}
"""P15, in order of precedence as the reason; a question gives none."""
LONGER_THAN_CHARACTERS: Final = 300
QUESTION_LONGER_THAN_CHARACTERS: Final = 50
QUESTION_MARKS: Final = "?？"
REASONS: Final[tuple[str | None, ...]] = (None, *(name for name in WEIGHTS if name != QUESTION))
"""Meaning of the codes in ``Scores.reasons``; 0 is none."""

ImportantReason = Literal["decision", "agreement", "deadline", "important_info"]

_SEPARATOR = "\0"
_BATCH_CHARACTERS: Final = 200_000  # keeps the arrays of a batch within the cache; does not affect the result
_PATTERN_RULES: Final = (DATE, AMOUNT, AGREEMENT, DEADLINE)
_BIT: Final = {name: 1 << position for position, name in enumerate(WEIGHTS)}
_DIGITS: Final = "0123456789０１２３４５６７８９"
_OTHER, _LETTER, _DIGIT, _IDEOGRAPH = range(4)
_PLANE: Final = 0x10000
_HEAD: Final = 4
_MULTIPLIER: Final = np.uint32(40_503)  # odd; spreads neighbouring letters over the table


@dataclass(frozen=True, slots=True)
class Row:
    """One rule in one language: texts this row ``fires`` on, texts on which the whole rule is ``silent``."""

    patterns: tuple[str, ...]
    fires: tuple[str, ...]
    silent: tuple[str, ...]


@cache
def rows() -> dict[tuple[str, Language], Row]:
    found: dict[tuple[str, Language], Row] = {}
    for language in LANGUAGES:
        for rule, row in table(language, "importance").items():
            if rule != "words":
                sources = patterns(language, "importance", row["patterns"])
                found[rule, language] = Row(tuple(sources), _examples(row["fires"]), _examples(row["silent"]))
    return found


def _examples(block: str) -> tuple[str, ...]:
    return tuple(part.strip() for line in block.splitlines() for part in line.split(" | ") if part.strip())


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a batch: ``values`` float32 (n,) in [0, 1], ``reasons`` uint8 (n,) indexes into ``REASONS``."""

    values: NDArray[np.float32]
    reasons: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Score:
        # via the shortest decimal: 0.7, not 0.699999988…
        return Score(float(str(self.values[index])), REASONS[int(self.reasons[index])])

    def __iter__(self) -> Iterator[Score]:
        return (self[index] for index in range(len(self)))


def score(text: str) -> Score:
    """The importance of one message (P15), as in any batch; ``score_many`` is faster for several."""
    return score_many((text,))[0]


def score_many(texts: Sequence[str]) -> Scores:
    """Values and reasons of ``texts``, in their order (P15). Lengths are in characters (code points)."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    masks = np.zeros(len(texts), dtype=np.uint8)
    begin, room = 0, _BATCH_CHARACTERS
    for end, length in enumerate(lengths.tolist(), start=1):
        room -= length
        if room <= 0 or end == len(texts):
            masks[begin:end] = _fired(texts[begin:end])
            begin, room = end, _BATCH_CHARACTERS
    masks[lengths > LONGER_THAN_CHARACTERS] |= _BIT[LONG_MESSAGE]
    for index in np.flatnonzero(lengths > QUESTION_LONGER_THAN_CHARACTERS).tolist():
        if any(mark in texts[index] for mark in QUESTION_MARKS):
            masks[index] |= _BIT[QUESTION]
    values, reasons = _verdicts()
    return Scores(values[masks], reasons[masks])


def important_reason(reason: str | None) -> ImportantReason:
    """P16: why an important message is kept; what the LLM chose without a rule is a decision."""
    return _KEPT_AS.get(reason or "", "decision")


_KEPT_AS: Final[dict[str, ImportantReason]] = {
    AGREEMENT: "agreement",
    DEADLINE: "deadline",
    DATE: "important_info",
    AMOUNT: "important_info",
}


@dataclass(frozen=True, slots=True)
class _Machine:
    """The compiled table: patterns by rule and first character, and hashes of their beginnings."""

    patterns: dict[str, dict[str, re.Pattern[str]]]
    kinds: NDArray[np.uint8]  # code point → _OTHER, _LETTER, _DIGIT or _IDEOGRAPH
    opening: NDArray[np.bool_]  # hash of two characters → some head begins so
    heads: tuple[NDArray[np.uint8], ...]  # by length 1 to _HEAD: hash of that many characters → bits of the rules


@cache
def _machine() -> _Machine:
    heads = tuple(np.zeros(_PLANE, np.uint8) for _ in range(_HEAD))
    opening = np.zeros(_PLANE, np.bool_)
    sources: dict[str, dict[str, list[str]]] = {name: {} for name in _PATTERN_RULES}
    for (name, _), row in rows().items():
        for alternative in row.patterns:
            for beginning in (head(alternative),) if head(alternative) else _DIGITS:
                sources[name].setdefault(beginning[0], []).append(alternative)
                codes = np.array([[ord(character)] for character in beginning], np.uint32)
                heads[len(beginning) - 1][_hashed(codes)] |= _BIT[name]
                if len(beginning) > 1:
                    opening[_hashed(codes[:2])] = True
    patterns = {
        name: {first: re.compile(_any_of(group)) for first, group in groups.items()} for name, groups in sources.items()
    }
    return _Machine(patterns, _kinds(), opening, heads)


def _any_of(alternatives: Sequence[str]) -> str:
    """One expression of all alternatives, shared look-behinds factored out."""
    by_prefix: dict[str, list[str]] = {}
    for alternative in alternatives:
        prefix = _LOOKBEHINDS.match(alternative)
        length = prefix.end() if prefix else 0
        by_prefix.setdefault(alternative[:length], []).append(alternative[length:])
    return "|".join(f"{prefix}(?:{'|'.join(rests)})" for prefix, rests in by_prefix.items())


_LOOKBEHINDS = re.compile(r"(?:\(\?<[=!](?:[^()]|\([^()]*\))*\))*")
_LITERAL = re.compile(r"\\[$.]|[\w'€£¥￥₽, ]")
_BEGINS_WITH_DIGIT = re.compile(r"(?:\(\?!\d[^()]*\))?(?:\(\?:)*(?:\\d|\[?[0-9])")


def head(alternative: str) -> str:
    """The first characters (up to four) of every match; "" for a digit. ``ValueError``: an invalid pattern."""
    rest = _LOOKBEHINDS.sub("", alternative, count=1)
    if _BEGINS_WITH_DIGIT.match(rest):
        return ""
    characters: list[str] = []
    while len(characters) < _HEAD and (literal := _LITERAL.match(rest)):
        rest = rest[literal.end() :]
        if rest[:1] in ("?", "*", "{"):
            break
        characters.append(literal[0].removeprefix("\\"))
    if not characters:
        raise ValueError(f"an alternative must begin with a letter, a symbol or a digit: {alternative!r}")
    return "".join(characters)


def _kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(_PLANE, np.uint8)
    kinds[[code for code in range(_PLANE) if chr(code).isalnum() or chr(code) == "_"]] = _LETTER
    kinds[[ord(digit) for digit in _DIGITS]] = _DIGIT
    for first, last in ((0x2E80, 0x303F), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)):
        kinds[first : last + 1] = _IDEOGRAPH
    return kinds


def _hashed(codes: Sequence[NDArray[np.uint32]] | NDArray[np.uint32]) -> NDArray[np.uint32]:
    hashed = codes[0]
    for row in codes[1:]:
        hashed = hashed * _MULTIPLIER + row
    return hashed & np.uint32(_PLANE - 1)


def _fired(texts: Sequence[str]) -> NDArray[np.uint8]:
    lowered = [text.lower() for text in texts]
    # joined first: these replacements keep lengths
    joined = _SEPARATOR.join(lowered).replace("ё", "е").replace("’", "'").replace("\n", " ").replace("\xa0", " ")
    ends = np.cumsum(np.fromiter(map(len, lowered), dtype=np.int64, count=len(texts)) + 1)
    machine = _machine()
    positions, bits = _candidates(joined, machine)
    masks = np.zeros(len(texts), dtype=np.uint8)
    for name, by_first in machine.patterns.items():
        places = positions[(bits & _BIT[name]) != 0].tolist()
        # after a hash collision no pattern matches
        hits = [at for at in places if (pattern := by_first.get(joined[at])) and pattern.match(joined, at)]
        masks[np.searchsorted(ends, hits, side="right")] |= _BIT[name]
    return masks


def _candidates(joined: str, machine: _Machine) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Positions in ``joined`` where a pattern may start, and the bits of the rules to try there."""
    # padded: one neighbour before each position, a whole head after it
    padded = f"{_SEPARATOR}{joined}{_SEPARATOR * _HEAD}".encode("utf-32-le", "surrogatepass")
    codes = np.minimum(np.frombuffer(padded, dtype="<u4"), np.uint32(_PLANE - 1))  # no pattern is beyond the BMP
    first, second = codes[1 : len(joined) + 1], codes[2 : len(joined) + 2]
    worth = machine.opening[_hashed((first, second))] | (machine.heads[0][first] != 0)
    positions = np.flatnonzero(worth)
    here, before = machine.kinds[codes[positions + 1]], machine.kinds[codes[positions]]
    positions = positions[(here != before) | (here == _OTHER) | (here == _IDEOGRAPH)]
    beginnings = codes[positions + np.arange(1, _HEAD + 1)[:, np.newaxis]]
    bits = np.zeros(len(positions), np.uint8)
    for length, table_of_length in enumerate(machine.heads, start=1):
        bits |= table_of_length[_hashed(beginnings[:length])]
    kept = bits != 0
    return positions[kept], bits[kept]


@cache
def _verdicts() -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    values, reasons = np.zeros(1 << len(_BIT), np.float32), np.zeros(1 << len(_BIT), np.uint8)
    for mask in range(len(values)):
        fired = [name for name, bit in _BIT.items() if mask & bit]
        values[mask] = min(1.0, round(sum(WEIGHTS[name] for name in fired), 2))
        reasons[mask] = next((REASONS.index(name) for name in fired if name in REASONS), 0)
    return values, reasons
