"""Days, weeks and months as partitions. Nothing is read here: first day and time zone are arguments.

Today is a partition from midnight on. A week and a month become one when they are over, by the local calendar: a week
at Sunday 00:00, a month on the first at 00:00. Their names are those of ``keys.py``.
"""

from __future__ import annotations

from datetime import date

import dagster as dg

from pkg_pipeline.defs.keys import MONTH, WEEK


def daily(*, start: date, timezone: str) -> dg.DailyPartitionsDefinition:
    """One partition a local day, today's included. Rows before ``start`` belong to the first key."""
    return dg.DailyPartitionsDefinition(start_date=start.isoformat(), timezone=timezone, end_offset=1)


def weekly(*, start: date, timezone: str) -> dg.WeeklyPartitionsDefinition:
    """One partition a week, named by its Sunday; the first is the one that holds ``start``."""
    first = WEEK.begin(start).isoformat()
    return dg.WeeklyPartitionsDefinition(start_date=first, timezone=timezone, day_offset=0)


def monthly(*, start: date, timezone: str) -> dg.MonthlyPartitionsDefinition:
    """One partition a month, named by its first day; the first is the one that holds ``start``."""
    return dg.MonthlyPartitionsDefinition(start_date=MONTH.begin(start).isoformat(), timezone=timezone)
