"""Labels of one letter ("option B", 方案乙): those that a text names were said, and were chosen (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.languages.scripts import HAN

_ALIKE = str.maketrans("авекмнорстух", "abekmhopctyx")
_LETTER = re.compile(r"(?<![A-Za-zА-Яа-яЁё_\d])[A-ZА-Я](?![A-Za-zА-Яа-яЁё_]|\.)|[甲乙丙丁]")
_WORD_OF_ONE_LETTER = re.compile(r"(?:^|(?<=[.!?…] ))[AIАВИКОСУЯ](?= \w)")
"""A word that begins a sentence ("A deal", "А мне")."""


def unsaid_label(text: str, said: Sequence[str]) -> str | None:
    """The first label of one letter ("option B") that was not said, or None."""
    told = _letters(said) | _bare(said)
    return next((letter for letter in _in_order(text) if letter not in told), None)


def other_label(text: str, quote: str, said: Sequence[str]) -> str | None:
    """The first label of a text of whose labels the quoted words name none but another, or None."""
    named = _in_order(text)
    if not named:
        return None
    labelled = [one for one in said if _in_order(one)]
    chosen = _letters([quote]) | (_bare([_WORD_OF_ONE_LETTER.sub("", quote)]) & (_letters(said) | _bare(labelled)))
    return named[0] if chosen and not chosen & set(named) else None


@cache
def _labels() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = [source for _, source in entries("quantities", "labels")]
    spaced = "|".join(source for source in words if not re.search(f"[{HAN}]", source))
    han = "|".join(source for source in words if re.search(f"[{HAN}]", source))
    return (
        re.compile(rf"(?<!\w)(?:{spaced})\w{{0,3}} [«\"'“(]?(?P<after>[a-zа-я])(?!\w)"),
        re.compile(rf"(?<![a-z])(?P<before>[a-z甲乙丙丁]) ?(?:{han})|(?:{han}) ?(?P<behind>[a-z甲乙丙丁])(?![a-z])"),
    )


def _bare(texts: Iterable[str]) -> set[str]:
    """Capital letters that stand alone."""
    return {match.group().casefold().translate(_ALIKE) for one in texts for match in _LETTER.finditer(one)}


def _letters(texts: Iterable[str]) -> set[str]:
    return {letter for one in texts for letter in _in_order(one)}


def _in_order(text: str) -> list[str]:
    plain = folded(text)
    found = [match for pattern in _labels() for match in pattern.finditer(plain)]
    letters = (next(group for group in match.groups() if group) for match in found)
    return [letter.translate(_ALIKE) for letter in letters]
