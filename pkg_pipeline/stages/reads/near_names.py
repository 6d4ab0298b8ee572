"""Names by sound: matches across scripts, and suggestions for unknown names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from pkg_pipeline.memory.languages.scripts import CYRILLIC, HAN, is_han
from pkg_pipeline.memory.text.name_forms import SHORTEST_ACROSS
from pkg_pipeline.memory.text.topic_words import skeleton
from pkg_pipeline.stages.reads.stores import Named

NEAREST_NAMES = 5
NEAREST_SCORE = 60.0
"""Minimum of rapidfuzz's weighted ratio (0-100) for a suggestion."""

_WORD = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}]+")
_CYRILLIC = re.compile(f"[{CYRILLIC}]")
_HAN = re.compile(f"[{HAN}]")


def of_another_script(asked: str, names: Sequence[Named]) -> tuple[UUID, ...]:
    """Ids of those whose name in another script sounds like ``asked``, word by word or as a whole.

    Марина matches Marina and Marina Lebedeva; 周敏 matches Zhou Min. Same-script names never match.
    """
    words = _sounds(asked)
    if len("".join(words)) < SHORTEST_ACROSS or (_HAN.search(asked) and len(words) == 1):
        return ()  # one Chinese sign sounds like a hundred others
    scripts = _scripts(asked)
    found = [one.id for one in names if not scripts & _scripts(one.name) and _is_same(words, _sounds(one.name))]
    return tuple(dict.fromkeys(found))


def nearest(asked: str, names: Sequence[Named]) -> tuple[UUID, ...]:
    """Ids of names that look or sound like ``asked``, nearest first; empty if none is near."""
    from rapidfuzz import fuzz, process  # only a name that is not found needs it

    sound = " ".join(_sounds(asked))
    scores: dict[UUID, float] = {}
    for spelt, choices in (
        (asked.casefold(), [one.name.casefold() for one in names]),
        (sound, [" ".join(_sounds(one.name)) for one in names] if sound else []),
    ):
        for _, score, place in process.extract(
            spelt, choices, scorer=fuzz.WRatio, limit=NEAREST_NAMES, score_cutoff=NEAREST_SCORE
        ):
            scores[names[place].id] = max(score, scores.get(names[place].id, 0.0))
    order = {one.id: place for place, one in enumerate(names)}
    return tuple(sorted(scores, key=lambda one: (-scores[one], order[one]))[:NEAREST_NAMES])


def _is_same(asked: tuple[str, ...], name: tuple[str, ...]) -> bool:
    return set(asked) <= set(name) or "".join(asked) == "".join(name)


def _scripts(text: str) -> frozenset[str]:
    found = {"han"} if _HAN.search(text) else set[str]()
    found |= {"cyrillic"} if _CYRILLIC.search(text) else set[str]()
    return frozenset(found | ({"other"} if _WORD.search(_CYRILLIC.sub("", _HAN.sub("", text))) else set[str]()))


@lru_cache(maxsize=32_768)
def _sounds(text: str) -> tuple[str, ...]:
    """The words of a name in Latin letters; of a Chinese name each character."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold().replace("ё", "е")):
        words += map(skeleton, _pinyin(word)) if is_han(word) else (skeleton(word),)
    return tuple(word for word in words if word)


def _pinyin(word: str) -> list[str]:
    from pypinyin import lazy_pinyin  # its tables take a moment, and most names need none

    return lazy_pinyin(word)
