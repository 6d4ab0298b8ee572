"""Days of the year with a name, also those that move: Easter, days of the Chinese lunar year."""

from __future__ import annotations

from datetime import date, timedelta

from borax.calendars.festivals2 import TermFestival
from borax.calendars.lunardate import LunarDate
from dateutil.easter import EASTER_ORTHODOX, EASTER_WESTERN, easter

_TERMS = {"qingming": "清明"}
"""Days of the solar year that move by a day."""


def next_holiday(told: str, today: date) -> date | None:
    """The next such day from today on or None; ``told``: "12-25", "easter -2" (Good Friday), "orthodox 0", "lunar 1 1",
    "lunar 1 1 -1" (the day before), "term qingming".

    Raises ValueError where the calendar has no such day.
    """
    # the twelfth lunar month lies in the year after its own
    days = (_in_year(told, year) for year in range(today.year - 1, today.year + 2))
    return next((day for day in days if day >= today), None)


def _in_year(told: str, year: int) -> date:
    calendar, *numbers = told.split()
    if calendar == "term":
        day = TermFestival(name=_TERMS[numbers[0]]).at(year)
        return date(day.year, day.month, day.day)
    match calendar, [int(one) for one in numbers]:
        case "easter", [later]:
            return easter(year, EASTER_WESTERN) + timedelta(days=later)
        case "orthodox", [later]:
            return easter(year, EASTER_ORTHODOX) + timedelta(days=later)
        case "lunar", [month, day, *later]:
            return LunarDate(year, month, day).to_solar_date() + timedelta(days=sum(later))
        case _:
            month, day = map(int, told.split("-"))
            return date(year, month, day)
