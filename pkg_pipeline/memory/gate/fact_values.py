"""Values of facts: whether one is of its type, and which types hold one value at a time (B2)."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from pkg_pipeline.memory.gate.calendar import EXACT, mentions
from pkg_pipeline.memory.gate.checker import Checker, Evidence
from pkg_pipeline.memory.gate.foreign import digits
from pkg_pipeline.memory.text.language_data import in_any

SINGLE: Final = frozenset({"address", "birthday", "position", "organization"})
"""Types of which a person has one value at a time."""

TIMELESS: Final = frozenset({"birthday"})
"""Of these the value that a person has never becomes another one."""

CURRENT: Final = SINGLE | {"phone", "email", "employer", "city"}
"""Of these a value that was is none."""

_CLAUSE: Final = re.compile(r"[,;.!?](?=\s|$)|[，。；！？\n]|\s(?:but|and|а|но|и)\s")
_DAY: Final = re.compile(r"(?:(\d{4})-|--)?(\d{2})-(\d{2})")
_EMAIL: Final = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_PHONE_DIGITS: Final = range(5, 16)
_LEAP_YEAR: Final = 2000


def day_of(value: str) -> tuple[int, int, int] | None:
    """Year (0: none), month and day of ``04-24`` or ``1990-04-24``; None for what is no day."""
    match = _DAY.fullmatch(value.strip())
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    try:
        date(year or _LEAP_YEAR, month, day)
    except ValueError:
        return None
    return year, month, day


def written_day(value: str, said_on: date) -> str:
    """A day said in words ("12 May 1990") as ``1990-05-12``, or ``05-12`` without a year; any other value as it is."""
    found = mentions(value, said_on) if day_of(value) is None else ()
    days = {day for one in found if one.kind in EXACT for day in one.days}
    if len({(day.month, day.day) for day in days}) != 1:
        return value
    day = min(days)
    return day.isoformat() if str(day.year) in value else f"{day.month:02}-{day.day:02}"


def is_of_type(fact_type: str, value: str) -> bool:
    """Whether a value has the form of its type: a birthday is a day, a mail has its @; others may take any."""
    if fact_type == "birthday":
        return day_of(value) is not None
    if fact_type == "email":
        return _EMAIL.fullmatch(value) is not None
    if fact_type == "phone":
        return len(digits(value)) in _PHONE_DIGITS and sum(map(str.isalpha, value)) <= len("extension")
    return True


def is_over(fact_type: str, value: str, evidence: Evidence) -> bool:
    """Whether each clause with a value of now says that it holds no longer ("no longer at Lumen", "my old number")."""
    if fact_type not in CURRENT:
        return False
    said = [part for message in evidence.messages for part in _CLAUSE.split(message.text) if value in part]
    over = in_any("memory", "facts", "over")
    return bool(said) and all(over.search(part) for part in said)


def is_wished(value: str, evidence: Evidence, checker: Checker) -> bool:
    """Whether a birthday is the day on which a cited message wishes a happy one."""
    day = day_of(value)
    wished = in_any("memory", "facts", "wishes")
    return day is not None and any(
        (said.month, said.day) == day[1:] and not day[0] and wished.search(message.text)
        for message in evidence.messages
        for said in (checker.local_date(message),)
    )
