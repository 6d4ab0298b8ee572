"""Moments as answers write them and as people and programs ask for them. Not here: what the time is."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
"""No message is older; further back calendars run out."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOST_PLUS = re.compile(r"(?<=:\d\d) (\d\d:?\d\d)$")


def parse_moment(text: str, zone: ZoneInfo) -> datetime:
    """An ``as_of`` as people and programs write it. A time without offset is local; a day alone means its end.

    Raises ValueError with a sentence.
    """
    # an unescaped + of an offset arrives as a blank
    given = _LOST_PLUS.sub(r"+\1", text.strip())
    try:
        if _DAY.fullmatch(given):
            following = datetime.combine(date.fromisoformat(given) + timedelta(days=1), time.min, zone)
            found = following.astimezone(UTC) - timedelta(microseconds=1)
        else:
            found = datetime.fromisoformat(given)
            found = (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no ISO time, such as 2026-01-31 or 2026-01-31T18:00:00+01:00") from None
    if found < EARLIEST:
        raise ValueError(f"{text!r} lies before {EARLIEST.date().isoformat()}")
    return found


def iso(moment: datetime) -> str:
    """UTC with a Z, as every time in an answer."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
