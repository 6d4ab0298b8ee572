"""Which texts are archived, when, and when they are dropped (P24–P26)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.message.importance import IMPORTANT_FROM

MARK: Final = "[archived]"
"""``messages.content`` where the text is in the archive or was dropped with its month (P25)."""

KEPT_FROM: Final = IMPORTANT_FROM
"""Messages with this score keep their text, as do those a summary lists as important (P16, P25)."""

LEAST_HOLD_DAYS: Final = 30.0
"""Least days that a restored interaction stays restored."""

HeldBack = Literal["too young", "no summary", "failed", "dirty", "chat changed", "restored"]
"""Why an interaction is not archived yet."""

BY_TIME: Final = frozenset[str]({"too young", "restored"})
"""These end by time alone."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An interaction to archive: its batch size and lock."""

    interaction_id: UUID
    chat_id: UUID
    message_count: int


def month_of(day: date) -> date:
    """The first day of the month of ``interactions.day`` (P26)."""
    return day.replace(day=1)


def ended_before(now: datetime, *, after_days: float) -> datetime:
    """Interactions that ended before this moment are old enough (P24)."""
    return now - timedelta(days=after_days)


def held_until(now: datetime, *, after_days: float) -> datetime:
    """Until when an interaction restored ``now`` is not archived."""
    return now + timedelta(days=max(after_days, LEAST_HOLD_DAYS))


def first_kept_month(now: datetime, *, keep_months: int, zone: ZoneInfo) -> date:
    """The earliest month kept: ``keep_months`` whole local months before the current one."""
    today = now.astimezone(zone).date()
    number = today.year * 12 + today.month - 1 - keep_months
    return date(number // 12, number % 12 + 1, 1) if number >= 12 else date.min


def batches(ready: Iterable[Ready], *, messages: int) -> Iterator[list[Ready]]:
    """Whole interactions in order, at most ``messages`` a batch; a longer one is a batch of its own."""
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
