"""Snowball stems and shared spellings of words, for topics and names."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from typing import Any, Final

from pkg_pipeline.memory.languages import table, word_set
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han

SHORTEST_STEM: Final = 3
SHORTEST_ALIKE: Final = 5
"""Least letters of a lower-case word matched across scripts."""

_FLEETING = re.compile(r"([бвгджзйклмнпрстфхцчшщ])[оё]к$")
"""поставок and поставки, which Snowball keeps apart."""
_SIMPLE = str.maketrans(
    {
        **dict(zip("абвгдезийклмнопрстуфыэхцъь", [*"abvgdeziiklmnoprstufiehc", "", ""], strict=True)),
        **dict(zip("жчшщюя", ("zh", "ch", "sh", "sch", "iu", "ia"), strict=True)),
    }
)
_ALIKE = (
    *(("kh", "h"), ("ck", "k"), ("ph", "f"), ("x", "ks"), ("qu", "kv"), ("q", "k"), ("w", "v"), ("y", "i"), ("j", "i")),
    *(("ch", "\0"), ("c", "k"), ("\0", "ch"), ("ii", "i")),
)


def han_breaks(text: str, excluded: frozenset[str]) -> list[tuple[int, int]]:
    """Where a Chinese run is cut: stop words and participants' names."""
    found = [match.span() for match in _pattern("zh", "breaks").finditer(text)]
    for name in excluded:
        at = text.find(name) if is_han(name) else -1
        while at >= 0:
            found.append((at, at + len(name)))
            at = text.find(name, at + 1)
    return sorted(found)


def is_verb(word: str) -> bool:
    """Whether a case-folded Russian word ends like a verb."""
    if len(word) <= SHORTEST_ALIKE or word in word_set("words", "nouns_like_verbs"):
        return False
    return _pattern("ru", "verb").search(word) is not None


@cache
def _pattern(language: str, key: str) -> re.Pattern[str]:
    return re.compile(table(language, "words")[key])


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball stem of a case-folded word (``е`` for ``ё``)."""
    if is_cyrillic(word):
        found = _cut(word, "russian")
        found = found if len(found) >= SHORTEST_STEM else word
        return _FLEETING.sub(r"\1к", found) if len(found) > SHORTEST_ALIKE else found
    return _cut(word, "english") if word.isascii() and word.isalpha() else word


def _cut(word: str, language: str) -> str:
    with _STEMMING:
        return _stemmer(language).stemWord(word)


_STEMMING = Lock()
"""Stemmers have state, and profiles are made in several threads."""


@cache
def _stemmer(language: str) -> Any:
    library: Any = import_module("snowballstemmer")  # imported on use for speed; has no types
    return library.stemmer(language)


@lru_cache(maxsize=65_536)
def skeleton(word: str) -> str:
    """A case-folded name in one spelling for both scripts: докер and Docker."""
    plain = word.translate(_SIMPLE)
    for written, shown in _ALIKE:
        plain = plain.replace(written, shown)
    return re.sub(r"(.)\1", r"\1", plain)
