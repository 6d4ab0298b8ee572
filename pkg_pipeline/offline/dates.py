"""Dates in speech relative to the day spoken, by ``languages/LANGUAGE/dates.toml``.

General date libraries take seconds on their first call and read plain numbers as days.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache

from pkg_pipeline.memory.gate.calendar import counts_from_event
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.day_rules import KINDS, Words, by_beginning, number_of

MOST_CHARS = 5000
BEFORE_CHARS = 15
"""Characters before a date that may say that something begins then."""
THING_CHARS = 40
"""Characters before a date that may say what has that day."""
NEAR_CHARS = 6
"""Characters between a day and the part of it."""


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and its place in the text; ``is_deadline``: marked as a deadline; ``kind``: of the rule that read it;
    ``first``: of several days in a row, whose last is ``day``.
    """

    day: date
    start: int
    end: int
    is_deadline: bool
    kind: str = ""
    first: date | None = None

    @property
    def begins(self) -> date:
        """The day on which it begins to be."""
        return self.first or self.day

    @property
    def expected(self) -> date:
        """The day on which what it is of is wanted: of several in a row the first, of a deadline the last."""
        return self.day if self.is_deadline else self.begins


PARTS_OF_DAY = ("part_of_day", "part_of_tomorrow")
"""Of no day of their own: any day beside them is meant."""
_SPANS_OF_WEEK = frozenset(("weekend", "week_part"))
"""Of no day of their own where one of their days is named: "at the weekend, on Saturday at 11"."""
_OF_THE_CALENDAR = frozenset(("day_and_month", "slashed", "day_of_month", "day_of_next_month", "weekday_of_month"))
EXACT = _OF_THE_CALENDAR | {"weekday", "in_days"}
"""Kinds of rules that name one day."""
_SPANS_OF_MONTH = frozenset(("named_month", "month_end"))
"""Of no day of their own where a day of that month is named, too: "at the end of March, on the 28th"."""
_IN_DIGITS = (
    {"is": "day_and_month", "pattern": r"\b(?P<year>20\d\d)[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})\b"},
    {
        "is": "day_and_month",
        "pattern": r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>0[1-9]|1[0-2])(?:\.(?P<year>20\d\d|\d\d))?(?![\d%.]\d|\d)",
    },
    {"is": "slashed", "pattern": r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<year>20\d\d|\d\d))?(?![\d/])"},
)
"""Tried before a language's rules, after those of no day."""
_FOR_ENGLISH = re.compile(r"[a-z\d]", re.IGNORECASE)
"""No English rule matches a text without."""


@cache
def _rules(language: Language) -> tuple[tuple[re.Pattern[str], Words], ...]:
    own = table("offline", language, "dates")["rules"]
    none = [rule for rule in own if rule["is"] == "no_day"]
    return tuple(
        (pattern(rule["pattern"]), rule)
        for rule in (*none, *_IN_DIGITS, *(rule for rule in own if rule["is"] != "no_day"))
    )


def find_dates(text: str, language: Language, today: date) -> tuple[FoundDate, ...]:
    """Every date in a text, in order without overlaps; earlier rules win.

    ``today``: local day spoken. Chinese and Russian texts are read with English rules too.
    """
    return _dates(text[:MOST_CHARS], language, today)


@lru_cache(maxsize=4096)
def _dates(text: str, language: Language, today: date) -> tuple[FoundDate, ...]:
    found: list[FoundDate] = []
    taken = bytearray(len(text))
    for m, rule, words in _matches(text, language):
        if any(taken[m.start() : m.end()]):
            continue
        day = None
        with suppress(ValueError, OverflowError):
            day = KINDS[rule["is"]](today, m, rule, words)
        if day is not None or rule["is"] == "no_day":
            taken[m.start() : m.end()] = b"\x01" * len(m.group())
        if day is not None:
            by = _says_by(text, m, words["patterns"])
            found.append(FoundDate(day, m.start(), m.end(), by, rule["is"], _first_of(day, m)))
    return _told_apart(_in_rows(sorted(found, key=lambda f: f.start), text, language), today)


def _first_of(day: date, m: re.Match[str]) -> date | None:
    """The first of several days that one rule reads: "12 to 26 July"."""
    told = m.groupdict().get("first")
    return day.replace(day=int(told)) if told and told.isdigit() and 0 < int(told) < day.day else None


def _in_rows(found: list[FoundDate], text: str, language: Language) -> list[FoundDate]:
    """Two days with all between them are one: "the 26th to the 30th"."""
    between = pattern(table("offline", language, "dates")["patterns"]["range"])
    in_rows = _OF_THE_CALENDAR | {"weekday"}
    rows: list[FoundDate] = []
    for one in found:
        last = rows[-1] if rows and between.fullmatch(text[rows[-1].end : one.start]) else None
        if last is not None and last.kind == one.kind == "day_of_month" and one.day < last.day:
            one = replace(one, day=_after(last.day, one.day.day))  # "the 9th to the 16th", said on the 11th
        if last is not None and {last.kind, one.kind} <= in_rows and last.day < one.day:
            rows[-1] = replace(one, start=last.start, is_deadline=last.is_deadline, first=last.begins)
        else:
            rows.append(one)
    return rows


