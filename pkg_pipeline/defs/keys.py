"""Partition keys of days: neighbouring keys as ranges, batches, all keys between two days. Without Dagster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import TypeVar

Item = TypeVar("Item")

DAYS_PER_RUN = 30
"""A run costs about 0.35 s whatever it holds, a day in it 0.035 s: thirty days make the run's share small, and a
killed or failing run holds back at most a month."""

WIDEST_GAP_DAYS = 30
"""Dagster notes every day of a run's range as planned, due or not, at about 0.012 s each: thirty idle days cost as much
as another run. Messages years apart must not be one range."""


def contiguous(keys: Iterable[str]) -> Iterator[tuple[date, date]]:
    """Closed ranges of neighbouring days, in ascending order; ``keys`` ascend."""
    first: date | None = None
    last = date.min
    for day in map(date.fromisoformat, keys):
        if first is None:
            first = day
        elif day != last + timedelta(days=1):
            yield first, last
            first = day
        last = day
    if first is not None:
        yield first, last


def batches(items: Sequence[Item], *, key: Callable[[Item], str], size: int = DAYS_PER_RUN) -> Iterator[list[Item]]:
    """Consecutive items, ascending by ``key``, in lists of at most ``size``; a wide gap between two days parts them."""
    batch: list[Item] = []
    for item in items:
        if batch and (len(batch) == size or _days_between(key(batch[-1]), key(item)) > WIDEST_GAP_DAYS):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _days_between(first: str, last: str) -> int:
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def keys_between(first: date, last: date) -> list[str]:
    """All keys of the closed range."""
    return [(first + timedelta(days=offset)).isoformat() for offset in range((last - first).days + 1)]
