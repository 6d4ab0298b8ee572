"""Until when a decision is of use: the last day that its words name (B17)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.dates import find_dates, is_beginning
from pkg_pipeline.offline.reading import Reading, Sentence


def last_day(reading: Reading, sentences: Iterable[Sentence]) -> date | None:
    """The last day named; None: no day to come is named, or what is said begins then or returns again and again."""
    days: list[date] = []
    for one in sentences:
        words = table("offline", one.language, "dates")["patterns"]
        if pattern(words["again"]).search(one.text):
            return None
        said = reading.lines[one.line].day
        for found in find_dates(one.text, one.language, said):
            if is_beginning(one.text, one.language, found):
                return None
            days += [found.day] if found.day >= said else []
    return max(days, default=None)