@lru_cache(maxsize=16_384)
def _matches(text: str, language: Language) -> tuple[tuple[re.Match[str], Words, Words], ...]:
    """What the rules find in a text whatever the day: open items are looked at again in every talk."""
    tongues = dict.fromkeys((language, "en") if _FOR_ENGLISH.search(text) else (language,))
    rules = ((*one, table("offline", tongue, "dates")) for tongue in tongues for one in _rules(tongue))
    found = ((m, rule, words) for compiled, rule, words in rules for m in compiled.finditer(text))
    return tuple(one for one in found if one[1]["is"] != "span" or not counts_from_event(text, *one[0].span()))


def _after(day: date, number: int) -> date:
    """The same month's day of a number after a day; the day itself where the month has none."""
    return day.replace(day=number) if day.day < number <= monthrange(day.year, day.month)[1] else day


def _told_apart(found: list[FoundDate], today: date) -> tuple[FoundDate, ...]:
    """Without what only says more of the day beside it: "tomorrow by the evening", "Saturday, the 23rd"."""
    return tuple(one for one in found if not any(_adds_to(one, other, today) for other in found if other is not one))


def _adds_to(one: FoundDate, other: FoundDate, today: date) -> bool:
    is_near = -1 <= max(one.start, other.start) - min(one.end, other.end) <= NEAR_CHARS
    if one.kind in PARTS_OF_DAY:
        return other.kind not in PARTS_OF_DAY or (one.kind, other.kind) == PARTS_OF_DAY
    if one.day == today:
        return is_near and other.day > today
    if one.kind in _SPANS_OF_WEEK and not one.is_deadline:
        return other.kind in EXACT - {"in_days"} and one.day - timedelta(days=6) <= other.day <= one.day
    return is_near and one.kind == "weekday" and other.kind in _OF_THE_CALENDAR


def _says_by(text: str, m: re.Match[str], patterns: Mapping[str, str]) -> bool:
    if pattern(patterns["by_before"]).search(text[max(0, m.start() - 30) : m.start()]):
        return True
    if "by_within" in patterns and pattern(patterns["by_within"]).match(m.group()):
        return True
    return "by_after" in patterns and pattern(patterns["by_after"]).match(text[m.end() : m.end() + 10]) is not None


def before_event(text: str, language: Language) -> tuple[timedelta, str] | None:
    """How long before something a text says ("a week before", "за день до"), and the text without that; None if it does
    not.
    """
    words = table("offline", language, "dates")
    m = pattern(words["patterns"]["before_event"]).search(text)
    if m is None:
        return None
    unit = by_beginning(m["unit"], words["units"]) or "days"
    count = number_of(m["n"], words) if m["n"] else 1
    days = {"weeks": 7, "months": 30}.get(unit, 1) * max(1, count)
    return timedelta(days=days), f"{text[: m.start()]} {text[m.end() :]}"


def due_date(text: str, language: Language, today: date) -> date | None:
    """The first deadline, else the first date that is not past; of two days to choose from the later."""
    return found.day if (found := due_day(text, language, today)) else None


def due_day(text: str, language: Language, today: date, *, is_own: bool = True) -> FoundDate | None:
    """As ``due_date``, with its place; not ``is_own``: text beside a duty, its beginnings are of something else."""
    return due_among(find_dates(text, language, today), text, language, today, is_own=is_own)


def due_among(
    found: Iterable[FoundDate], text: str, language: Language, today: date, *, is_own: bool = True
) -> FoundDate | None:
    """As ``due_day``, of the dates that a text names."""
    words = table("offline", language, "dates")["patterns"]
    after, dates = pattern(words["not_before"]), [one for one in found if one.day >= today]
    dates = [one for one in dates if not after.search(text[max(0, one.start - BEFORE_CHARS) : one.start])]
    if is_own:
        dates = [one for one in dates if not is_of_another(text, language, one)]
    else:
        dates = [one for one in dates if not is_beginning(text, language, one)]
    if not dates:
        return None
    first = next((one for one in dates if one.is_deadline), dates[0])
    if first.kind in _SPANS_OF_MONTH:
        month = (one for one in dates if one.kind in EXACT and one.day.replace(day=1) == first.day.replace(day=1))
        first = next(month, first)
    for other in dates:
        if other.start > first.end and pattern(words["either"]).fullmatch(text[first.end : other.start]):
            first = max(first, other, key=lambda one: one.day)
    return first


def is_of_another(text: str, language: Language, found: FoundDate) -> bool:
    """Whether a day is that of what is bought or booked ("tickets for the 28th"), or of what once was ("born on")."""
    words = table("offline", language, "dates")["patterns"]
    before, after = text[max(0, found.start - THING_CHARS) : found.start], text[found.end : found.end + BEFORE_CHARS]
    if found.kind in ("in_days", *PARTS_OF_DAY):
        return False
    names = ("past",) if found.is_deadline else ("past", "booked")
    return any(
        pattern(words[name]).search(before)
        or (f"{name}_after" in words and pattern(words[f"{name}_after"]).match(after))
        for name in names
    )


def is_beginning(text: str, language: Language, found: FoundDate) -> bool:
    """Whether words say that something begins on a day found: "from Thursday", "с 1 мая"."""
    words = table("offline", language, "dates")["patterns"]
    before, after = text[max(0, found.start - BEFORE_CHARS) : found.start], text[found.end : found.end + BEFORE_CHARS]
    return bool(pattern(words["begins_before"]).search(before) or pattern(words["begins_after"]).match(after))
