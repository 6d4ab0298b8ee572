"""The words by which facts are told, from ``languages/LANGUAGE/facts.toml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import get_args

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import in_any, pattern, table
from pkg_pipeline.offline.facts.found import FactKind


@dataclass(frozen=True, slots=True)
class Telling:
    """A way to tell a fact. ``form``: of the value, from ``{kin}`` and ``{value}``.

    ``confidence``: how often it is true; ``is_ended``: it tells that the fact holds no longer; ``is_introduction``: the
    group ``me`` names who speaks; ``is_given``: it holds also where the sentence asks or imagines something else.
    """

    kind: FactKind
    pattern: re.Pattern[str]
    confidence: float
    form: str
    is_ended: bool
    is_introduction: bool
    is_given: bool


@cache
def tellings(language: Language) -> tuple[Telling, ...]:
    return tuple(
        Telling(
            row["kind"],
            pattern(row["pattern"]),
            row["confidence"],
            row.get("form", "{value}"),
            row.get("is_ended", False),
            row.get("is_introduction", False),
            row.get("is_given", False),
        )
        for row in table("offline", language, "facts")["facts"]
    )


@cache
def cue(language: Language, name: str) -> re.Pattern[str]:
    """A pattern of one language; one that it lacks is the English one."""
    own = table("offline", language, "facts")["patterns"]
    return pattern(own.get(name) or table("offline", "en", "facts")["patterns"][name])


@cache
def any_cue(name: str) -> re.Pattern[str]:
    """A pattern in any of the languages."""
    return in_any("offline", "facts", name)


@lru_cache(maxsize=16_384)
def says(name: str, text: str) -> bool:
    """Whether a text holds a pattern in any of the languages."""
    return any_cue(name).search(text) is not None


@cache
def regions(language: Language) -> tuple[str, ...]:
    """Countries whose numbers are written without their code."""
    return tuple(table("offline", language, "facts")["words"]["phone_regions"])


@cache
def is_trade(word: str) -> bool:
    """Whether a word of any language says what somebody does."""
    found = (cue(language, "trade").fullmatch(word) for language in get_args(Language))
    return any(one is not None for one in found)
