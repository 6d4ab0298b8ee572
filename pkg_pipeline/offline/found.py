"""What the offline reader finds in a talk: tasks and decisions, before anything is compared with earlier talks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from pkg_pipeline.memory.records import Owner, Person
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.reading import Sentence, terms_of

ROOT_LETTERS = 5
ANY_DAY = date(2024, 1, 1)
"""What dates are reckoned from where only their being the same matters."""
Importance = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class FoundAction:
    """One action item. ``lines``: message indices, the quoted one first; ``helper``: the same in other words.

    ``before``: what a sentence answers that says little by itself.
    """

    sentence: Sentence
    score: float
    owner: Owner
    owner_person: Person | None
    lines: tuple[int, ...]
    due: date | None
    closed_at: date | None = None
    closing: Sentence | None = None
    helper: Sentence | None = None
    probability: float = 1.0
    before: Sentence | None = None


@dataclass(frozen=True, slots=True)
class FoundDecision:
    """One decision. ``lines``: message indices, the quoted one first; ``agreed_by`` accepted what was proposed.

    ``before``: what a sentence answers that says little by itself.
    """

    sentence: Sentence
    score: float
    lines: tuple[int, ...]
    day: date
    importance: Importance
    agreed_by: tuple[Person, ...] = ()
    proposed_by: Person | None = None
    probability: float = 1.0
    before: Sentence | None = None


def roots_of(terms: Iterable[str]) -> set[str]:
    """Terms by their first letters, so that a noun matches the verb made from it ("заказ", "заказала")."""
    return {term[:ROOT_LETTERS] for term in terms}


@lru_cache(maxsize=2048)
def roots_and_days(sentence: Sentence) -> frozenset[str]:
    """What a sentence is about, a date as its day: two promises of one month are not of one matter."""
    text, ends = sentence.text, 0
    kept: list[str] = []
    days: set[str] = set()
    for found in find_dates(text, sentence.language, ANY_DAY):
        kept.append(text[ends : found.start])
        ends = found.end
        days.add(found.day.isoformat())
    if not days:
        return frozenset(roots_of(sentence.terms))
    return frozenset(days | roots_of(terms_of(" ".join([*kept, text[ends:]]), sentence.language)))
