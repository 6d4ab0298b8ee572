"""The content of texts by meaning, and whether the words of an answer rest on what was said (B15, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.amounts import is_unit
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.languages import entries, word_set
from pkg_pipeline.memory.languages.scripts import HAN, KANA
from pkg_pipeline.memory.text.normalise import STEM_LETTERS, word_runs

UNSUPPORTED_WORDS: Final = 2
UNSUPPORTED_SHARE: Final = 0.5
"""An item may have so many content words, or so large a part of them, that nothing said."""
LEAST_ADDED: Final = 4
"""A clause with so many content words says something of its own; a quarter of them may stand anywhere."""
ELSEWHERE_SHARE: Final = 2 / 3
ELSEWHERE_WORDS: Final = 2
"""An uncited message with this share of so many content words, and more than the cited ones, is the real source."""
NEAR_SHARE: Final = 0.6
"""An item without any word of the cited messages rests on the messages around them with at least this share."""

_HAN: Final = KANA + HAN
_TOKEN: Final = re.compile(rf"[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)?|[{_HAN}]+")
_CLAUSE: Final = re.compile(
    r"[,;:.!?，。；：！？、\n()«»\"“”]+|\s(?:и|а|но|and|but|then|потом|затем)\s|并且?|然后|而且"
)
_HAN_FIRST: Final = re.compile(f"[{_HAN}]")
CHARACTERS_A_WORD: Final = 2
_SHORTEST: Final = 3
SHORT_WORD: Final = 5
"""A word of so many letters ends within those by which others are known: "cats", "воду"."""
_ENDING: Final = re.compile(r"(?<=[а-я]{3})[аеиоуыэюяьй]$|(?<=[a-rt-z]{3})s$")
_DAY: Final = " ; "
"""Stands for a day that the text names."""
_COUNT: Final = re.compile(r"\d\d|\d[.,:]\d")


@cache
def _meanings() -> tuple[dict[str, str], dict[str, str], int]:
    """Beginnings of words → meaning, Chinese words → meaning, and the longest beginning."""
    begins: dict[str, str] = {}
    han: dict[str, str] = {}
    for language, rows in entries("meanings", "same"):
        for index, row in enumerate(rows):
            for word in row.split():
                (han if re.match(f"[{_HAN}]", word) else begins).setdefault(word, f"={language}{index}")
    return begins, han, max(map(len, begins), default=0)


@cache
def thing_meanings() -> frozenset[str]:
    """Meanings with several words that are not of deeds."""
    return content(" ".join(word_set("meanings", "things")))


@lru_cache(maxsize=65_536)
def meaning(word: str) -> str:
    """The meaning of a folded word: of its longest known beginning, else its first letters."""
    begins, _, longest = _meanings()
    for length in range(min(len(word), longest), 2, -1):
        found = begins.get(word[:length])
        if found is not None and (length >= STEM_LETTERS or length == len(word) or len(word) - length <= 2):
            return found
    stem = word[:STEM_LETTERS]
    return _ENDING.sub("", stem) if len(word) <= SHORT_WORD else stem


@lru_cache(maxsize=16_384)
def tokens(text: str) -> tuple[tuple[str, str], ...]:
    """The words of a text with their meanings, in order; stop words have none. Chinese: known words or characters."""
    found: list[tuple[str, str]] = []
    stop = _common()
    for match in _TOKEN.finditer(folded(text)):
        word = match.group()
        if re.match(f"[{_HAN}]", word):
            found += _han_tokens(word, stop)
        else:
            is_content = len(word) >= _SHORTEST and word not in stop
            found.append((word, meaning(word) if is_content else ""))
    return tuple(found)


def _han_tokens(run: str, stop: frozenset[str]) -> list[tuple[str, str]]:
    _, han, _ = _meanings()
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(run):
        word = next((run[at : at + n] for n in (3, 2, 1) if run[at : at + n] in han), run[at])
        found.append((word, han.get(word) or ("" if word in stop else word)))
        at += len(word)
    return found


@cache
def _common() -> frozenset[str]:
    return word_set("words", "stop") | (word_set("words", "no_topic") - frozenset(_verbs()))


def _verbs() -> Iterable[str]:
    """Words listed as naming no topic which still mean something here."""
    begins, _, longest = _meanings()
    return [
        word
        for word in word_set("words", "no_topic")
        if any(word[:length] in begins for length in range(STEM_LETTERS, min(len(word), longest) + 1)) or word in begins
    ]


def is_one_matter(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two contents may be of one matter: not, if they share a verb and each names another thing.

    Meanings with several words (``=``) are mostly verbs.
    """
    mine, theirs = ({meaning for meaning in content if not meaning.startswith("=")} for content in (one, other))
    return bool(mine & theirs) or not mine or not theirs or not one & other


