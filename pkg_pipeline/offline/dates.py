"""Dates in speech relative to the day spoken, by ``languages/LANGUAGE/dates.toml``.

General date libraries take seconds on their first call and read plain numbers as days.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any

from pkg_pipeline.memory.gate.calendar import counts_from_event
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.holidays import next_holiday

FRIDAY, SUNDAY = 4, 6
FORGIVEN_DAYS = 30
"""A day and month without year may lie this far back, else next year is meant."""
JUST_OVER = 3
"""A month that ended so few months ago is told of as past: "in March", said in May."""
MOST_CHARS = 5000
BEFORE_CHARS = 15
"""Characters before a date that may say that something begins then."""
NEAR_CHARS = 6
"""Characters between a day and the part of it."""

Words = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and its place in the text; ``is_deadline``: marked as a deadline; ``kind``: of the rule that read it."""

    day: date
    start: int
    end: int
    is_deadline: bool
    kind: str = ""


def _number(text: str | None, words: Words) -> int:
    """Digits, words ("двадцать пятого" sums up), numerals; of two numerals side by side ("两三") the second."""
    word, numbers = (text or "").strip().lower(), words["numbers"]
    if not word or word.isdigit():
        return int(word or 1)
    if word in numbers:
        return numbers[word]
    word = word.replace("廿", "二十")
    if "十" in word:
        tens, _, ones = word.partition("十")
        return numbers.get(tens, 1) * 10 + numbers.get(ones, 0)
    if word[-1] in numbers:
        return numbers[word[-1]]
    return sum(_by_beginning(part, numbers) or 0 for part in re.split(r"[\s-]+", word))


def _by_beginning(text: str | None, values: Mapping[str, Any]) -> Any:
    """The value of the first key that the text begins with, or None."""
    word = (text or "").lower()
    return next((value for stem, value in values.items() if word.startswith(stem)), None)


def _later_month(today: date, months: int) -> tuple[int, int]:
    index = today.year * 12 + today.month - 1 + months
    return index // 12, index % 12 + 1


def _day_and_month(today: date, day: int, month: int, year: str | None) -> date | None:
    try:
        if year:
            return date(int(year) + (2000 if int(year) < 100 else 0), month, day)
        found = date(today.year, month, day)
    except ValueError:
        return None
    is_near = found >= today - timedelta(days=FORGIVEN_DAYS)
    return found if is_near else _day_and_month(today, day, month, str(today.year + 1))


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _weekday(today: date, number: int, weeks: int | None) -> date:
    """The weekday ``weeks`` calendar weeks ahead; None: its next occurrence."""
    if weeks is None:
        return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)
    return today + timedelta(days=7 * weeks + number - today.weekday())


# Readers of rules: each takes the day spoken, the match, the rule and the language's words.


def _no_day(_today: date, _m: re.Match[str], _rule: Words, _words: Words) -> None:
    """What looks like a day and names none: "every Friday", "24/7"."""


def _in_days(today: date, _m: re.Match[str], rule: Words, _words: Words) -> date:
    return today + timedelta(days=rule.get("days", 0))


