"""How long a service asks to wait, from the headers of its refusal. Reading only; nobody waits here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds that the service asks to wait (``retry-after-ms``, seconds or an HTTP date); None if it asks nothing."""
    seconds = _number(headers.get("retry-after-ms"), scale=0.001)
    if seconds is None:
        seconds = _number(headers.get("retry-after"))
    if seconds is None and headers.get("retry-after"):
        try:
            moment = parsedate_to_datetime(headers["retry-after"])
        except (ValueError, TypeError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return None if seconds is None else max(0.0, seconds)


def _number(text: str | None, *, scale: float = 1.0) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value * scale if math.isfinite(value) else None
