"""Time expressions, read from ``languages/*/periods.toml``.

A space in a pattern matches one to three blanks; no part is unbounded, so that matching is linear.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from pkg_pipeline.memory.languages import COMMON, LANGUAGES, entries, patterns, table
from pkg_pipeline.memory.languages.scripts import letters_of

Op = Literal["in", "loose", "pair", "since", "after", "before", "by"]
STRONG: Final = 0
NEEDS_PREPOSITION: Final = 1
"""A time only after a word such as "in" or "since": a bare 2021 may be a number."""
MAYBE_A_NAME: Final = 2
"""As above, but "of" and "for" are not enough: June may be a person."""
_SURENESS: Final = {"sure": STRONG, "after preposition": NEEDS_PREPOSITION, "maybe a name": MAYBE_A_NAME}
FEW: Final = 0


class Row(NamedTuple):
    """One expression: the rule that reads it, how sure it is alone, its pattern.

    Compiled on first use: all languages together take longer to compile than a question takes to answer.
    """

    kind: str
    weak: int
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        return compiled(self.source)


@cache
def compiled(source: str) -> re.Pattern[str]:
    return re.compile(source.replace(" ", r"\s{1,3}"), re.IGNORECASE)


@cache
def expression(language: str, *keys: str) -> re.Pattern[str]:
    """The pattern under ``keys`` of a language's file, a list's as alternatives; without one it matches nothing."""
    found: Any = table(language, "periods")
    for key in keys:
        found = found.get(key, {})
    sources = [found] if isinstance(found, str) else found
    return compiled("|".join(patterns(language, "periods", sources)) or r"(?!)")


@cache
def rows_by_script() -> tuple[tuple[re.Pattern[str], tuple[Row, ...]], ...]:
    """Per script the rows to try; earlier rows take precedence."""
    languages = [(COMMON, "0-9"), *((language, letters_of(language)) for language in reversed(LANGUAGES))]
    return tuple((re.compile(f"[{letters}]"), _rows(language)) for language, letters in languages)


def _rows(language: str) -> tuple[Row, ...]:
    made = table(language, "periods")
    sources = patterns(language, "periods", [f"{made['before']}(?:{row[2]}){made['after']}" for row in made["rows"]])
    return tuple(Row(row[0], _SURENESS[row[1]], source) for row, source in zip(made["rows"], sources, strict=True))


@cache
def values(name: str) -> dict[str, int]:
    """The values of the words (or stems) under ``name``, of all languages."""
    return {word: int(value) for word, value in _meanings(name)}


def _meanings(name: str) -> list[tuple[str, str]]:
    return [
        (word.replace("_", " "), value)
        for _, meanings in entries("periods", name)
        for value, words in meanings.items()
        for word in words.split()
    ]


@cache
def operators() -> dict[str, Op]:
    return dict(_meanings("operators"))  # type: ignore[arg-type]


@cache
def prefix(sign: str) -> re.Pattern[str]:
    """The words before a mention, in the language of the preceding letter."""
    language = next((one for one in reversed(LANGUAGES) if re.match(f"[{letters_of(one)}]", sign)), LANGUAGES[0])
    own = [
        word.replace("_", " ") for words in table(language, "periods")["operators"].values() for word in words.split()
    ]
    source: str = table(language, "periods")["prefix"]
    source = source.replace("<OPERATORS>", "|".join(sorted(own, key=len, reverse=True)))
    return compiled(patterns(language, "periods", [source])[0])


def suffix(text: str, at: int) -> re.Match[str] | None:
    """The words after a mention that belong to it, such as 之前."""
    found = (expression(language, "suffix").match(text, at) for language, _ in entries("periods", "suffix"))
    return next((match for match in found if match and match.end() > at), None)


def number_of(words: str | None) -> int:
    """A count in digits or words: 1 for nothing, ``FEW`` for "a few"."""
    text = " ".join((words or "").lower().split())
    if text.isdecimal():
        return int(text)
    if len(text) > 1 and "十" in text:
        tens, _, ones = text.partition("十")
        return values("numbers").get(tens, 1) * 10 + values("numbers").get(ones, 0)
    return values("numbers").get(text, 1)


def value_of(name: str, word: str) -> int:
    """``values(name)`` of an inflected word, by its stem. ``KeyError``."""
    meanings, word = values(name), word.lower()
    return meanings[next((key for length in (5, 4, 3, 2, 1) if (key := word[:length]) in meanings), word)]


@cache
def unit_of(word: str) -> str:
    units = dict(_meanings("units"))
    return units.get(word[:3].lower()) or units[word[0]]
