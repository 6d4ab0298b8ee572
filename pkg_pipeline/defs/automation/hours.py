"""The hours at which things run, in ``PKG_TIMEZONE``, and whether a week's or a month's hour has come. Without Dagster.

Sensors look every half minute: they take up what the clock's run left over, and are not to come before it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAILY = "0 3 * * *"
"""P12."""

FOLDS = "30 2 * * *"
"""H7, ``scheduled``: before the night's summaries."""

CHUNKS = "30 3 * * *"
"""After the night's summaries; what they finish later the sensor takes up."""

WEEKLY = "0 4 * * 0"
"""P20."""

MONTHLY = "0 5 1 * *"
"""P24."""

MARTS = "0 6 * * *"
"""After the night's summaries, profiles and archive."""

_WEEKLY_HOUR, _MONTHLY_HOUR = time(4), time(5)


def week_has_come(sunday: date, *, now: datetime, zone: ZoneInfo) -> bool:
    """Whether the Sunday 04:00 after the week that began on ``sunday`` is over: its profiles rest on the summaries of
    the night, so nobody makes them at midnight.
    """
    return _moment(sunday + timedelta(days=7), _WEEKLY_HOUR, zone) <= now


def last_monthly(*, now: datetime, zone: ZoneInfo) -> datetime:
    """The last first of a month, 05:00, in UTC."""
    first = now.astimezone(zone).date().replace(day=1)
    found = _moment(first, _MONTHLY_HOUR, zone)
    return found if found <= now else _moment((first - timedelta(days=1)).replace(day=1), _MONTHLY_HOUR, zone)


def _moment(day: date, hour: time, zone: ZoneInfo) -> datetime:
    """An hour that the change of clocks leaves out is the moment of the change; of one that comes twice, the first."""
    return datetime.combine(day, hour, tzinfo=zone).astimezone(UTC)
