"""Days named in a talk as it means them: a bare "28th" may be of the month spoken of just before.

Mostly it is the next 28th. It is another where the talk named that very day, something a few days after it, or, in the
same message, the month; and said on a 28th it is not today.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.dates import FoundDate, find_dates
from pkg_pipeline.offline.day_rules import JUST_OVER, by_beginning, later_month, number_of
from pkg_pipeline.offline.reading import Line, Reading

BARE = "day_of_month"
REACH = 4
"""Lines before a bare day that may name its month."""
SHORTLY_BEFORE = timedelta(days=6)
"""A bare day so shortly before what is spoken of belongs to it: "18 April" - "come by on the 16th"."""
SOON = timedelta(days=7)
"""A bare day so near is the next one of its number, unless that very day of another month was named."""
AFTER_CHARS = 25
"""Characters after a bare day in which its month may be named: "the 28th, 29th and 30th of June"."""
_NAMES_MONTH = frozenset(("day_and_month", "slashed", "named_month", "holiday", "day_of_next_month"))
"""Kinds of rules whose words name the month of their day."""


def days_told(reading: Reading, line: Line, text: str, language: Language | None = None) -> tuple[FoundDate, ...]:
    """Every day that a text of a line names."""
    found = find_dates(text, language or line.language, line.day)
    start = max(0, line.message.text.find(text))
    return tuple(_in_its_month(reading, line, start, one, found) if one.kind == BARE else one for one in found)


def _in_its_month(reading: Reading, line: Line, start: int, bare: FoundDate, found: tuple[FoundDate, ...]) -> FoundDate:
    said = line.message.text[: start + bare.start]
    near = (one for one in found if 0 <= one.start - bare.end <= AFTER_CHARS and one.kind in _NAMES_MONTH)
    later = next((one.day for one in near if one.day.day > bare.day.day), None)
    month = None if later is None else (later.year, later.month)
    if month is None and not bare.is_deadline:
        month = _month_named(said, line.language, line.day)
    day = None if month is None else _day_of(month, bare.day.day)
    is_far = bare.day == line.day or (not bare.is_deadline and bare.day - line.day > SOON)
    for spoken in () if day else _spoken_of(reading, line, said):
        day = day or _by(spoken, bare.day, SHORTLY_BEFORE if is_far else timedelta())
    if day is None and bare.day == line.day:
        day = _day_of(later_month(line.day, 1), bare.day.day)
    if day is None or day <= bare.day:
        return bare
    return replace(bare, day=day, first=bare.first and day - (bare.day - bare.first))


def _day_of(month: tuple[int, int], number: int) -> date | None:
    return date(*month, number) if number <= monthrange(*month)[1] else None


def _by(spoken: date, bare: date, before: timedelta) -> date | None:
    """The day with the number of a bare one that is spoken of, or lies at most so long before it."""
    days = (spoken - timedelta(days=count) for count in range(before.days + 1))
    return next((day for day in days if day.day == bare.day and day >= bare), None)


def _spoken_of(reading: Reading, line: Line, said: str) -> Iterator[date]:
    """Days that are named with their month before a place of a line, the last first."""
    before = (one for one in reversed(reading.lines[max(0, line.index - REACH) : line.index]) if not one.is_data)
    for text, one in chain([(said, line)], ((one.message.text, one) for one in before)):
        found = reversed(find_dates(text, one.language, one.day))
        yield from (day.day for day in found if day.kind in _NAMES_MONTH - {"named_month"} and day.day >= line.day)


def _month_named(text: str, language: Language, today: date) -> tuple[int, int] | None:
    """The last month that a text names without a day."""
    words = table("offline", language, "dates")
    dated = find_dates(text, language, today)
    named = [(one.start, (one.day.year, one.day.month)) for one in dated if _is_later_month(one, today)]
    for m in pattern(words["patterns"]["month_named"]).finditer(text):
        month = by_beginning(m["month"], words["months"]) or number_of(m["month"], words)
        is_free = not any(one.start < m.end() and m.start() < one.end for one in dated)
        if is_free and 1 <= month <= 12 and not 0 < today.month - month <= JUST_OVER:
            named.append((m.start(), (today.year + (month < today.month), month)))
    start, month = max(named, default=(0, None))
    return None if any(one.start > start and one.kind in _NAMES_MONTH for one in dated) else month


def _is_later_month(found: FoundDate, today: date) -> bool:
    return found.kind == "named_month" or (found.kind == "month_end" and found.day.month != today.month)
