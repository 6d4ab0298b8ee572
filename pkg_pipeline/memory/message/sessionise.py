"""Splits messages into interactions at silences longer than the gap (P11); one of exactly the gap does not split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar

T = TypeVar("T")


def is_completed(ended_at: datetime, now: datetime, gap: timedelta) -> bool:
    """Whether the silence since the last message is longer than the gap."""
    return now - ended_at > gap


def stretches(messages: Iterable[T], *, sent_at: Callable[[T], datetime], gap: timedelta) -> Iterator[Iterator[T]]:
    """The messages of one interaction after the other, in order of time. ``ValueError``: times go back.

    Lazy like ``itertools.groupby``: a stretch is gone once the next was asked for.
    """
    number = 0
    last: datetime | None = None

    def number_of(message: T) -> int:
        nonlocal number, last
        at = sent_at(message)
        if last is not None:
            if at < last:
                raise ValueError("messages must come in the order of time")
            number += is_completed(last, at, gap)
        last = at
        return number

    for _, stretch in groupby(messages, number_of):
        yield stretch
