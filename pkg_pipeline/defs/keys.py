"""Partition keys (first day in ISO form; of a week its Sunday): ranges and batches. Does not import Dagster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Grain:
    """A width of partition. ``number`` counts partitions from the year 1, so that neighbours differ by one;
    ``keys_per_run``: how many one run takes; ``widest_gap``: how many idle keys in a row a run's range may hold;
    ``has_current``: whether today's partition exists.
    """

    noun: str
    number: Callable[[date], int]
    first_day: Callable[[int], date]
    keys_per_run: int
    widest_gap: int
    has_current: bool

    def begin(self, day: date) -> date:
        """The first day of the partition that holds ``day``."""
        return self.first_day(self.number(day))

    def last(self, today: date) -> date:
        """The newest partition on ``today``; weeks and months exist once they are over."""
        return self.first_day(self.number(today) - (0 if self.has_current else 1))


DAY = Grain("day", date.toordinal, date.fromordinal, keys_per_run=30, widest_gap=30, has_current=True)
"""A run costs about 0.35 s and a day in it 0.035 s; a failing run holds back at most a month. Dagster notes every day
of a range as planned, due or not, at about 0.012 s: thirty idle days cost as much as another run.
"""

WEEK = Grain(
    "week",
    lambda day: day.toordinal() // 7,  # ordinals of Sundays are multiples of seven
    lambda number: date.fromordinal(number * 7),
    keys_per_run=4,
    widest_gap=4,
    has_current=False,
)
"""A week asks a model about up to fifty persons, so a run holds four."""

MONTH = Grain(
    "month",
    lambda day: day.year * 12 + day.month - 1,
    lambda number: date(number // 12, number % 12 + 1, 1),
    keys_per_run=12,
    widest_gap=12,
    has_current=False,
)
"""SQL alone."""


def contiguous(keys: Iterable[str], grain: Grain = DAY) -> Iterator[tuple[date, date]]:
    """Closed ranges of neighbouring keys; ``keys`` ascend."""
    first: date | None = None
    last = date.min
    for begin in map(date.fromisoformat, keys):
        if first is None:
            first = begin
        elif grain.number(begin) != grain.number(last) + 1:
            yield first, last
            first = begin
        last = begin
    if first is not None:
        yield first, last


def batches(
    items: Sequence[Item], *, key: Callable[[Item], str], grain: Grain = DAY, size: int | None = None
) -> Iterator[list[Item]]:
    """Lists of at most ``size`` items, ascending by ``key``; a gap wider than the grain's ends a list."""
    most = grain.keys_per_run if size is None else size
    batch: list[Item] = []
    for item in items:
        if batch and (len(batch) == most or _between(key(batch[-1]), key(item), grain) > grain.widest_gap):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _between(first: str, last: str, grain: Grain) -> int:
    return grain.number(date.fromisoformat(last)) - grain.number(date.fromisoformat(first))


def keys_between(first: date, last: date, grain: Grain = DAY) -> list[str]:
    """Keys of the partitions that begin in the closed range of days."""
    start = grain.number(first)
    if grain.first_day(start) < first:
        start += 1
    return [grain.first_day(number).isoformat() for number in range(start, grain.number(last) + 1)]


def existing(keys: Iterable[date], grain: Grain, *, start: date, today: date) -> list[str]:
    """Those of ``keys`` that are partitions on ``today`` of a memory beginning on ``start``, ascending."""
    first, last = grain.begin(start), grain.last(today)
    return [key.isoformat() for key in sorted(set(keys)) if grain.begin(key) == key and first <= key <= last]
