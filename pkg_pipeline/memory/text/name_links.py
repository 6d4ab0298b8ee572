"""Keys that a person's name shares with other ways to call them: short names, and Chinese names in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from pkg_pipeline.memory.languages import entries, table, word_set
from pkg_pipeline.memory.languages.scripts import HAN, is_han
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline.memory.text.topic_words import skeleton

_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(r"[^\W\d_]+")
LONGEST_NAME = 4
"""Characters of a Chinese name; longer runs are no name."""


@lru_cache(maxsize=65_536)
def keys_of_name(name: str) -> tuple[str, ...]:
    """The keys of a person who is called so."""
    words = name.casefold().replace("ё", "е").split()
    found = [key for word in words for key in (*_short(word), *_read(word))]
    return tuple(dict.fromkeys(found))


def keys_of_question(question: str) -> tuple[str, ...]:
    """The keys that its words may mean. What may be a Chinese name in other letters has a capital: he and He."""
    found: list[str] = []
    for said in _WORD.findall(question):
        word = said.casefold().replace("ё", "е")
        if is_han(word):
            continue
        found += _short(word)
        if said[0].isupper() and (word not in word_set("words", "stop") or not question.startswith(said)):
            found.append(f"%{word}")
    return tuple(dict.fromkeys(found))


def _short(word: str) -> tuple[str, ...]:
    return _full_names().get(skeleton(word), ())


@cache
def _full_names() -> dict[str, tuple[str, ...]]:
    """From a name's spelling in any form and script to the full names it may stand for."""
    found: dict[str, dict[str, None]] = {}
    for _, rows in entries("nicknames", "names"):
        for row in rows:
            called = row.replace("ё", "е").split()
            for name in called:
                for form in inflections(name):
                    found.setdefault(skeleton(form), {})[f"={skeleton(called[0])}"] = None
    return {form: tuple(names) for form, names in found.items()}


def _read(word: str) -> Iterator[str]:
    """A Chinese name in Latin and Cyrillic letters: all of it, the surname, the given name."""
    for run in _RUN.findall(word):
        name = _bare(run)
        if not 0 < len(name) <= LONGEST_NAME:
            continue
        sounds = _sounds(name)
        for part in (sounds, sounds[:1], sounds[1:]):
            if part and all(sound in _cyrillic() for sound in part):
                yield "%" + "".join(part)
                yield from (f"%{form}" for form in inflections("".join(_cyrillic()[sound] for sound in part)))


def _sounds(name: str) -> tuple[str, ...]:
    from pypinyin import lazy_pinyin  # its tables take a moment, and most names need none

    surname = _pairs("surnames").get(name[0])
    return tuple(lazy_pinyin(name)) if surname is None else (surname, *lazy_pinyin(name[1:]))


def _bare(run: str) -> str:
    """A name without what the person is to others."""
    known = table("zh", "pinyin")
    name = run
    while before := next((one for one in known["before"].split() if name.startswith(one) and len(name) > len(one)), ""):
        name = name[len(before) :]
    fits = [one for one in known["behind"].split() if name.endswith(one) and len(name) > len(one)]
    return name[: len(name) - max(map(len, fits), default=0)]


def _cyrillic() -> dict[str, str]:
    return _pairs("cyrillic")


@cache
def _pairs(key: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in table("zh", "pinyin")[key].split())