def _span(today: date, m: re.Match[str], rule: Words, words: Words) -> date:
    found = m.groupdict()
    count = rule.get("n") or _number(found.get("n"), words)
    unit = rule.get("unit") or _by_beginning(found["unit"], words["units"])
    if unit in ("hours", "minutes"):
        return today + timedelta(days=count // 24 if unit == "hours" else 0)
    if unit not in ("months", "years"):
        return today + timedelta(**{unit: count})
    year, month = _later_month(today, count * (12 if unit == "years" else 1))
    return date(year, month, min(today.day, monthrange(year, month)[1]))


def _named_weekday(today: date, m: re.Match[str], rule: Words, words: Words) -> date:
    weeks = rule.get("weeks", _by_beginning(m.groupdict().get("which"), words["weeks_ahead"]))
    return _weekday(today, words["weekdays"][m["weekday"].lower()], weeks) + timedelta(weeks=rule.get("later", 0))


def _weekend(today: date, m: re.Match[str], _rule: Words, words: Words) -> date:
    """A weekend is up on its Sunday; said on a Sunday without more, the next one is meant."""
    which = _by_beginning(m.groupdict().get("which"), words["weeks_ahead"])
    return _weekday(today, SUNDAY, which if which is not None else int(today.weekday() == SUNDAY))


def _week_part(today: date, _m: re.Match[str], rule: Words, _words: Words) -> date:
    """A week is up on its Sunday, begins on its Tuesday; said on a Sunday, not the one that is over is meant."""
    return _weekday(today, rule.get("day", SUNDAY), rule.get("weeks", int(today.weekday() == SUNDAY)))


def _before_weekend(today: date, _m: re.Match[str], _rule: Words, _words: Words) -> date:
    """The Friday of the week, where it is over the Sunday."""
    friday = _weekday(today, FRIDAY, 0)
    return friday if friday >= today else _weekday(today, SUNDAY, 0)


def _month_end(today: date, _m: re.Match[str], rule: Words, _words: Words) -> date:
    return _last_day(*_later_month(today, rule.get("months", 0)))


def _year_end(today: date, _m: re.Match[str], _rule: Words, _words: Words) -> date:
    return _last_day(today.year, 12)


def _named_month(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """A month is up on its last day, its beginning on the 10th, its middle on the 15th; "by May" is its first."""
    month = _by_beginning(m["month"], words["months"]) or _number(m["month"], words)
    is_just_over = "day" not in rule and "years" not in rule and 0 < today.month - month <= JUST_OVER
    year = today.year + rule.get("years", month < today.month and not is_just_over)
    return date(year, month, rule["day"]) if "day" in rule else _last_day(year, month)


def _holiday(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """The next day of that name; ``within``: not so many days ahead ("年前" in May is no new year's)."""
    found = next_holiday(_by_beginning(m["holiday"], words["holidays"]), today)
    return None if found is None or (found - today).days > rule.get("within", 400) else found


def _lunar_day(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    """A day of the first or the last month of the Chinese lunar year: "腊月二十"."""
    return next_holiday(f"lunar {words['lunar_months'][m['month']]} {_number(m['day'], words)}", today)


def _calendar_day(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    month = _by_beginning(m["month"], words["months"]) or _number(m["month"], words)
    return _day_and_month(today, _number(m["day"], words), month, m.groupdict().get("year"))


def _week_of(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """The Sunday of the week that a day begins."""
    first = _calendar_day(today, m, rule, words)
    return None if first is None else first + timedelta(days=SUNDAY - first.weekday())


def _weekday_of_month(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    """The next day with that number ("Saturday 26") that falls on the weekday; else the number counts something."""
    weekday, number = words["weekdays"][m["weekday"].lower()], _number(m["day"], words)
    months = (_later_month(today, months) for months in range(3))
    days = (date(year, month, number) for year, month in months if 1 <= number <= monthrange(year, month)[1])
    return next((day for day in days if day >= today and day.weekday() == weekday), None)


def _slashed(today: date, m: re.Match[str], _rule: Words, _words: Words) -> date | None:
    first, second = int(m["a"]), int(m["b"])
    day, month = (first, second) if first > 12 else (second, first)
    return _day_and_month(today, day, month, m["year"])


def _day_of_month(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    day = rule.get("day") or _number(m["day"], words)
    if "months" in rule:
        return date(*_later_month(today, rule["months"]), day)
    for months in range(3):
        year, month = _later_month(today, months)
        if day <= monthrange(year, month)[1] and (found := date(year, month, max(1, day))) >= today:
            return found
    return None


_KINDS: Mapping[str, Callable[[date, re.Match[str], Words, Words], date | None]] = {
    "no_day": _no_day,
    "part_of_day": _in_days,
    "part_of_tomorrow": _in_days,
    "in_days": _in_days,
    "span": _span,
    "weekday": _named_weekday,
    "weekday_of_month": _weekday_of_month,
    "weekend": _weekend,
    "before_weekend": _before_weekend,
    "week_part": _week_part,
    "month_end": _month_end,
    "year_end": _year_end,
    "named_month": _named_month,
    "holiday": _holiday,
    "lunar_day": _lunar_day,
    "day_and_month": _calendar_day,
    "week_of": _week_of,
    "slashed": _slashed,
    "day_of_month": _day_of_month,
}
PARTS_OF_DAY = ("part_of_day", "part_of_tomorrow")
"""Of no day of their own: any day beside them is meant."""
_SPANS_OF_WEEK = frozenset(("weekend", "week_part"))
"""Of no day of their own where one of their days is named: "at the weekend, on Saturday at 11"."""
_OF_THE_CALENDAR = frozenset(("day_and_month", "slashed", "day_of_month", "weekday_of_month"))
EXACT = _OF_THE_CALENDAR | {"weekday", "in_days"}
"""Kinds of rules that name one day."""
_IN_DIGITS = (
    {"is": "day_and_month", "pattern": r"\b(?P<year>20\d\d)[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})\b"},
    {
        "is": "day_and_month",
        "pattern": r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>0[1-9]|1[0-2])(?:\.(?P<year>20\d\d|\d\d))?(?![\d%.]\d|\d)",
    },
    {"is": "slashed", "pattern": r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?:/(?P<year>20\d\d|\d\d))?(?![\d/])"},
)
"""Tried before a language's rules, after those of no day."""


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
            day = _KINDS[rule["is"]](today, m, rule, words)
        if day is not None or rule["is"] == "no_day":
            taken[m.start() : m.end()] = b"\x01" * len(m.group())
        if day is not None:
            found.append(FoundDate(day, m.start(), m.end(), _says_by(text, m, words["patterns"]), rule["is"]))
    return _told_apart(sorted(found, key=lambda f: f.start), today)


@lru_cache(maxsize=16_384)
def _matches(text: str, language: Language) -> tuple[tuple[re.Match[str], Words, Words], ...]:
    """What the rules find in a text whatever the day: open items are looked at again in every talk."""
    tongues = dict.fromkeys((language, "en"))
    rules = ((*one, table("offline", tongue, "dates")) for tongue in tongues for one in _rules(tongue))
    found = ((m, rule, words) for compiled, rule, words in rules for m in compiled.finditer(text))
    return tuple(one for one in found if one[1]["is"] != "span" or not counts_from_event(text, *one[0].span()))


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
    unit = _by_beginning(m["unit"], words["units"]) or "days"
    count = _number(m["n"], words) if m["n"] else 1
    days = {"weeks": 7, "months": 30}.get(unit, 1) * max(1, count)
    return timedelta(days=days), f"{text[: m.start()]} {text[m.end() :]}"


def due_date(text: str, language: Language, today: date) -> date | None:
    """The first deadline, else the first date that is not past; of two days to choose from the later."""
    return found.day if (found := due_day(text, language, today)) else None


def due_day(text: str, language: Language, today: date, *, is_own: bool = True) -> FoundDate | None:
    """As ``due_date``, with its place; not ``is_own``: text beside a duty, its beginnings are of something else."""
    words = table("offline", language, "dates")["patterns"]
    after, dates = pattern(words["not_before"]), [one for one in find_dates(text, language, today) if one.day >= today]
    dates = [one for one in dates if not after.search(text[max(0, one.start - BEFORE_CHARS) : one.start])]
    if not is_own:
        dates = [found for found in dates if not is_beginning(text, language, found)]
    if not dates:
        return None
    first = next((found for found in dates if found.is_deadline), dates[0])
    for other in dates:
        if other.start > first.end and pattern(words["either"]).fullmatch(text[first.end : other.start]):
            first = max(first, other, key=lambda found: found.day)
    return first


def is_beginning(text: str, language: Language, found: FoundDate) -> bool:
    """Whether words say that something begins on a day found: "from Thursday", "с 1 мая"."""
    words = table("offline", language, "dates")["patterns"]
    before, after = text[max(0, found.start - BEFORE_CHARS) : found.start], text[found.end : found.end + BEFORE_CHARS]
    return bool(pattern(words["begins_before"]).search(before) or pattern(words["begins_after"]).match(after))
