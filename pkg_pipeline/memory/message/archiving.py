"""Which texts leave the hot table, when, and when they are gone (P24–P26)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.message.importance import IMPORTANT_FROM

MARK: Final = "[archived]"
"""What stands in ``messages.content`` where the text is in the archive, or was dropped with its month (P25)."""

KEPT_FROM: Final = IMPORTANT_FROM
"""A message with this score keeps its row's text; so does one that its summary lists as important (P16, P25)."""

LEAST_HOLD_DAYS: Final = 30.0
"""A restored interaction stays restored for the archive age again, and for so long at least."""

HeldBack = Literal["too young", "no summary", "failed", "dirty", "chat changed", "restored"]
"""Why an interaction that will be archived one day is not archived now."""

BY_TIME: Final = frozenset[str]({"too young", "restored"})
"""These end by themselves; the others end when something else is done."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An interaction whose texts can move: what its batch is cut by, and the lock it needs."""

    interaction_id: UUID
    chat_id: UUID
    message_count: int


def month_of(day: date) -> date:
    """The first day of the month: of ``interactions.day``, the local day on which it started (P26)."""
    return day.replace(day=1)


def ended_before(now: datetime, *, after_days: float) -> datetime:
    """What ended before this moment is old enough (P24)."""
    return now - timedelta(days=after_days)


def held_until(now: datetime, *, after_days: float) -> datetime:
    """Until when what is restored ``now`` is left alone."""
    return now + timedelta(days=max(after_days, LEAST_HOLD_DAYS))


def first_kept_month(now: datetime, *, keep_months: int, zone: ZoneInfo) -> date:
    """Months before this one are dropped: of the local calendar, ``keep_months`` whole ones before the current stay."""
    today = now.astimezone(zone).date()
    number = today.year * 12 + today.month - 1 - keep_months
    return date(number // 12, number % 12 + 1, 1) if number >= 12 else date.min


def batches(ready: Iterable[Ready], *, messages: int) -> Iterator[list[Ready]]:
    """Whole interactions in the order given, up to ``messages`` at a time; a longer one is a batch of its own."""
    batch: list[Ready] = []
    room = messages
    for one in ready:
        if batch and one.message_count > room:
            yield batch
            batch, room = [], messages
        batch.append(one)
        room -= one.message_count
    if batch:
        yield batch
