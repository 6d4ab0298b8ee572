"""Until when a decision is of use: the last day that its words name (B17)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.reading import Reading, Sentence

BEFORE_CHARS = 15
"""Characters before a date that may say that something begins then."""


def last_day(reading: Reading, sentences: Iterable[Sentence]) -> date | None:
    """The last day named; None: no day to come is named, or what is said begins then or returns again and again."""
    days: list[date] = []
    for one in sentences:
        words = table("offline", one.language, "dates")["patterns"]
        if pattern(words["again"]).search(one.text):
            return None
        said = reading.lines[one.line].day
        for found in find_dates(one.text, one.language, said):
            before = one.text[max(0, found.start - BEFORE_CHARS) : found.start]
            after = one.text[found.end : found.end + BEFORE_CHARS]
            if pattern(words["begins_before"]).search(before) or pattern(words["begins_after"]).match(after):
                return None
            days += [found.day] if found.day >= said else []
    return max(days, default=None)
