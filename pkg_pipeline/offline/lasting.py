"""Until when a decision is of use: a visit until its day, a price until it is paid, a rent until it changes (B17)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.dates import is_beginning
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.reading import Reading, Sentence
from pkg_pipeline.offline.told_days import days_told

HEAD: Final = "lasting"
THRESHOLD = 0.4
"""A decision is over from the first day on that it holds less probably."""
AGES: Final = (0, 2, 5, 10, 20, 35, 55, 80, 120, 180)
"""Bounds of the days since it was said."""
PAST: Final = (-30, -7, -1, 0, 1, 4, 10, 20, 40, 80)
"""Bounds of the days since the last day that it names; before the first there is no telling."""
SCALE = 2.0
"""Log-odds of lines are divided by this."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a decision says of how long it holds. ``decides`` and ``stays``: what the head of lines says of its line;
    ``until``: the last day it names.
    """

    said: date
    decides: float
    stays: float
    until: date | None
    is_again: bool
    begins: bool


def last_day(reading: Reading, sentences: Iterable[Sentence]) -> date | None:
    """The last day named; None: no day to come is named, or what is said begins then or returns again and again."""
    until, is_again, begins = _named(reading, sentences)
    return None if is_again or begins else until


def _named(reading: Reading, sentences: Iterable[Sentence]) -> tuple[date | None, bool, bool]:
    """The last day to come that is named; whether it returns again and again; whether something begins then."""
    days: list[date] = []
    is_again = begins = False
    for one in sentences:
        words = table("offline", one.language, "dates")["patterns"]
        is_again |= pattern(words["again"]).search(one.text) is not None
        line = reading.lines[one.line]
        for found in days_told(reading, line, one.text, one.language):
            begins |= is_beginning(one.text, one.language, found)
            days += [found.day] if found.day >= line.day else []
    return max(days, default=None), is_again, begins


def told_of(reading: Reading, found: FoundDecision) -> Told:
    """What a decision of a chat says, by its sentences and what the head of lines says of its lines."""
    until, is_again, begins = _named(reading, _stating(found))
    chance = reading.chances[found.lines[0]]
    said = reading.lines[max(found.lines)].day
    until = None if is_again or begins else until
    return Told(said, chance.decision / SCALE, chance.stays / SCALE, until, is_again, begins)


def features(told: Told, day: date) -> dict[str, float]:
    """What the head weighs of whether it still holds on a day."""
    age = (day - told.said).days
    found = {"decides": told.decides, "stays": told.stays, "stays late": told.stays * math.log1p(max(age, 0)) / SCALE}
    found |= {"again": 1.0} if told.is_again else {}
    found |= {"begins": 1.0} if told.begins else {}
    kind = "age" if told.until is None else "dated age"
    found |= {f"{kind} {bound}": 1.0 for bound in AGES if age >= bound}
    if told.until is not None:
        past = (day - told.until).days
        found |= {f"past {bound}": 1.0 for bound in PAST if past >= bound} | {"dated": 1.0}
        found |= {"stays past": told.stays} if past > 0 else {}
    return found


def holds_until(told: Told) -> date | None:
    """The last day on which it probably holds; None: until somebody changes it."""
    days = {told.said + timedelta(days=bound) for bound in AGES}
    days |= {told.until + timedelta(days=bound) for bound in PAST} if told.until is not None else set()
    over = (day for day in sorted(days) if day > told.said and probability(HEAD, features(told, day)) < THRESHOLD)
    first = next(over, None)
    return None if first is None else first - timedelta(days=1)


def lasts(reading: Reading, found: FoundDecision) -> tuple[date | None, date | None]:
    """The last day that a decision is about, if it does not hold on, and the last on which it is probably of use."""
    if not reading.chances:
        return last_day(reading, _stating(found)), None
    told = told_of(reading, found)
    until = holds_until(told)
    return (None if until is None else told.until), until


def _stating(found: FoundDecision) -> list[Sentence]:
    return [one for one in (found.sentence, found.before) if one is not None]
