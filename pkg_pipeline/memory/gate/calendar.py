"""Days named in a text, resolved against the local day on which it was said, read from ``languages/*/calendar.toml``.

Each mention may mean several days; a due date follows from it if it is one of them (B18).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.calendar_rules import KINDS, Mention, Row
from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.languages import entries, folders, patterns, table

MOST_CHARS: Final = 4000
NEAR_CHARS: Final = 40
EXACT: Final = frozenset({"date", "offset", "weekday", "day", "range"})
"""Kinds that name single days."""


@cache
def _rows() -> tuple[tuple[re.Pattern[str], tuple[Row, ...]], ...]:
    made: list[tuple[re.Pattern[str], tuple[Row, ...]]] = []
    years: list[tuple[re.Pattern[str], tuple[Row, ...]]] = []
    for language in sorted(folders("calendar"), key=lambda one: one != "common"):
        data = table(language, "calendar")
        sources = patterns(language, "calendar", [row["pattern"] for row in data["rows"]])
        rows = tuple(
            Row(row["kind"], re.compile(source), row.get("value"), language)
            for row, source in zip(data["rows"], sources, strict=True)
        )
        made.append((re.compile(data["triggers"]), tuple(row for row in rows if row.kind != "year")))
        years += [(re.compile(data["triggers"]), (row,)) for row in rows if row.kind == "year"]
    return (*made, *years)


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
                    made = KINDS[row.kind](base, match.groupdict(), row, match.group().strip())
                except (ValueError, OverflowError):
                    continue
                if match.groupdict().get("by") and made.kind in EXACT:
                    made = replace(made, before=frozenset(day - timedelta(days=1) for day in made.days))
                if made.kind == "in" and counts_from_event(plain, match.start(), match.end()):
                    made = replace(made, days=frozenset(), span=None)
                taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
                found.append(made)
    return tuple(found)


@cache
def _since() -> tuple[re.Pattern[str], re.Pattern[str]]:
    behind, before = ("|".join(one[key] for _, one in entries("calendar", "since")) for key in ("behind", "before"))
    return re.compile(behind), re.compile(f"(?:{before})$")


def counts_from_event(text: str, start: int, end: int) -> bool:
    """Whether a count of days is counted from something that has no day here ("30 days after delivery")."""
    behind, before = _since()
    near = text[max(0, start - NEAR_CHARS) : start].casefold()
    return behind.match(text[end : end + NEAR_CHARS].casefold()) is not None or before.search(near) is not None


def single_days(text: str, base: date) -> frozenset[date]:
    """The days that a text names by themselves, looking forward or back."""
    return frozenset(day for one in mentions(text, base) if one.kind in EXACT for day in one.all_days)


def blanked(text: str, base: date) -> str:
    """The text in digits without the days it names: what is left counts."""
    plain = spelled(text[:MOST_CHARS])
    for mention in mentions(text, base):
        if mention.kind not in ("in", "ago", "now", "year", "anchor"):
            plain = plain.replace(mention.text, " ; ", 1)
    return plain


@dataclass(frozen=True, slots=True)
class SaidDays:
    """What messages say of days: their mentions, and the local days on which they were said."""

    mentions: tuple[Mention, ...]
    bases: frozenset[date]
    around: tuple[Mention, ...] = ()
    """What the talk around them names: it tells the month of a bare "12th"."""

    @property
    def days(self) -> frozenset[date]:
        plain = frozenset(day for one in self.mentions if one.kind != "now" for day in one.all_days)
        return plain | self.completed | self.shifted

    @property
    def shifted(self) -> frozenset[date]:
        """Days told by their distance from another one ("the day before") that is named there or around."""
        shifts = {one.shift for one in self.mentions if one.shift}
        named = {day for one in (*self.mentions, *self.around) if one.kind in EXACT for day in one.days}
        return frozenset(day + timedelta(days=shift) for day in named for shift in shifts)

    @property
    def completed(self) -> frozenset[date]:
        """Days of the month named by the messages, in a month that the talk around them names."""
        numbers = {day.day for one in self.mentions if one.kind == "day" for day in one.days}
        if not numbers:
            return frozenset()
        near = [one for one in (*self.around, *self.mentions) if one.kind in ("date", "range", "month")]
        months = {(day.year, day.month) for one in near for day in one.span or one.days}
        return frozenset(
            date(year, month, number)
            for year, month in months
            for number in numbers
            if number <= monthrange(year, month)[1]
        )

    @property
    def years(self) -> frozenset[int]:
        return frozenset(day.year for day in self.days | self.bases)


def said_days(texts: Iterable[tuple[str, date]], *, around: Iterable[Mention] = ()) -> SaidDays:
    taken = tuple(texts)
    return SaidDays(
        tuple(one for text, base in taken for one in mentions(text, base)),
        frozenset(base for _, base in taken),
        tuple(around),
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
    return any(due in one.days | one.before for one in said.mentions) or due in said.completed | said.shifted


def _is_said(mention: Mention, said: SaidDays) -> bool:
    days = said.days
    match mention.kind:
        case "now" | "ago" | "anchor":
            return True
        case "year":
            return any(day.year in said.years for day in mention.days)
        case "in":
            return any(map(str.isdigit, mention.text)) or _is_told(mention, said) or bool(mention.days & days)
        case "month":
            named = frozenset(
                d for one in said.mentions if one.kind in ("date", "range", "month") for d in one.span or one.days
            )
            months = {day.month for day in named or days or said.bases}
            return _is_told(mention, said) or any(day.month in months for day in mention.span or ())
        case "span":
            first, last = mention.span or (date.max, date.min)
            return _is_told(mention, said) or any(first <= day <= last for day in days)
        case "weekday":
            return bool({day.weekday() for day in mention.all_days} & {day.weekday() for day in days}) or not days
        case "offset":
            return bool(mention.days & days) or (not days and bool(mention.days & said.bases))
        case "range":
            pairs = {(day.month, day.day) for day in days}
            return all((day.month, day.day) in pairs for day in mention.days)
        case _:
            if mention.all_days & (days | said.bases):
                return True
            pairs = {(day.month, day.day) for day in days}
            return not mention.has_year and any((day.month, day.day) in pairs for day in mention.all_days)


def _is_told(mention: Mention, said: SaidDays) -> bool:
    return any(one.kind == mention.kind and one.span == mention.span for one in said.mentions)
