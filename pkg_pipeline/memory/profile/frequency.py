"""How often two people are in touch (P21, B19): from the days on which they talked, so that the word is true today."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.profile.records import Frequency

RHYTHMS: tuple[tuple[float, Frequency], ...] = (
    (1.7, "daily"),
    (4.6, "several_weekly"),
    (9.9, "weekly"),
    (20.5, "biweekly"),
    (47.0, "monthly"),
    (130.0, "quarterly"),
)
"""At most so many days from one day of contact to the next: the geometric means of 1, 3, 7, 14, 30, 75, 220."""

RECENT_DAYS = 120
"""The rhythm is that of so many days."""

FEWEST_DAYS = 3
"""Fewer days of contact have no rhythm."""

SILENT_TIMES = 4
SILENT_DAYS = (90, 400)
"""Silence is the end of contact when it is this many times the usual gap, between these bounds."""


def frequency_of(days: Sequence[date], today: date) -> Frequency | None:
    """The rhythm of contact on these days, distinct and ascending, none after ``today``; None where few days say
    nothing.

    ``ceased``: they were in touch, and have been silent for far longer than their usual gap.
    """
    if not days:
        return None
    silence = (today - days[-1]).days
    recent = [day for day in days if (days[-1] - day).days <= RECENT_DAYS]
    known = recent if len(recent) >= FEWEST_DAYS else days[-FEWEST_DAYS:]
    usual = (known[-1] - known[0]).days / (len(known) - 1) if len(known) > 1 else 0.0
    least, most = SILENT_DAYS
    if silence >= min(max(least, SILENT_TIMES * usual), most):
        return "ceased"
    if len(known) < FEWEST_DAYS:
        return None
    # a silence longer than usual counts as one more gap
    gap = max(usual, (today - known[0]).days / len(known))
    place = bisect_left(RHYTHMS, gap, key=lambda one: one[0])
    return RHYTHMS[place][1] if place < len(RHYTHMS) else "rare"
