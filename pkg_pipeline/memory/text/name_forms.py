"""Inflected and transliterated forms of names, made by rule; names that are ordinary words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from pkg_pipeline.memory.languages import table, word_set
from pkg_pipeline.memory.languages.scripts import is_cyrillic
from pkg_pipeline.memory.text.topic_words import skeleton

_CYRILLIC_WORD: Final = re.compile(r"[а-я]{3,}")
SHORTEST_ACROSS: Final = 3
"""Least letters for a match across scripts."""
_SHORTEST_STEM: Final = 2


@dataclass(frozen=True, slots=True)
class _Endings:
    """``languages/ru/names.toml``: (ending, letters cut, replacements), and indeclinable names."""

    rows: tuple[tuple[str, int, tuple[str, ...]], ...]
    consonant: tuple[str, ...]
    indeclinable: tuple[str, ...]
    addressable: re.Pattern[str]
    address: Mapping[str, str]


@cache
def _endings() -> _Endings:
    data = table("ru", "names")
    return _Endings(
        tuple((ending, cut, _replacements(words)) for ending, cut, words in data["endings"]),
        _replacements(data["consonant"]),
        tuple(data["indeclinable"]),
        re.compile(data["addressable"]),
        data["address"],
    )


def _replacements(words: str) -> tuple[str, ...]:
    return tuple("" if word == "-" else word for word in words.split())


def inflections(word: str) -> tuple[str, ...]:
    """The forms of a case-folded name (``е`` for ``ё``), itself first; only itself in other scripts."""
    if not _CYRILLIC_WORD.fullmatch(word):
        return (word,)
    known = _endings()
    for ending, cut, replacements in known.rows:
        stem = word[: len(word) - cut]
        if word == ending or (word.endswith(ending) and len(stem) >= _SHORTEST_STEM):
            forms = [stem + replacement for replacement in replacements]
            if known.addressable.fullmatch(word):
                forms.append(word[:-1] + known.address[word[-1]])
            break
    else:
        forms = [word] if word.endswith(known.indeclinable) else [word + ending for ending in known.consonant]
    # forms as short as мы or ты would match everywhere
    return tuple(dict.fromkeys((word, *(form for form in forms if len(form) > _SHORTEST_STEM))))


def across_scripts(word: str) -> tuple[str, ...]:
    """Keys that a case-folded name shares with its spelling in the other script; none if too short.

    Also without the last letter, for foreign names declined in Russian.
    """
    spelt = (word, word[:-1]) if is_cyrillic(word) else (word,)
    keys = (skeleton(one) for one in spelt)
    return tuple(dict.fromkeys(f"~{key}" for key in keys if len(key) >= SHORTEST_ACROSS))


def is_also_a_word(word: str) -> bool:
    """Whether this case-folded form is an ordinary word too (will, may, вера)."""
    return word in word_set("words", "also_names")
