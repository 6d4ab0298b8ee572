"""Local days of a time expression ("last Friday", "5 May", "two weeks ago") relative to a moment."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.periods.words import FEW, number_of, unit_of, value_of, values

AGO_TOLERANCE: Final = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=3),
    "month": timedelta(days=14),
    "quarter": timedelta(days=30),
    "year": timedelta(days=91),
}
"""Tolerance of "n units ago" on either side."""
_FEW_LEAST, _FEW_MOST = 2, 6
_DAY: Final = timedelta(days=1)
Said = dict[str, str | None]
"""The named groups of a row's match."""


@dataclass(frozen=True, slots=True)
class Span:
    """Local days [first, end), or moments. ``free``: no year was given. ``closed``: already a range."""

    first: date
    end: date
    free: bool = False
    closed: bool = False
    twin: bool = False


@dataclass(frozen=True, slots=True)
class Now:
    at: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return self.at.astimezone(self.zone).date()

    def moment(self, day: date) -> datetime:
        """The UTC moment at which a local day begins; moments are returned unchanged."""
        if isinstance(day, datetime):
            return day
        return datetime.combine(day, time(0), tzinfo=self.zone).astimezone(UTC)


def part_of(span: Span, words: str | None) -> Span:
    """The first, middle or last third of a span of at least a month."""
    days = (span.end - span.first).days
    if not words or days < 7:
        return span
    third, words = max(1, days // 3), words.lower()
    if re.match(r"mid|(?:the )?(?:very )?middle|серед|中", words):
        return replace(span, first=span.first + third * _DAY, end=span.end - third * _DAY, free=False)
    if re.search(r"late|end|кон|底|末|下旬", words):
        return replace(span, first=span.end - third * _DAY, free=False)
    return replace(span, end=span.first + third * _DAY, free=False)


def between(a: Span, b: Span) -> Span | None:
    """From the first to the second; a year given once applies to both. None where the second ends first."""
    if isinstance(a.first, datetime) or isinstance(b.first, datetime):
        return None  # a moment cannot end a range of days
    first: Span | None = a
    second: Span | None = b
    if a.free and not b.free:
        first = in_year(a, b.first.year)
        if first is None or first.first > b.first:
            first = in_year(a, b.first.year - 1)
    elif b.free:
        second = in_year(b, a.first.year)
        if second is None or second.end <= a.first:
            second = in_year(b, a.first.year + 1)
    if first is None or second is None:
        return None
    return Span(first.first, second.end, closed=True) if first.first < second.end else None


def in_year(span: Span, year: int) -> Span | None:
    """A span without a year, moved to one; None for 29 February of a common year."""
    try:
        first = span.first.replace(year=year)
        if span.end - span.first == _DAY:
            return replace(span, first=first, end=first + _DAY)
        return replace(span, first=first, end=span.end.replace(year=span.end.year + year - span.first.year))
    except ValueError:
        return None


def _months_on(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _unit(today: date, unit: str, offset: int) -> Span:
    if unit == "day":
        return Span(today + offset * _DAY, today + (offset + 1) * _DAY)
    if unit in ("week", "fortnight"):
        first = today + (7 * offset - today.weekday()) * _DAY
        return Span(first, first + 7 * _DAY)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = date(today.year, (today.month - 1) // months * months + 1, 1)
    return Span(_months_on(first, months * offset), _months_on(first, months * (offset + 1)))


def _back(now: Now, unit: str, count: int) -> date:
    if unit == "hour":
        return now.at - timedelta(hours=count)
    if unit in ("day", "week", "fortnight"):
        return now.today - count * {"day": 1, "week": 7, "fortnight": 14}[unit] * _DAY
    return _months_on(now.today, -count * {"month": 1, "quarter": 3, "year": 12}[unit])


def _latest(now: Now, build: Callable[[int], Span]) -> Span:
    """The latest that has begun, of something yearly (29 February: every four or eight years)."""
    for year in range(now.today.year, now.today.year - 9, -1):
        try:
            span = build(year)
        except ValueError:
            continue
        if span.first <= now.today:
            return replace(span, free=True)
    raise ValueError("no such day")


def _yearly(now: Now, said: Said, build: Callable[[int], Span], *, twin: bool = False) -> Span:
    """In the year given, in "last year", or the latest."""
    if year := said.get("year"):
        return replace(build(int(year) + (2000 if len(year) == 2 else 0)), twin=twin)
    if which := said.get("ywhich"):
        return replace(build(now.today.year + value_of("which", which)), twin=twin)
    return _latest(now, build)


def _nth(now: Now, which: int, build: Callable[[int], Span]) -> Span:
    """Last: the latest that is over. This: this year's. Next: the first that has not begun."""
    year = now.today.year
    if which == 0:
        return build(year)
    if which > 0:
        return next(span for y in (year, year + 1) if (span := build(y)).first > now.today)
    over = [span for y in range(year, year - 3, -1) if (span := build(y)).end <= now.today]
    return over[-1 - which]


def _date(_: Now, said: Said) -> Span:
    year = said["year"] or ""
    month = said.get("mon") or said.get("mon2") or said.get("mon3") or ""
    day = said.get("day") or said.get("day2") or said.get("day3")
    first = date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day or 1))
    return Span(first, first + _DAY if day else _months_on(first, 1))


def _slashed(now: Now, said: Said) -> Span:
    a, b = number_of(said["a"]), number_of(said["b"])
    day, month = (a, b) if a > 12 else (b, a)
    return _date(now, {"year": said["year"], "mon": str(month), "day": str(day)})


def _month_of(said: Said) -> int:
    word = said["month"] or ""
    stem = word[:3].lower()
    return values("months").get(stem) or number_of(word)


def _month(now: Now, said: Said) -> Span:
    month = _month_of(said)

    def build(year: int) -> Span:
        return Span(date(year, month, 1), _months_on(date(year, month, 1), 1))

    if which := said.get("which"):
        return _nth(now, value_of("which", which), build)
    return _yearly(now, said, build)


def _day_month(now: Now, said: Said) -> Span:
    month, day = _month_of(said), number_of(said["day"])
    return _yearly(now, said, lambda year: Span(date(year, month, day), date(year, month, day) + _DAY))


def _day_range(now: Now, said: Said) -> Span:
    month, day, last = _month_of(said), number_of(said["day"]), number_of(said["day2"])
    span = _yearly(now, said, lambda year: Span(date(year, month, day), date(year, month, last) + _DAY))
    if span.first >= span.end:
        raise ValueError("a range that goes back")
    return replace(span, free=False, closed=True)


def _season(now: Now, said: Said) -> Span:
    month = value_of("seasons", (said["season"] or "")[:3])

    def build(year: int) -> Span:
        return Span(date(year, month, 1), _months_on(date(year, month, 1), 3))

    if winter := said.get("winter"):
        return build(int(winter))
    if which := said.get("which"):
        return _nth(now, value_of("which", which), build)
    span = _yearly(now, said, build)
    return replace(span, twin=month == 12 and not span.free)


def _year(_: Now, said: Said) -> Span:
    year = number_of(said["year"])
    return Span(date(year, 1, 1), date(year + 1, 1, 1))


def _quarter(now: Now, said: Said) -> Span:
    month = 3 * number_of(said["n"]) - 2
    return _yearly(now, said, lambda year: Span(date(year, month, 1), _months_on(date(year, month, 1), 3)))


def _unit_which(now: Now, said: Said) -> Span:
    which = said.get("which")
    return _unit(now.today, unit_of(said["unit"] or ""), value_of("which", which) if which else 0)


def _before_last(now: Now, said: Said) -> Span:
    return _unit(now.today, unit_of(said["unit"] or ""), -2)


def _count(said: Said) -> tuple[str, int, int]:
    if said.get("half"):
        return "month", 6, 6
    unit, count = unit_of(said["unit"] or ""), number_of(said.get("n"))
    if unit == "fortnight":
        return "week", 2 * count, 2 * count
    return (unit, _FEW_LEAST, _FEW_MOST) if count == FEW else (unit, count, count)


def _ago(now: Now, said: Said) -> Span:
    unit, least, most = _count(said)
    tolerance, first, end = AGO_TOLERANCE[unit], _back(now, unit, most), _back(now, unit, least)
    if isinstance(end, datetime):
        return Span(first - tolerance, min(end + tolerance, now.at))
    return Span(first - tolerance, min(end + tolerance + _DAY, now.today + _DAY))


def _rolling(now: Now, said: Said) -> Span:
    unit, _, most = _count(said)
    return Span(now.moment(_back(now, unit, most)), now.at)


def _weekday(now: Now, said: Said) -> Span:
    """A bare or "last" weekday is the latest one, "last" not today; "this" and "next" refer to the calendar week."""
    number = value_of("weekdays", said["weekday"] or "")
    if week := said.get("week"):
        first = _unit(now.today, "week", value_of("which", week)).first + number * _DAY
        return Span(first, first + _DAY)
    which = said.get("which")
    offset = value_of("which", which) if which else -1
    if offset >= 0:
        first = _unit(now.today, "week", offset).first + number * _DAY
    else:
        back = (now.today.weekday() - number) % 7 or (7 if which else 0)
        first = now.today - (back + 7 * (-1 - offset)) * _DAY
    return Span(first, first + _DAY)


def _weekend(now: Now, said: Said) -> Span:
    which = said.get("which")
    first = _unit(now.today, "week", 0).first + 5 * _DAY
    if which:
        first += 7 * value_of("which", which) * _DAY
    elif first > now.today:
        first -= 7 * _DAY
    return Span(first, first + 2 * _DAY)


def _day_word(now: Now, said: Said) -> Span:
    word = " ".join((said.get("word") or said.get("word2") or "").lower().split())
    return _unit(now.today, "day", values("day_words")[word])


def _last_night(now: Now, _: Said) -> Span:
    """From 18:00 to 06:00."""
    evening = datetime.combine(now.today - _DAY, time(18), tzinfo=now.zone)
    morning = datetime.combine(now.today, time(6), tzinfo=now.zone)
    return Span(evening.astimezone(UTC), morning.astimezone(UTC))


def _day_only(now: Now, said: Said) -> Span:
    day = number_of(said["day"])
    for months in range(3):
        month = _months_on(now.today.replace(day=1), -months)
        if day <= monthrange(month.year, month.month)[1] and (first := month.replace(day=day)) <= now.today:
            return Span(first, first + _DAY)
    raise ValueError("no such day")


_RULES: Final[dict[str, Callable[[Now, Said], Span]]] = {
    "date": _date,
    "slashed": _slashed,
    "month": _month,
    "month_which": _month,
    "day_month": _day_month,
    "day_range": _day_range,
    "season": _season,
    "season_which": _season,
    "year": _year,
    "quarter": _quarter,
    "unit_which": _unit_which,
    "before_last": _before_last,
    "ago": _ago,
    "rolling": _rolling,
    "weekday": _weekday,
    "weekend": _weekend,
    "day_word": _day_word,
    "last_night": _last_night,
    "day_only": _day_only,
}


def read_days(kind: str, now: Now, said: Said) -> Span:
    """The days that a row's groups mean. ``ValueError``, ``OverflowError``: no such day."""
    return _RULES[kind](now, said)
