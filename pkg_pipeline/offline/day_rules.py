"""How a rule of ``languages/LANGUAGE/dates.toml`` reads a day from the words that it matches."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from pkg_pipeline.offline.holidays import next_holiday

FRIDAY, SUNDAY = 4, 6
FORGIVEN_DAYS = 30
"""A day and month without year may lie this far back, else next year is meant."""
JUST_OVER = 3
"""A month that ended so few months ago is told of as past: "in March", said in May."""

Words = Mapping[str, Any]


def number_of(text: str | None, words: Words) -> int:
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
    return sum(by_beginning(part, numbers) or 0 for part in re.split(r"[\s-]+", word))


def by_beginning(text: str | None, values: Mapping[str, Any]) -> Any:
    """The value of the first key that the text begins with, or None."""
    word = (text or "").lower()
    return next((value for stem, value in values.items() if word.startswith(stem)), None)


def later_month(today: date, months: int) -> tuple[int, int]:
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
    count = rule.get("n") or number_of(found.get("n"), words)
    unit = rule.get("unit") or by_beginning(found["unit"], words["units"])
    if unit in ("hours", "minutes"):
        return today + timedelta(days=count // 24 if unit == "hours" else 0)
    if unit not in ("months", "years"):
        return today + timedelta(**{unit: count})
    year, month = later_month(today, count * (12 if unit == "years" else 1))
    return date(year, month, min(today.day, monthrange(year, month)[1]))


def _named_weekday(today: date, m: re.Match[str], rule: Words, words: Words) -> date:
    weeks = rule.get("weeks", by_beginning(m.groupdict().get("which"), words["weeks_ahead"]))
    return _weekday(today, words["weekdays"][m["weekday"].lower()], weeks) + timedelta(weeks=rule.get("later", 0))


def _weekend(today: date, m: re.Match[str], _rule: Words, words: Words) -> date:
    """A weekend is up on its Sunday; said on a Sunday without more, the next one is meant."""
    which = by_beginning(m.groupdict().get("which"), words["weeks_ahead"])
    return _weekday(today, SUNDAY, which if which is not None else int(today.weekday() == SUNDAY))


def _week_part(today: date, _m: re.Match[str], rule: Words, _words: Words) -> date:
    """A week is up on its Sunday, begins on its Tuesday; said on a Sunday, not the one that is over is meant."""
    return _weekday(today, rule.get("day", SUNDAY), rule.get("weeks", int(today.weekday() == SUNDAY)))


def _before_weekend(today: date, _m: re.Match[str], _rule: Words, _words: Words) -> date:
    """The Friday of the week, where it is over the Sunday."""
    friday = _weekday(today, FRIDAY, 0)
    return friday if friday >= today else _weekday(today, SUNDAY, 0)


def _month_end(today: date, _m: re.Match[str], rule: Words, _words: Words) -> date:
    return _last_day(*later_month(today, rule.get("months", 0)))


def _year_end(today: date, _m: re.Match[str], _rule: Words, _words: Words) -> date:
    return _last_day(today.year, 12)


def _quarter_end(today: date, _m: re.Match[str], _rule: Words, _words: Words) -> date:
    return _last_day(today.year, (today.month + 2) // 3 * 3)


def _working_days(today: date, m: re.Match[str], _rule: Words, words: Words) -> date:
    """So many days from Monday to Friday; holidays are not known."""
    day, left = today, number_of(m["n"], words)
    while left > 0:
        day += timedelta(days=1)
        left -= day.weekday() <= FRIDAY
    return day


def _named_month(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """A month is up on its last day, its beginning on the 10th, its middle on the 15th; "by May" is its first."""
    month = by_beginning(m["month"], words["months"]) or number_of(m["month"], words)
    is_just_over = "day" not in rule and "years" not in rule and 0 < today.month - month <= JUST_OVER
    year = today.year + rule.get("years", month < today.month and not is_just_over)
    return date(year, month, rule["day"]) if "day" in rule else _last_day(year, month)


def _holiday(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """The next day of that name; ``within``: not so many days ahead ("年前" in May is no new year's)."""
    found = next_holiday(by_beginning(m["holiday"], words["holidays"]), today)
    return None if found is None or (found - today).days > rule.get("within", 400) else found


def _lunar_day(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    """A day of the first or the last month of the Chinese lunar year: "腊月二十"."""
    return next_holiday(f"lunar {words['lunar_months'][m['month']]} {number_of(m['day'], words)}", today)


def _calendar_day(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    month = by_beginning(m["month"], words["months"]) or number_of(m["month"], words)
    return _day_and_month(today, number_of(m["day"], words), month, m.groupdict().get("year"))


def _week_of(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    """The Sunday of the week that a day begins."""
    first = _calendar_day(today, m, rule, words)
    return None if first is None else first + timedelta(days=SUNDAY - first.weekday())


def _weekday_of_month(today: date, m: re.Match[str], _rule: Words, words: Words) -> date | None:
    """The next day with that number ("Saturday 26") that falls on the weekday; else the number counts something."""
    weekday, number = words["weekdays"][m["weekday"].lower()], number_of(m["day"], words)
    months = (later_month(today, months) for months in range(3))
    days = (date(year, month, number) for year, month in months if 1 <= number <= monthrange(year, month)[1])
    return next((day for day in days if day >= today and day.weekday() == weekday), None)


def _slashed(today: date, m: re.Match[str], _rule: Words, _words: Words) -> date | None:
    first, second = int(m["a"]), int(m["b"])
    day, month = (first, second) if first > 12 else (second, first)
    return _day_and_month(today, day, month, m["year"])


def _day_of_month(today: date, m: re.Match[str], rule: Words, words: Words) -> date | None:
    day = rule.get("day") or number_of(m["day"], words)
    if "months" in rule:
        return date(*later_month(today, rule["months"]), day)
    for months in range(3):
        year, month = later_month(today, months)
        if day <= monthrange(year, month)[1] and (found := date(year, month, max(1, day))) >= today:
            return found
    return None


KINDS: Mapping[str, Callable[[date, re.Match[str], Words, Words], date | None]] = {
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
    "quarter_end": _quarter_end,
    "year_end": _year_end,
    "working_days": _working_days,
    "named_month": _named_month,
    "holiday": _holiday,
    "lunar_day": _lunar_day,
    "day_and_month": _calendar_day,
    "week_of": _week_of,
    "slashed": _slashed,
    "day_of_month": _day_of_month,
    "day_of_next_month": _day_of_month,
    "month_part": _day_of_month,
}