def first_word(text: str, meanings: frozenset[str]) -> str:
    """The first word of a text with one of these meanings; empty without one."""
    return next((word for word, one in tokens(text) if one in meanings), "")


def said_elsewhere(text: str, cited: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two content words of ``text``, or three in a row, stand in another text and in none of the cited."""
    joint = "\n".join(cited)
    missing = content(text) - content(joint)
    runs = set(word_runs(text, 3)) - set(word_runs(joint, 3))
    return any(len(missing & content(other)) > 1 or runs & set(word_runs(other, 3)) for other in others)


@lru_cache(maxsize=16_384)
def content(text: str) -> frozenset[str]:
    """The meanings of a text's content words."""
    return frozenset(meaning for _, meaning in tokens(text) if meaning)


def added_clause(text: str, said: Sequence[str], allowed: frozenset[str]) -> str | None:
    """A word of a clause that shares hardly anything with what was said, beside others in its sentence; or None."""
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    heard = frozenset(one for other in said for one in content(other))
    for clause in clauses if len(clauses) > 1 else ():
        meant = content(clause) - allowed
        if len(meant) >= LEAST_ADDED and len(meant & heard) <= len(meant) // LEAST_ADDED:
            return next(word for word, one in tokens(clause) if one in meant - heard)
    return None


def unsupported(
    text: str,
    cited: Sequence[str],
    around: Sequence[str],
    allowed: frozenset[str] = frozenset(),
    most: int = UNSUPPORTED_WORDS,
) -> str | None:
    """A word of the part of ``text`` that does not rest on ``cited`` or the texts around them, or None if it does.

    Its numbers are taken as supported. ``allowed``: meanings that need no support, such as names.
    """
    if _HAN_FIRST.search(text) and most > UNSUPPORTED_WORDS:
        most *= CHARACTERS_A_WORD
    said = frozenset(one for other in cited for one in content(other))
    near = frozenset(one for other in around for one in content(other))
    words = frozenset(one for word, one in tokens(text) if one and not is_unit(word)) - allowed
    numbers = len(_COUNT.findall(text))
    if len(words) < 2:
        is_free = numbers or _DAY in text or most > UNSUPPORTED_WORDS or words <= said
        return None if is_free else first_word(text, words)
    missing = words - said - near
    first = next((word for word, one in tokens(text) if one in missing), "")
    if (
        not numbers
        and _DAY not in text
        and len(words) > (0 if most == UNSUPPORTED_WORDS else most)
        and not words & said
        and len(words & near) < NEAR_SHARE * len(words)
    ):
        return first or next(iter(sorted(words)))
    if len(words) >= ELSEWHERE_WORDS and not numbers and _DAY not in text:
        better = max((len(words & content(other)) for other in around), default=0)
        if better > len(words & said) and better >= ELSEWHERE_SHARE * len(words):
            return first or next(word for word, one in tokens(text) if one in words - said)
    if len(missing) > max(most, UNSUPPORTED_SHARE * (len(words) + numbers)):
        return first
    for clause in _CLAUSE.split(text):
        meant = content(clause) - allowed
        if len(meant) > most and not meant & (said | near):
            return next(word for word, one in tokens(clause) if one in meant)
    return None
