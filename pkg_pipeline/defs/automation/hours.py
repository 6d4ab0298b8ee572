"""Cron hours in ``PKG_TIMEZONE``, and whether the hour of a week or month has come. Does not import Dagster."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAILY = "0 3 * * *"
"""P12."""

FOLDS = "30 2 * * *"
"""H7, ``scheduled``: before the night's summaries."""

CHUNKS = "30 3 * * *"
"""After the night's summaries; what they finish later is taken up by the sensor."""

WEEKLY = "0 4 * * 0"
"""P20."""

MONTHLY = "0 5 1 * *"
"""P24."""

MARTS = "0 6 * * *"
"""After the night's summaries, profiles and archive."""

_WEEKLY_HOUR, _MONTHLY_HOUR = time(4), time(5)


def week_has_come(sunday: date, *, now: datetime, zone: ZoneInfo) -> bool:
    """Whether Sunday 04:00 after the week beginning on ``sunday`` has passed: the summaries of the night are made."""
    return _moment(sunday + timedelta(days=7), _WEEKLY_HOUR, zone) <= now


def last_monthly(*, now: datetime, zone: ZoneInfo) -> datetime:
    """The last first of a month, 05:00, as UTC."""
    first = now.astimezone(zone).date().replace(day=1)
    found = _moment(first, _MONTHLY_HOUR, zone)
    return found if found <= now else _moment((first - timedelta(days=1)).replace(day=1), _MONTHLY_HOUR, zone)


def _moment(day: date, hour: time, zone: ZoneInfo) -> datetime:
    """An hour skipped by the change of clocks becomes the moment of the change; of a repeated one the first counts."""
    return datetime.combine(day, hour, tzinfo=zone).astimezone(UTC)
