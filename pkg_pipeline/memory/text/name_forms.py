"""How a name looks inside a sentence: the endings a Russian name takes, and names that are ordinary words too.

Forms are made by rule from the ending, so a wrong form or two of a rare name may exist; it would have to be another
word of the text to do harm.
"""

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
"""Letters of a name in the common spelling below which two scripts agree by chance."""
_SHORTEST_STEM: Final = 2


@dataclass(frozen=True, slots=True)
class _Endings:
    """``languages/ru/names.toml``: (ending of the name, letters cut, what takes their place), and names without one."""

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
    """The forms of a case-folded name (``е`` for ``ё``), itself first; a name in another script has only itself."""
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
    # A form as short as мы or ты would be found everywhere.
    return tuple(dict.fromkeys((word, *(form for form in forms if len(form) > _SHORTEST_STEM))))


def across_scripts(word: str) -> tuple[str, ...]:
    """Keys that a case-folded name shares with its spelling in the other script: Марина and Marina, Daniel and Дэниела.

    A Russian question declines a foreign name, so that one letter less is tried as well. Too short a name has none.
    """
    spelt = (word, word[:-1]) if is_cyrillic(word) else (word,)
    keys = (skeleton(one) for one in spelt)
    return tuple(dict.fromkeys(f"~{key}" for key in keys if len(key) >= SHORTEST_ACROSS))


def is_also_a_word(word: str) -> bool:
    """Whether this case-folded form is an ordinary word too (will, may, вера), so that only ``Will`` is a name."""
    return word in word_set("words", "also_names")
