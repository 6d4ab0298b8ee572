"""Parses timestamps of exports and programs into aware UTC datetimes."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

_MILLISECONDS_FROM = 1e11  # as seconds the year 5138, as milliseconds 1973
_MICROSECONDS_FROM = 1e14
_NANOSECONDS_FROM = 1e17


class UnreadableTime(ValueError):
    """A value that is no time; the message says what was found, for the rejection."""


def zone_named(timezone: str) -> tzinfo:
    """The zone of an IANA name. ``ValueError`` with the name."""
    if timezone.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, OSError) as error:  # ZoneInfo raises any of these
        raise ValueError(f"unknown time zone {timezone!r}: give an IANA name such as Europe/Berlin") from error


def from_unix(value: float) -> datetime:
    """Seconds since 1970; milli-, micro- and nanoseconds by magnitude. ``UnreadableTime``."""
    size = abs(value)
    try:
        if size < _MILLISECONDS_FROM:
            return datetime.fromtimestamp(value, UTC)
        divisor = 1_000 if size < _MICROSECONDS_FROM else 1_000_000 if size < _NANOSECONDS_FROM else 1_000_000_000
        return datetime.fromtimestamp(value / divisor, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UnreadableTime(f"{_shown(value)} is no unix time") from error


def from_iso(text: str, zone: tzinfo) -> tuple[datetime, bool]:
    """``(UTC time, zone assumed)`` of an ISO 8601 text; without offset wall time in ``zone``. ``UnreadableTime``."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is UTC:
            return moment, False
        if moment.tzinfo is not None:
            return moment.astimezone(UTC), False
        return moment.replace(tzinfo=zone).astimezone(UTC), True
    except (ValueError, OverflowError) as error:
        raise UnreadableTime(f"{_shown(text)} is no ISO 8601 time") from error


def from_iso_or_unix(value: object, zone: tzinfo) -> tuple[datetime, bool]:
    """As ``from_iso``, also for a number or numeric text (``"1700000000.5"``). ``UnreadableTime``."""
    if isinstance(value, str):
        if len(value) > 11 and value[4] == "-":  # fast path for the usual ISO form
            return from_iso(value, zone)
        number = _number(value)
        return from_iso(value.strip(), zone) if number is None else (from_unix(number), False)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return from_unix(value), False
    raise UnreadableTime("neither an ISO 8601 text nor unix seconds")


def _number(text: str) -> float | None:
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return None


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
"""No message is older."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOST_PLUS = re.compile(r"(?<=:\d\d) (\d\d:?\d\d)$")


def parse_moment(text: str, zone: ZoneInfo, *, now: datetime) -> datetime:
    """An ``as_of``: local without offset, a date means its end, today ``now``. ``ValueError`` with a sentence."""
    # an unescaped + of an offset arrives as a blank
    given = _LOST_PLUS.sub(r"+\1", text.strip())
    try:
        if _DAY.fullmatch(given):
            following = datetime.combine(date.fromisoformat(given) + timedelta(days=1), time.min, zone)
            found = following.astimezone(UTC) - timedelta(microseconds=1)
            found = now.astimezone(UTC) if now < found <= now + timedelta(days=1) else found
        else:
            found = datetime.fromisoformat(given)
            found = (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no ISO time, such as 2026-01-31 or 2026-01-31T18:00:00+01:00") from None
    if found < EARLIEST:
        raise ValueError(f"{text!r} lies before {EARLIEST.date().isoformat()}")
    return found


def iso(moment: datetime) -> str:
    """UTC with a Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
