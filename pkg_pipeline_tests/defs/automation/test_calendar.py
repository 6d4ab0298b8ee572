"""Hours and keys by the local calendar: the real schedules and partitions over days on which clocks change, ends of
years and months, leap days. The times are those that Dagster's daemon would wake at.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import schedule_execution_time_iterator  # the daemon's own

from pkg_pipeline.defs import partitions
from pkg_pipeline.defs.automation import hours, schedules
from pkg_pipeline.defs.keys import DAY, MONTH, WEEK, existing
from pkg_pipeline_tests.defs.fakes import FIRST_DAY

BERLIN, NEW_YORK, KOLKATA, LORD_HOWE = "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"
HELSINKI, SAO_PAULO, APIA, KIRITIMATI = "Europe/Helsinki", "America/Sao_Paulo", "Pacific/Apia", "Pacific/Kiritimati"
START = date(2010, 1, 1)

CHUNKS, SESSIONS = "chunks_half_past_three", "sessions_half_past_two"
SUMMARIES, PROFILES, ARCHIVE, MARTS = "summaries_at_three", "profiles_sunday_four", "archive_first_five", "marts_at_six"


def ticks(name: str, zone: str, day: str) -> list[str]:
    """UTC times at which the schedule fires on a local day."""
    (schedule,) = [one for one in schedules.build(timezone=zone, start=FIRST_DAY) if one.name == name]
    begin = datetime.combine(date.fromisoformat(day), datetime.min.time(), tzinfo=ZoneInfo(zone)).astimezone(UTC)
    local_day = date.fromisoformat(day)
    return [
        f"{at.astimezone(UTC):%Y-%m-%dT%H:%M}"
        for at in until(woken(schedule, begin), begin + timedelta(hours=27))
        if at.astimezone(ZoneInfo(zone)).date() == local_day
    ]


def woken(schedule: Any, begin: datetime) -> Iterator[datetime]:
    """When the daemon wakes for the schedule, from ``begin`` on."""
    return schedule_execution_time_iterator(begin.timestamp(), schedule.cron_schedule, schedule.execution_timezone)


def newest(definition: dg.TimeWindowPartitionsDefinition, now: datetime) -> str:
    return definition.get_partition_keys(current_time=now)[-1]


def until(iterator: Iterator[datetime], end: datetime) -> Iterator[datetime]:
    for at in iterator:
        if at >= end:
            return
        yield at


NIGHTS = [
    # zone, local day, UTC time of 03:00 = 03:00 − offset
    (BERLIN, "2026-03-28", "2026-03-28T02:00"),  # +1
    (BERLIN, "2026-03-29", "2026-03-29T01:00"),  # 02:00 became 03:00: +2
    (BERLIN, "2026-03-30", "2026-03-30T01:00"),  # +2
    (BERLIN, "2026-10-24", "2026-10-24T01:00"),  # +2
    (BERLIN, "2026-10-25", "2026-10-25T02:00"),  # 03:00 became 02:00; it comes once more: +1
    (BERLIN, "2026-10-26", "2026-10-26T02:00"),  # +1
    (BERLIN, "2025-12-31", "2025-12-31T02:00"),
    (BERLIN, "2026-01-01", "2026-01-01T02:00"),
    (BERLIN, "2024-02-29", "2024-02-29T02:00"),
    (BERLIN, "2024-03-01", "2024-03-01T02:00"),
    (BERLIN, "2026-02-28", "2026-02-28T02:00"),
    (NEW_YORK, "2026-03-07", "2026-03-07T08:00"),  # −5
    (NEW_YORK, "2026-03-08", "2026-03-08T07:00"),  # 02:00 became 03:00: −4
    (NEW_YORK, "2026-03-09", "2026-03-09T07:00"),
    (NEW_YORK, "2026-10-31", "2026-10-31T07:00"),
    (NEW_YORK, "2026-11-01", "2026-11-01T08:00"),  # 02:00 became 01:00: −5
    (NEW_YORK, "2026-11-02", "2026-11-02T08:00"),
    (NEW_YORK, "2025-12-31", "2025-12-31T08:00"),
    (NEW_YORK, "2024-02-29", "2024-02-29T08:00"),
    (KOLKATA, "2026-03-29", "2026-03-28T21:30"),  # +5:30, never changed
    (KOLKATA, "2026-10-25", "2026-10-24T21:30"),
    (KOLKATA, "2025-12-31", "2025-12-30T21:30"),
    (KOLKATA, "2026-01-01", "2025-12-31T21:30"),
    (KOLKATA, "2024-02-29", "2024-02-28T21:30"),
    (KOLKATA, "2024-03-01", "2024-02-29T21:30"),
    (LORD_HOWE, "2026-04-04", "2026-04-03T16:00"),  # +11
    (LORD_HOWE, "2026-04-05", "2026-04-04T16:30"),  # 02:00 became 01:30: +10:30
    (LORD_HOWE, "2026-04-06", "2026-04-05T16:30"),
    (LORD_HOWE, "2026-10-03", "2026-10-02T16:30"),
    (LORD_HOWE, "2026-10-04", "2026-10-03T16:00"),  # 02:00 became 02:30: +11
    (LORD_HOWE, "2026-10-05", "2026-10-04T16:00"),
    (LORD_HOWE, "2024-02-29", "2024-02-28T16:00"),
    (HELSINKI, "2026-03-28", "2026-03-28T01:00"),  # +2
    (HELSINKI, "2026-03-29", "2026-03-29T01:00"),  # 03:00 became 04:00: no 03:00, so 04:00 at +3
    (HELSINKI, "2026-03-30", "2026-03-30T00:00"),  # +3
    (HELSINKI, "2026-10-24", "2026-10-24T00:00"),
    (HELSINKI, "2026-10-26", "2026-10-26T01:00"),  # +2
    (SAO_PAULO, "2018-11-03", "2018-11-03T06:00"),  # −3
    (SAO_PAULO, "2018-11-04", "2018-11-04T05:00"),  # midnight became 01:00: −2
    (SAO_PAULO, "2018-02-18", "2018-02-18T06:00"),  # midnight became 23:00 of the day before: −3
    (APIA, "2011-12-29", "2011-12-29T13:00"),  # −10, the day before the one that was left out
    (APIA, "2011-12-31", "2011-12-30T13:00"),  # +14
    (KIRITIMATI, "2026-01-01", "2025-12-31T13:00"),  # +14
]


@pytest.mark.parametrize(("zone", "day", "at"), NIGHTS)
def test_summaries_at_three_once_a_local_day(zone: str, day: str, at: str) -> None:
    assert ticks(SUMMARIES, zone, day) == [at]


def test_an_hour_that_comes_twice_fires_once() -> None:
    """In Helsinki 04:00 becomes 03:00: 03:00 is 00:00 UTC at +3 and 01:00 UTC at +2."""
    (at,) = ticks(SUMMARIES, HELSINKI, "2026-10-25")
    assert at in ("2026-10-25T00:00", "2026-10-25T01:00")


SUNDAYS = [
    # zone, Sunday, UTC time of 04:00, newest week then: the Sunday before
    (BERLIN, "2026-03-29", "2026-03-29T02:00", "2026-03-22"),  # +2 since an hour
    (BERLIN, "2026-10-25", "2026-10-25T03:00", "2026-10-18"),  # +1 since an hour
    (BERLIN, "2026-01-04", "2026-01-04T03:00", "2025-12-28"),  # the week over New Year
    (BERLIN, "2024-03-03", "2024-03-03T03:00", "2024-02-25"),  # with 29 February in it
    (NEW_YORK, "2026-03-08", "2026-03-08T08:00", "2026-03-01"),  # −4
    (NEW_YORK, "2026-11-01", "2026-11-01T09:00", "2026-10-25"),  # −5, and the first of a month
    (KOLKATA, "2026-03-29", "2026-03-28T22:30", "2026-03-22"),
    (LORD_HOWE, "2026-04-05", "2026-04-04T17:30", "2026-03-29"),
    (LORD_HOWE, "2026-10-04", "2026-10-03T17:00", "2026-09-27"),
    (HELSINKI, "2026-03-29", "2026-03-29T01:00", "2026-03-22"),  # 04:00 is the moment of the change
    (SAO_PAULO, "2018-11-04", "2018-11-04T06:00", "2018-10-28"),  # this Sunday began at 01:00
    (KIRITIMATI, "2026-01-04", "2026-01-03T14:00", "2025-12-28"),
]


@pytest.mark.parametrize(("zone", "sunday", "at", "week"), SUNDAYS)
def test_profiles_on_sunday_at_four_for_the_week_that_is_over(zone: str, sunday: str, at: str, week: str) -> None:
    assert ticks(PROFILES, zone, sunday) == [at]
    day = date.fromisoformat(sunday)
    assert [ticks(PROFILES, zone, (day + timedelta(days=more)).isoformat()) for more in range(1, 7)] == [[]] * 6
    weeks = partitions.weekly(start=START, timezone=zone)
    now = datetime.fromisoformat(at + "+00:00")
    assert newest(weeks, now) == week == WEEK.last(day).isoformat()


FIRSTS = [
    # zone, first of a month, UTC time of 05:00, newest month then
    (BERLIN, "2026-01-01", "2026-01-01T04:00", "2025-12-01"),
    (BERLIN, "2024-03-01", "2024-03-01T04:00", "2024-02-01"),
    (BERLIN, "2026-04-01", "2026-04-01T03:00", "2026-03-01"),  # +2, after the change in March
    (NEW_YORK, "2026-11-01", "2026-11-01T10:00", "2026-10-01"),  # −5 since three hours
    (KOLKATA, "2026-03-01", "2026-02-28T23:30", "2026-02-01"),
    (LORD_HOWE, "2026-01-01", "2025-12-31T18:00", "2025-12-01"),
]


@pytest.mark.parametrize(("zone", "first", "at", "month"), FIRSTS)
def test_the_archive_on_the_first_at_five(zone: str, first: str, at: str, month: str) -> None:
    assert ticks(ARCHIVE, zone, first) == [at]
    day = date.fromisoformat(first)
    assert ticks(ARCHIVE, zone, (day - timedelta(days=1)).isoformat()) == []
    assert ticks(ARCHIVE, zone, (day + timedelta(days=1)).isoformat()) == []
    months = partitions.monthly(start=START, timezone=zone)
    assert newest(months, datetime.fromisoformat(at + "+00:00")) == month == MONTH.last(day).isoformat()


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, KOLKATA, LORD_HOWE, HELSINKI])
def test_a_year_has_each_tick_once_a_day_sunday_or_first(zone: str) -> None:
    """2024 with its leap day: 366 nights, 52 Sundays, 12 firsts, and the marts each morning."""
    begin = datetime(2024, 1, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    end = datetime(2025, 1, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    found: dict[str, list[date]] = {}
    for schedule in schedules.build(timezone=zone, start=FIRST_DAY):
        at = until(woken(schedule, begin), end)
        found[schedule.name] = [one.astimezone(ZoneInfo(zone)).date() for one in at]
    days = [date(2024, 1, 1) + timedelta(days=offset) for offset in range(366)]
    assert found == {
        SUMMARIES: days,
        CHUNKS: days,
        SESSIONS: days,
        PROFILES: [day for day in days if day.isoweekday() == 7],
        ARCHIVE: [day for day in days if day.day == 1],
        MARTS: days,
    }
    assert len(found[PROFILES]) == 52


@pytest.mark.parametrize(
    ("zone", "before", "at"),
    [
        (BERLIN, "2026-03-28T22:59", "2026-03-28T23:00"),  # Sunday 00:00 at +1
        (NEW_YORK, "2026-11-01T03:59", "2026-11-01T04:00"),  # at −4
        (SAO_PAULO, "2018-11-04T02:59", "2018-11-04T03:00"),  # no midnight: 01:00 at −2
        (LORD_HOWE, "2026-04-04T12:59", "2026-04-04T13:00"),  # at +11
    ],
)
def test_a_week_exists_from_the_first_moment_of_sunday_and_not_before(zone: str, before: str, at: str) -> None:
    weeks = partitions.weekly(start=START, timezone=zone)
    sunday = datetime.fromisoformat(at + "+00:00").astimezone(ZoneInfo(zone)).date()
    new = (sunday - timedelta(days=7)).isoformat()
    assert newest(weeks, datetime.fromisoformat(before + "+00:00")) != new
    assert newest(weeks, datetime.fromisoformat(at + "+00:00")) == new


@pytest.mark.parametrize(
    ("grain", "made"), [(DAY, partitions.daily), (WEEK, partitions.weekly), (MONTH, partitions.monthly)]
)
@pytest.mark.parametrize("start", [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 14)])
@pytest.mark.parametrize("today", [date(2024, 2, 29), date(2024, 3, 1), date(2024, 3, 3), date(2024, 12, 31)])
def test_our_keys_are_dagsters_keys(grain, made, start: date, today: date) -> None:
    definition: dg.TimeWindowPartitionsDefinition = made(start=start, timezone="UTC")
    theirs = definition.get_partition_keys(current_time=datetime.combine(today, datetime.min.time(), UTC))
    days = [start + timedelta(days=offset) for offset in range(-40, (today - start).days + 40)]
    assert existing(days, grain, start=start, today=today) == theirs


@pytest.mark.parametrize(
    ("now", "has_come"),
    [
        ("2026-03-28T23:30", False),  # Sunday 00:30 in Berlin: over, but its hour is 02:00 UTC
        ("2026-03-29T01:59", False),
        ("2026-03-29T02:00", True),
    ],
)
def test_nobody_comes_before_the_clock_for_the_week_that_just_ended(now: str, has_come: bool) -> None:
    moment = datetime.fromisoformat(now + "+00:00")
    assert hours.week_has_come(date(2026, 3, 22), now=moment, zone=ZoneInfo(BERLIN)) is has_come
    assert hours.week_has_come(date(2026, 3, 15), now=moment, zone=ZoneInfo(BERLIN))


@pytest.mark.parametrize(
    ("now", "last"),
    [
        ("2026-04-01T02:59", "2026-03-01T04:00"),  # +1 in March's first night
        ("2026-04-01T03:00", "2026-04-01T03:00"),  # +2 by April's
        ("2026-01-15T12:00", "2026-01-01T04:00"),
        ("2026-01-01T03:59", "2025-12-01T04:00"),
    ],
)
def test_the_last_first_of_a_month(now: str, last: str) -> None:
    found = hours.last_monthly(now=datetime.fromisoformat(now + "+00:00"), zone=ZoneInfo(BERLIN))
    assert f"{found:%Y-%m-%dT%H:%M}" == last
