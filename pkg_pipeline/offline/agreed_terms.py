"""What a text fixes: sums, days, hours, days of the week; and how far apart two texts are in them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import table
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.matters import sums_of
from pkg_pipeline.offline.phrases import mark

LEAST_SUM = 20
COMPARABLE = 2.5
"""A sum takes another's place if neither is so many times the other."""
NEAR_PRICE = 4 / 3
"""A single sum is the next price of what had a single sum within this."""
NEAR_NUMBER = 2
"""A number takes another's place if neither is more than so many times the other."""
LARGEST_PART = 1 / 3
"""What is added to a sum is no more of it."""
FAR = 3.0
"""Logarithm of how many times a number is another, where there are no two."""
FAR_DAYS = 400

_DIGITS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_WEEKDAY_ZH = re.compile("(?:周|星期|礼拜)([一二三四五六日天])")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}[:：]\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a decision fixes."""

    sums: frozenset[int]
    days: frozenset[date]
    hours: frozenset[str]

    def differ_from(self, old: Terms, today: date) -> bool:
        """Whether a sum, a day or an hour is another than before. A day that has passed is no longer moved."""
        if self.sums and old.sums:
            return any(1 / COMPARABLE <= new / one <= COMPARABLE for new in self.sums - old.sums for one in old.sums)
        moved = bool(self.days and old.days) and max(old.days) >= today and bool(self.days - old.days)
        return moved or (bool(self.hours and old.hours) and not self.hours & old.hours)

    def name(self, old: Terms) -> bool:
        """Whether something of the old terms is said again."""
        return bool(self.sums & old.sums or self.days & old.days or self.hours & old.hours)

    @property
    def is_empty(self) -> bool:
        return not (self.sums or self.days or self.hours)

    def are_of(self, other: Terms) -> bool:
        """Whether both fix the same kind of thing."""
        kinds = ((self.sums, other.sums), (self.days, other.days), (self.hours, other.hours))
        return any(one and two for one, two in kinds)


def fixed_by(text: str, language: Language, today: date) -> Terms:
    """The sums, days and hours of a text, each number once."""
    dates = find_dates(text, language, today)
    for one in reversed(dates):
        text = f"{text[: one.start]} {text[one.end :]}"
    hours = frozenset(map(_hour, (m.group() for m in _CLOCK.finditer(text))))
    rest = _CLOCK.sub(" ", text)
    hours |= frozenset(_hour(m.group()) for m in mark("clock").finditer(rest))
    rest = mark("clock").sub(" ", rest)
    sums = frozenset(one for one in sums_of(rest) if one >= LEAST_SUM and not 1990 <= one <= 2100)
    return Terms(sums, frozenset(one.day for one in dates), hours)


def numbers_of(text: str) -> frozenset[int]:
    return frozenset(int(m.group()) for m in _DIGITS.finditer(text) if int(m.group()) > 1)


def other_number(new: frozenset[int], old: frozenset[int]) -> bool:
    """Whether a number is another than before, and not far off: "18 then" - "21"."""
    return any(1 / NEAR_NUMBER <= one / was <= NEAR_NUMBER for one in new - old for was in old)


def weekdays_of(text: str, language: Language) -> frozenset[int]:
    """Days of the week, of every week too: "on Thursdays", "周四"."""
    known: Mapping[str, int] = table("offline", language, "dates")["weekdays"]
    said = _WEEKDAY_ZH.findall(text) if language == "zh" else re.findall(r"[^\W\d_]+", text.lower())
    return frozenset(
        number
        for word in said
        for stem, number in known.items()
        if word == stem or (word.startswith(stem) and (len(stem) > 3 or "day" in word))
    )


def _hour(text: str) -> str:
    """One hour in one form: "at 17" and "17:00"."""
    digits = re.search(r"\d+(?:[:.：]\d\d)?", text)
    if digits is None:
        return text.lower()
    return digits.group().replace(".", ":").replace("：", ":").removesuffix(":00")


def is_next_price(new: Terms, old: Terms) -> bool:
    """Whether each fixes one sum, the new one another and not far off."""
    if len(new.sums) != 1 or len(old.sums) != 1 or new.sums == old.sums:
        return False
    return 1 / NEAR_PRICE <= max(new.sums) / max(old.sums) <= NEAR_PRICE


def adds_up(new: Terms, near: Terms, old: Terms) -> bool:
    """Whether a sum is the old one with another that is named: "5 on top, so 65" where 60 stood."""
    parts = near.sums - old.sums
    return any(
        0 < abs(one - was) <= was * LARGEST_PART and abs(one - was) in parts for one in new.sums for was in old.sums
    )


def times_apart(new: Collection[int], old: Collection[int]) -> float:
    """Logarithm of how many times a number is the nearest other one."""
    return min((abs(math.log(one / was)) for one in new for was in old if one != was), default=FAR)


def days_apart(new: Collection[date], old: Collection[date]) -> int:
    return min((abs((one - was).days) for one in new for was in old), default=FAR_DAYS)
