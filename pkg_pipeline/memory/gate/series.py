"""Numbers told in a row and numbers told as a limit: the order and the end of the range that was said (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.languages import entries

_NUMBER = r"\d+(?:[., \u00a0]\d{3}(?!\d))*(?:[.,]\d+)?"
_UNIT = r"(?: ?(?!and|и)[^\W\d_]{1,4}\.?| ?[$€£¥₽%])?"
_THEN = r"\s?(?:[,;、/]\s?(?:and |и )?|and |и |和|then |потом |затем )\s?[$€£¥₽]?"
_ROW = re.compile(rf"{_NUMBER}(?:{_UNIT}{_THEN}{_NUMBER}){{2,}}")
_RANGE = re.compile(rf"({_NUMBER}){_UNIT}\s?(?:-|–|—|~|to|до|到|至)\s?[$€£¥₽]?({_NUMBER})")


def other_order(text: str, said: Sequence[str]) -> str | None:
    """The numbers of a text that were told in another order alone, or None."""
    told = [row for one in said for _, row in _rows(one)]
    for words, row in _rows(text):
        if row not in told and any(sorted(row) == sorted(other) for other in told):
            return words
    return None


def other_end(text: str, said: Sequence[str]) -> str | None:
    """A limit in a text that is the other end of the range that was said, or None."""
    ranges = [(_bare(low), _bare(high)) for one in said for low, high in _RANGE.findall(spelled(one))]
    for name, wrong, right in (("at_most", 0, 1), ("at_least", 1, 0)):
        limits = {_bare(number) for one in said for number in _limits(name, one)}
        limits |= {each[right] for each in ranges}
        ends = {each[wrong] for each in ranges} - limits
        for number in _limits(name, text):
            if _bare(number) in ends:
                return number
    return None


def _rows(text: str) -> Iterable[tuple[str, list[str]]]:
    for match in _ROW.finditer(spelled(text)):
        yield match.group(), [_bare(number) for number in re.findall(_NUMBER, match.group())]


def _limits(name: str, text: str) -> list[str]:
    return [next(filter(None, match)) for match in _limit(name).findall(spelled(text))]


@cache
def _limit(name: str) -> re.Pattern[str]:
    words = [source for _, source in entries("quantities", name)]
    spaced = "|".join(word for word in words if word.isascii() or re.search("[а-я]", word))
    han = "|".join(word for word in words if word not in spaced)
    return re.compile(rf"(?<![\w\d])(?<!\d )(?:{spaced}) [$€£¥₽]?({_NUMBER})|(?:{han})[$€£¥₽]?({_NUMBER})")


def _bare(number: str) -> str:
    """The digits without the zeros that end them: "400" may stand for 400 thousand."""
    return re.sub(r"\D", "", number).rstrip("0")
