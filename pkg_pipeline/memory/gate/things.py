"""Whether an answer names a thing that nobody in the talk named (B18)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.amounts import is_unit
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity
from pkg_pipeline.memory.gate.wording import meaning, thing_meanings, tokens
from pkg_pipeline.memory.languages import entries, word_set
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han

LONGEST_ENDING: Final = 4
"""Letters that may follow the beginning of a word that only tells."""
_SHORTEST: Final = 3
_WORD: Final = re.compile(r"[^\W\d_]+")


def unsaid_thing(text: str, said: Iterable[str], is_name: Callable[[str], bool]) -> str | None:
    """The first word of ``text`` for a thing that none of the texts ``said`` names in any form, or None.

    Words by which an answer tells of a talk name no thing (costs, decided). ``is_name``: of somebody known.
    """
    texts = tuple(said)
    meanings = frozenset(one for other in texts for _, one in tokens(other) if one)
    missing = [word for word, one in tokens(text) if one and one not in meanings]
    forms = _forms(texts) if missing else frozenset[str]()
    for word in missing:
        if is_unit(word) or _is_said(word, forms) or tells(word) or is_name(word):
            continue
        return word
    return None


@lru_cache(maxsize=65_536)
def tells(word: str) -> bool:
    """Whether a folded word only tells of a talk, or denies; what refuses is more than that."""
    said = polarity(word)
    if said.denies or said.refuses:
        return said.denies
    if is_han(word):
        return all(one in word_set("meanings", "tells") for one in word)
    if is_cyrillic(word) and len(word) > _SHORTEST and meaning(word) not in thing_meanings() and _verbs().search(word):
        return True
    begins = word_set("meanings", "tells")
    shortest = max(1, len(word) - LONGEST_ENDING)
    return any(
        word[:length] in begins
        for length in range(shortest, len(word) + 1)
        if length >= _SHORTEST or length == len(word)
    )


@cache
def _verbs() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{source})$" for _, source in entries("meanings", "tells_ending")))


@lru_cache(maxsize=256)
def _forms(texts: tuple[str, ...]) -> frozenset[str]:
    """The words of texts without their last letters."""
    return frozenset(_stem(word) for text in texts for word in _WORD.findall(folded(text)))


def _stem(word: str) -> str:
    if not is_cyrillic(word):
        return word.rstrip("s")[: max(_SHORTEST + 1, len(word) - 3)]
    return word[: max(_SHORTEST, len(word) - 3)]


def _is_said(word: str, forms: frozenset[str]) -> bool:
    """Whether a form of the word was said."""
    stem = _stem(word)
    return not is_han(word) and any(
        one.startswith(stem) or stem.startswith(one) for one in forms if len(one) >= _SHORTEST
    )
