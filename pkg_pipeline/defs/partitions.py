"""Partitions in local time: today from midnight on, a week or month once it is over."""

from __future__ import annotations

from datetime import date

import dagster as dg

from pkg_pipeline.defs.keys import MONTH, WEEK


def daily(*, start: date, timezone: str) -> dg.DailyPartitionsDefinition:
    """One partition a local day, with today's. Rows before ``start`` belong to the first key."""
    return dg.DailyPartitionsDefinition(start_date=start.isoformat(), timezone=timezone, end_offset=1)


def weekly(*, start: date, timezone: str) -> dg.WeeklyPartitionsDefinition:
    """One partition a week, named by its Sunday; the first holds ``start``."""
    first = WEEK.begin(start).isoformat()
    return dg.WeeklyPartitionsDefinition(start_date=first, timezone=timezone, day_offset=0)


def monthly(*, start: date, timezone: str) -> dg.MonthlyPartitionsDefinition:
    """One partition a month, named by its first day; the first holds ``start``."""
    return dg.MonthlyPartitionsDefinition(start_date=MONTH.begin(start).isoformat(), timezone=timezone)
