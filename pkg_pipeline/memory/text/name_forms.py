"""How a name looks inside a sentence: the endings a Russian name takes, and names that are ordinary words too.

Here: forms of one word. Not here: whose name it is (``belonging.py``). Forms are made by rule from the ending, so a
wrong form or two of a rare name may exist; it would have to be another word of the text to do harm.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pkg_pipeline.memory.text.topic_words import is_cyrillic, skeleton

_CYRILLIC_WORD = re.compile(r"[а-я]{3,}")

_ENDINGS: Final = (
    # (ending of the name, what is cut, what takes its place)
    ("ский", 2, ("ий", "ого", "ому", "им", "ом")),
    ("цкий", 2, ("ий", "ого", "ому", "им", "ом")),
    ("ская", 2, ("ая", "ой", "ую", "ою")),
    ("цкая", 2, ("ая", "ой", "ую", "ою")),
    ("павел", 2, ("ел", "ла", "лу", "лом", "ле")),
    ("петр", 0, ("", "а", "у", "ом", "е")),
    ("лев", 2, ("ев", "ьва", "ьву", "ьвом", "ьве")),
    ("любовь", 1, ("ь", "и", "ью")),
    ("ова", 1, ("а", "ой", "у", "ою")),
    ("ева", 1, ("а", "ой", "у", "ою", "ы", "е")),  # Петрова, Соловьева, but also Ева
    ("ина", 1, ("а", "ой", "у", "ою", "ы", "е")),  # Ильина, but also Нина
    ("ов", 0, ("", "а", "у", "ым", "е", "ом")),
    ("ев", 0, ("", "а", "у", "ым", "е", "ом")),
    ("ин", 0, ("", "а", "у", "ым", "е", "ом")),
    ("ия", 1, ("я", "и", "ю", "ей", "ею")),
    ("ья", 1, ("я", "и", "е", "ю", "ей", "ею")),
    ("я", 1, ("я", "и", "е", "ю", "ей", "ею")),
    ("а", 1, ("а", "ы", "и", "е", "у", "ой", "ей", "ою")),
    ("ий", 2, ("ий", "ия", "ию", "ием", "ии")),
    ("й", 1, ("й", "я", "ю", "ем", "е")),
    ("ь", 1, ("ь", "я", "ю", "ем", "е", "и")),
)
_CONSONANT: Final = ("", "а", "у", "ом", "ем", "е")
SHORTEST_ACROSS: Final = 3
"""Letters of a name in the common spelling below which two scripts agree by chance."""
_INDECLINABLE: Final = tuple("оуыэюеи")
_SHORTEST_STEM: Final = 2

_ADDRESS: Final = {"а": "", "я": "ь"}
"""The short form of address: Маша → Маш, Катя → Кать."""
_ADDRESSABLE: Final = re.compile(r"[а-я]{1,3}[аеиоуыэюя][бвгджзйклмнпрстфхцчшщ][ая]")
"""Diminutives, which end in one consonant and a vowel: not Александра, whose short form would be Александр."""

_ALSO_WORDS: Final = (
    "will may mark april june rose hope faith joy art bill sue pat grant dawn grace bob jack max rob chip dean drew "
    "frank gene guy jay lance miles nick penny rich rusty summer autumn wade ward chase hunter mason page ray "
    "вера веру веры вере надежда надежды надежду надежде любовь любви роман романа роману лев слава славы славу славе "
    "света свету свете роза розы розу розе лада майя мая маю мае марк марка марке марку мила милой милу рада рады мир "
    "мира миру рома ром рому дан дана"
)


def inflections(word: str) -> tuple[str, ...]:
    """The forms of a case-folded name (``е`` for ``ё``), itself first; a name in another script has only itself."""
    if not _CYRILLIC_WORD.fullmatch(word):
        return (word,)
    for ending, cut, replacements in _ENDINGS:
        stem = word[: len(word) - cut]
        if word == ending or (word.endswith(ending) and len(stem) >= _SHORTEST_STEM):
            forms = [stem + replacement for replacement in replacements]
            if _ADDRESSABLE.fullmatch(word):
                forms.append(word[:-1] + _ADDRESS[word[-1]])
            break
    else:
        forms = [word] if word.endswith(_INDECLINABLE) else [word + ending for ending in _CONSONANT]
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
    return word in _also_words()


@cache
def _also_words() -> frozenset[str]:
    return frozenset(_ALSO_WORDS.split())
