"""Days as partitions. Nothing is read here: first day and time zone are arguments."""

from __future__ import annotations

from datetime import date

import dagster as dg


def daily(*, start: date, timezone: str) -> dg.DailyPartitionsDefinition:
    """One partition a local day, today's included. Rows before ``start`` belong to the first key."""
    return dg.DailyPartitionsDefinition(start_date=start.isoformat(), timezone=timezone, end_offset=1)
