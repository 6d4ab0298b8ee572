"""Days named in a text, resolved against the local day on which it was said, read from ``languages/*/calendar.toml``.

Each mention may mean several days; a due date follows from it if it is one of them (B18).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any, Final

from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.languages import folders, patterns, table

MOST_CHARS: Final = 4000
_DAY: Final = timedelta(days=1)
_FORGIVEN: Final = timedelta(days=60)
"""A day and month without a year may lie this far back, else the next year is meant."""
_LANGUAGE_OF_NEXT: Final = "en"
"""Where "next Friday" may be the coming one."""

Words = Mapping[str, Any]
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

    @property
    def all_days(self) -> frozenset[date]:
        return self.days | self.past


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    pattern: re.Pattern[str]
    value: Any
    language: str


@cache
def _rows() -> tuple[tuple[re.Pattern[str], tuple[_Row, ...]], ...]:
    made: list[tuple[re.Pattern[str], tuple[_Row, ...]]] = []
    for language in sorted(folders("calendar"), key=lambda one: one != "common"):
        data = table(language, "calendar")
        sources = patterns(language, "calendar", [row["pattern"] for row in data["rows"]])
        rows = tuple(
            _Row(row["kind"], re.compile(source), row.get("value"), language)
            for row, source in zip(data["rows"], sources, strict=True)
        )
        made.append((re.compile(data["triggers"]), rows))
    return tuple(made)


@cache
def _by_beginning(language: str, name: str) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(table(language, "calendar")[name].items(), key=lambda pair: -len(pair[0])))


def _value(row: _Row, name: str, word: str | None) -> Any:
    return next((value for start, value in _by_beginning(row.language, name) if (word or "").startswith(start)), None)


@lru_cache(maxsize=16_384)
def mentions(text: str, base: date) -> tuple[Mention, ...]:
    """Every day named in ``text``, said on ``base``; in the order of the rules, without overlaps."""
    plain = spelled(text[:MOST_CHARS])
    taken = bytearray(len(plain))
    found: list[Mention] = []
    for triggers, rows in _rows():
        if not triggers.search(plain):
            continue
        for row in rows:
            for match in row.pattern.finditer(plain):
                if match.end() == match.start() or any(taken[match.start() : match.end()]):
                    continue
                try:
                    made = _KINDS[row.kind](base, match.groupdict(), row, match.group().strip())
                except (ValueError, OverflowError):
                    continue
                taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
                found.append(made)
    return tuple(found)


def blanked(text: str, base: date) -> str:
    """The text in digits without the days it names: what is left counts."""
    plain = spelled(text[:MOST_CHARS])
    for mention in mentions(text, base):
        if mention.kind not in ("in", "ago", "now", "year"):
            plain = plain.replace(mention.text, " ; ", 1)
    return plain


# Readers of rows: each takes the day of speaking, the match's groups, the row and the words.


def _count(said: Groups) -> list[float]:
    numbers = [said.get("n"), said.get("n2")]
    return [float(number) for number in numbers if number] or [1.0]


def _year(said: Groups) -> int | None:
    year = said.get("y")
    return None if not year else int(year) + (2000 if len(year) == 2 else 0)


def _with_before(days: Iterable[date], said: Groups) -> frozenset[date]:
    taken = set(days)
    return frozenset(taken | {day - _DAY for day in taken} if said.get("by") else taken)


def _nearest(base: date, month: int, day: int) -> date:
    for year in (base.year - 1, base.year, base.year + 1, base.year + 2, base.year + 3, base.year + 4):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= base - _FORGIVEN:
            return found
    raise ValueError("no such day")


def _date(base: date, said: Groups, row: _Row, text: str) -> Mention:
    month = said["m"] or ""
    number = int(month) if month.isdigit() else _value(row, "months", month)
    year, day = _year(said), int(said["d"] or 0)
    if year is None and said.get("ywhich"):
        year = base.year + int(_value(row, "which", said["ywhich"]))
    found = _nearest(base, number, day) if year is None else date(year, number, day)
    return Mention("date", text, _with_before({found}, said), has_year=year is not None)


def _slashed(base: date, said: Groups, row: _Row, text: str) -> Mention:
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


def _offset(base: date, said: Groups, row: _Row, text: str) -> Mention:
    if row.value == "year end":
        return Mention("date", text, frozenset({date(base.year, 12, 31), date(base.year + 1, 1, 1)}))
    return Mention("offset", text, _with_before({base + row.value * _DAY}, said))


def _weekday(base: date, said: Groups, row: _Row, text: str) -> Mention:
    number = _value(row, "weekdays", said["w"])
    monday = base - base.weekday() * _DAY
    coming = base + ((number - base.weekday() - 1) % 7 + 1) * _DAY
    last = base - ((base.weekday() - number - 1) % 7 + 1) * _DAY
    word = said.get("week") or said.get("which")
    weeks = _value(row, "which", word) if word else None
    if weeks is None:
        days = {coming} | ({base} if number == base.weekday() else set())
        return Mention("weekday", text, _with_before(days, said), frozenset({last}))
    day = monday + (7 * weeks + number) * _DAY
    if weeks < 0:
        return Mention("weekday", text, frozenset(), frozenset({day, last}))
    days = {day if weeks or day >= base else coming}
    if row.language == _LANGUAGE_OF_NEXT and weeks == 1 and not said.get("week"):
        days.add(coming)
    return Mention("weekday", text, _with_before(days, said))


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
        return {base + days * _DAY} | ({working} if working != base else set())
    months = round(count * {"month": 1, "quarter": 3, "year": 12}[unit])
    return {_later_month(base, months)}


def _in(base: date, said: Groups, row: _Row, text: str) -> Mention:
    unit = _value(row, "units", said["u"])
    days = {day for count in _count(said) for day in _moved(base, unit, count)}
    return Mention("in", text, frozenset(days), span=(base, max(days)))


def _ago(base: date, said: Groups, row: _Row, text: str) -> Mention:
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
    end = {friday, last} | ({last - _DAY} if length < 7 else set())
    return {"begin": begin, "middle": middle, "end": end}.get(part or "", {first} | end)


def _span(base: date, said: Groups, row: _Row, text: str) -> Mention:
    unit = _value(row, "units", said["u"])
    offset = _value(row, "which", said.get("which")) if said.get("which") else 0
    first, last = _bounds(base, unit, offset or 0)
    days = _edges(first, last, _value(row, "parts", said["part"]) if said.get("part") else None)
    if said.get("by") and not said.get("part"):
        days |= {first - _DAY, first - 3 * _DAY}
    return Mention("span", text, frozenset(days), span=(first, last))


def _weekend(base: date, said: Groups, row: _Row, text: str) -> Mention:
    offset = _value(row, "which", said.get("which")) if said.get("which") else 0
    saturday = _bounds(base, "week", offset or 0)[0] + 5 * _DAY
    days = {saturday, saturday + _DAY} | ({saturday - _DAY} if said.get("by") else set())
    return Mention("span", text, frozenset(days), span=(saturday, saturday + _DAY))


def _month(base: date, said: Groups, row: _Row, text: str) -> Mention:
    month = said["m"] or ""
    number = int(month) if month.isdigit() else _value(row, "months", month)
    year = _year(said)
    first = date(year, number, 1) if year else _nearest(base - 31 * _DAY, number, 1)
    last = _later_month(first, 1) - _DAY
    days = _edges(first, last, _value(row, "parts", said["part"]) if said.get("part") else None)
    if said.get("by") and not said.get("part"):
        days |= {first - _DAY}
    return Mention("month", text, frozenset(days), span=(first, last))


def _day_of_month(base: date, said: Groups, row: _Row, text: str) -> Mention:
    day = int(said["d"] or 0)
    for months in range(3):
        month = _later_month(base.replace(day=1), months)
        if day <= monthrange(month.year, month.month)[1] and (found := month.replace(day=day)) >= base:
            before = _later_month(month, -1)
            past = {before.replace(day=day)} if day <= monthrange(before.year, before.month)[1] else set[date]()
            return Mention("day", text, _with_before({found}, said), frozenset(past))
    raise ValueError("no such day")


def _whole_year(base: date, said: Groups, row: _Row, text: str) -> Mention:
    year = int(said["y"] or 0)
    return Mention("year", text, frozenset({date(year, 12, 31)}), span=(date(year, 1, 1), date(year, 12, 31)))


def _now(base: date, said: Groups, row: _Row, text: str) -> Mention:
    return Mention("now", text, frozenset({base, base + _DAY}))


_KINDS: Final[dict[str, Callable[[date, Groups, _Row, str], Mention]]] = {
    "date": _date,
    "slashed": _slashed,
    "offset": _offset,
    "weekday": _weekday,
    "in": _in,
    "ago": _ago,
    "span": _span,
    "weekend": _weekend,
    "month": _month,
    "day": _day_of_month,
    "year": _whole_year,
    "now": _now,
}


@dataclass(frozen=True, slots=True)
class SaidDays:
    """What messages say of days: their mentions, and the local days on which they were said."""

    mentions: tuple[Mention, ...]
    bases: frozenset[date]

    @property
    def days(self) -> frozenset[date]:
        return frozenset(day for one in self.mentions for day in one.all_days)

    @property
    def years(self) -> frozenset[int]:
        return frozenset(day.year for day in self.days | self.bases)


def said_days(texts: Iterable[tuple[str, date]]) -> SaidDays:
    taken = tuple(texts)
    return SaidDays(
        tuple(one for text, base in taken for one in mentions(text, base)), frozenset(base for _, base in taken)
    )


def unsaid_day(text: str, said: SaidDays) -> str | None:
    """The first words of ``text`` that name a day which ``said`` does not, or None."""
    readings = [mentions(text, base) for base in sorted(said.bases)]
    for index, first in enumerate(readings[0] if readings else ()):
        same = [one[index] for one in readings if len(one) > index]
        if not any(_is_said(one, said) for one in same):
            return first.text
    return None


def follows_due(due: date, said: SaidDays) -> bool:
    """Whether a due date is one of the days that the messages name."""
    return any(due in one.days for one in said.mentions)


def _is_said(mention: Mention, said: SaidDays) -> bool:
    days = said.days
    match mention.kind:
        case "now" | "ago":
            return True
        case "year":
            return any(day.year in said.years for day in mention.days)
        case "in":
            return any(map(str.isdigit, mention.text)) or _is_told(mention, said) or bool(mention.days & days)
        case "month":
            months = {(day.month) for day in days | said.bases}
            return _is_told(mention, said) or any(day.month in months for day in mention.span or ())
        case "span":
            first, last = mention.span or (date.max, date.min)
            return _is_told(mention, said) or any(first <= day <= last for day in days)
        case "weekday":
            return bool({day.weekday() for day in mention.all_days} & {day.weekday() for day in days}) or not days
        case "offset":
            return bool(mention.days & days) or (not days and bool(mention.days & said.bases))
        case _:
            if mention.all_days & (days | said.bases):
                return True
            pairs = {(day.month, day.day) for day in days}
            return not mention.has_year and any((day.month, day.day) in pairs for day in mention.all_days)


def _is_told(mention: Mention, said: SaidDays) -> bool:
    return any(one.kind == mention.kind and one.span == mention.span for one in said.mentions)
