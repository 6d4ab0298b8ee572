"""How the words of a day are read: each reader takes the day of speaking, a match's groups, its row and the words."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any, Final

from pkg_pipeline.memory.languages import table

_DAY: Final = timedelta(days=1)
_FORGIVEN: Final = timedelta(days=60)
"""A day and month without a year may lie this far back, else the next year is meant."""
_LANGUAGE_OF_NEXT: Final = "en"
"""Where "next Friday" may be the coming one."""

Groups = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Mention:
    """Days that a piece of text may mean. ``past``: those it means if it looks back. ``span``: first and last day."""

    kind: str
    text: str
    days: frozenset[date]
    past: frozenset[date] = frozenset()
    span: tuple[date, date] | None = None
    has_year: bool = False
    before: frozenset[date] = frozenset()
    """Days that may be meant by "before" another."""
    shift: int = 0
    """So many days from another day that is named ("the day before")."""

    @property
    def all_days(self) -> frozenset[date]:
        return self.days | self.past


@dataclass(frozen=True, slots=True)
class Row:
    kind: str
    pattern: re.Pattern[str]
    value: Any
    language: str


@cache
def _by_beginning(language: str, name: str) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(table(language, "calendar")[name].items(), key=lambda pair: -len(pair[0])))


def _value(row: Row, name: str, word: str | None) -> Any:
    return next((value for start, value in _by_beginning(row.language, name) if (word or "").startswith(start)), None)


def _count(said: Groups) -> list[float]:
    numbers = [said.get("n"), said.get("n2")]
    return [float(number) for number in numbers if number] or [1.0]


def _year(said: Groups) -> int | None:
    year = said.get("y")
    return None if not year else int(year) + (2000 if len(year) == 2 else 0)


def _nearest(base: date, month: int, day: int) -> date:
    for year in (base.year - 1, base.year, base.year + 1, base.year + 2, base.year + 3, base.year + 4):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= base - _FORGIVEN:
            return found
    raise ValueError("no such day")


def _date(base: date, said: Groups, row: Row, text: str) -> Mention:
    month = said["m"] or ""
    number = int(month) if month.isdigit() else _value(row, "months", month)
    year, day = _year(said), int(said["d"] or 0)
    if year is None and said.get("ywhich"):
        year = base.year + int(_value(row, "which", said["ywhich"]))
    found = _nearest(base, number, day) if year is None else date(year, number, day)
    return Mention("date", text, frozenset({found}), has_year=year is not None)


def _range(base: date, said: Groups, row: Row, text: str) -> Mention:
    month = said["m"] or ""
    number = int(month) if month.isdigit() else _value(row, "months", month)
    days = frozenset(_nearest(base, number, int(day)) for day in (said["d"] or "", said["d2"] or ""))
    return Mention("range", text, days, span=(min(days), max(days)))


def _slashed(base: date, said: Groups, _row: Row, text: str) -> Mention:
    a, b = int(said["a"] or 0), int(said["b"] or 0)
    year = _year(said)
    days: set[date] = set()
    for day, month in ((a, b), (b, a)):
        if 1 <= month <= 12 and 1 <= day <= 31:
            try:
                days.add(_nearest(base, month, day) if year is None else date(year, month, day))
            except ValueError:
                continue
    if not days:
        raise ValueError("no such day")
    return Mention("date", text, frozenset(days), has_year=year is not None)


def _offset(base: date, _said: Groups, row: Row, text: str) -> Mention:
    if row.value == "year end":
        return Mention("date", text, frozenset({date(base.year, 12, 31), date(base.year + 1, 1, 1)}))
    return Mention("offset", text, frozenset({base + row.value * _DAY}))


def _fixed(base: date, _said: Groups, row: Row, text: str) -> Mention:
    """A feast of the same day each year."""
    month, day = map(int, row.value.split("-"))
    return Mention("date", text, frozenset({_nearest(base, month, day)}))


def _anchor(_base: date, _said: Groups, row: Row, text: str) -> Mention:
    """Days before or after another one that is named elsewhere: ``shift``."""
    return Mention("anchor", text, frozenset(), shift=row.value)


def _weekday(base: date, said: Groups, row: Row, text: str) -> Mention:
    number = _value(row, "weekdays", said["w"])
    monday = base - base.weekday() * _DAY
    coming = base + ((number - base.weekday() - 1) % 7 + 1) * _DAY
    last = base - ((base.weekday() - number - 1) % 7 + 1) * _DAY
    word = said.get("week") or said.get("which")
    weeks = _value(row, "which", word) if word else None
    if weeks is None:
        days = {coming, base} if number == base.weekday() else {coming}
        return Mention("weekday", text, frozenset(days), frozenset({last}))
    day = monday + (7 * weeks + number) * _DAY
    if weeks < 0:
        return Mention("weekday", text, frozenset(), frozenset({day, last}))
    days = {day if weeks or day >= base else coming}
    if row.language == _LANGUAGE_OF_NEXT and weeks == 1 and not said.get("week"):
        days.add(coming)
    return Mention("weekday", text, frozenset(days))


def _weekday_on(base: date, said: Groups, row: Row, text: str) -> Mention:
    """So many weeks after the coming weekday, or the weekday of the week so many weeks on."""
    weeks = int(said.get("n") or row.value or 1)
    number = _value(row, "weekdays", said.get("w") or said.get("w2"))
    coming = base + ((number - base.weekday() - 1) % 7 + 1) * _DAY
    monday = base - base.weekday() * _DAY
    return Mention("weekday", text, frozenset({coming + 7 * weeks * _DAY, monday + (7 * weeks + number) * _DAY}))


def _of_month(base: date, said: Groups, row: Row, text: str) -> Mention:
    month = _later_month(base.replace(day=1), _value(row, "which", said["which"]) or 0)
    return Mention("date", text, frozenset({month.replace(day=int(said["d"] or 0))}))


def _later_month(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _moved(base: date, unit: str, count: float) -> set[date]:
    if unit in ("day", "week", "fortnight"):
        days = round(count * {"day": 1, "week": 7, "fortnight": 14}[unit])
        working = base
        left = abs(days) if unit == "day" and abs(days) <= 60 else 0
        while left:
            working += _DAY if days > 0 else -_DAY
            left -= working.weekday() < 5
        return {base + days * _DAY, working} if working != base else {base + days * _DAY}
    months = round(count * {"month": 1, "quarter": 3, "year": 12}[unit])
    return {_later_month(base, months)}


def _in(base: date, said: Groups, row: Row, text: str) -> Mention:
    unit = _value(row, "units", said["u"])
    days = {day for count in _count(said) for day in _moved(base, unit, count)}
    return Mention("in", text, frozenset(days), span=(base, max(days)))


def _ago(base: date, said: Groups, row: Row, text: str) -> Mention:
    unit = _value(row, "units", said["u"])
    days = {day for count in _count(said) for day in _moved(base, unit, -count)}
    return Mention("ago", text, frozenset(), frozenset(days))


def _bounds(base: date, unit: str, offset: int) -> tuple[date, date]:
    if unit == "day":
        return base, base
    if unit in ("week", "fortnight"):
        first = base + (7 * offset - base.weekday()) * _DAY
        return first, first + 6 * _DAY
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = _later_month(date(base.year, (base.month - 1) // months * months + 1, 1), months * offset)
    return first, _later_month(first, months) - _DAY


def _edges(first: date, last: date, part: str | None) -> set[date]:
    """The days that a span names: its ends, the last working day."""
    friday = last - max(0, last.weekday() - 4) * _DAY
    length = (last - first).days
    begin = {first, first + (1 if length < 7 else 4) * _DAY, first + (1 if length < 7 else 9) * _DAY}
    middle = {first + (length // 2 + shift) * _DAY for shift in (-1, 0, 1)}
    end = {friday, last, last - _DAY} if length < 7 else {friday, last}
    return {"begin": begin, "middle": middle, "end": end}.get(part or "", {first} | end)


def _span(base: date, said: Groups, row: Row, text: str) -> Mention:
    unit = _value(row, "units", said["u"] or said.get("u2"))
    offset = _value(row, "which", said.get("which")) if said.get("which") else 0
    first, last = _bounds(base, unit, offset or 0)
    part = said.get("part") or said.get("part2")
    days = _edges(first, last, _value(row, "parts", part) if part else None)
    if said.get("by") and not part:
        days |= {first - _DAY, first - 3 * _DAY}
    return Mention("span", text, frozenset(days), span=(first, last))


def _weekend(base: date, said: Groups, row: Row, text: str) -> Mention:
    offset = _value(row, "which", said.get("which")) if said.get("which") else 0
    saturday = _bounds(base, "week", offset or 0)[0] + 5 * _DAY
    days = {saturday, saturday + _DAY}
    if said.get("by"):
        days.add(saturday - _DAY)
    return Mention("span", text, frozenset(days), span=(saturday, saturday + _DAY))


def _month(base: date, said: Groups, row: Row, text: str) -> Mention:
    month = said["m"] or ""
    number = int(month) if month.isdigit() else _value(row, "months", month)
    year = _year(said)
    first = date(year, number, 1) if year else _nearest(base - 31 * _DAY, number, 1)
    last = _later_month(first, 1) - _DAY
    days = _edges(first, last, _value(row, "parts", said["part"]) if said.get("part") else None)
    if said.get("by") and not said.get("part"):
        days |= {first - _DAY}
    return Mention("month", text, frozenset(days), span=(first, last))


def _day_of_month(base: date, said: Groups, _row: Row, text: str) -> Mention:
    day = int(said["d"] or 0)
    for months in range(3):
        month = _later_month(base.replace(day=1), months)
        if day <= monthrange(month.year, month.month)[1] and (found := month.replace(day=day)) >= base:
            before = _later_month(month, -1)
            past = {before.replace(day=day)} if day <= monthrange(before.year, before.month)[1] else set[date]()
            return Mention("day", text, frozenset({found}), frozenset(past))
    raise ValueError("no such day")


def _whole_year(_base: date, said: Groups, _row: Row, text: str) -> Mention:
    year = int(said["y"] or 0)
    return Mention("year", text, frozenset({date(year, 12, 31)}), span=(date(year, 1, 1), date(year, 12, 31)))


def _now(base: date, _said: Groups, _row: Row, text: str) -> Mention:
    return Mention("now", text, frozenset({base, base + _DAY}))


KINDS: Final[dict[str, Callable[[date, Groups, Row, str], Mention]]] = {
    "date": _date,
    "range": _range,
    "slashed": _slashed,
    "offset": _offset,
    "fixed": _fixed,
    "anchor": _anchor,
    "weekday": _weekday,
    "weekday_on": _weekday_on,
    "of_month": _of_month,
    "in": _in,
    "ago": _ago,
    "span": _span,
    "weekend": _weekend,
    "month": _month,
    "day": _day_of_month,
    "year": _whole_year,
    "now": _now,
}
