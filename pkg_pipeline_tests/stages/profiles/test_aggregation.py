"""Counts of a relationship as frames, held against the same counts by SQL over any interactions (P21, P22)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, LiteralString
from zoneinfo import ZoneInfo

import pandas as pd
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.profile import rules
from pkg_pipeline.memory.profile.frequency import frequency_of
from pkg_pipeline.stages.profiles import aggregation

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 3, 20, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

# hours of the start after START, minutes that it takes, messages: over a change of the clocks, with days alike
talks = st.lists(st.tuples(st.integers(0, 800), st.integers(0, 200), st.integers(1, 60)), min_size=1, max_size=25)
# of a message: its interaction, minutes after START, whether it is mine
spoken = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 20_000), st.booleans()), max_size=40)
PROPERTY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TOTALS = """
SELECT count(*), sum(messages), min(began), max(began), max(ended)
FROM unnest(%(began)s::timestamptz[], %(ended)s::timestamptz[], %(messages)s::int[]) AS t (began, ended, messages)
"""
WEEKLY = """
WITH t AS (
    SELECT began, messages, (began AT TIME ZONE 'Europe/Berlin')::date AS day,
           CASE WHEN row_number() OVER (ORDER BY began, ended) > 1 THEN
               extract(epoch FROM began - least(began, max(ended) OVER (
               ORDER BY began, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))) / 86400 END AS silence,
           min(began) OVER () AS first_began
    FROM unnest(%(began)s::timestamptz[], %(ended)s::timestamptz[], %(messages)s::int[]) AS t (began, ended, messages)
), weeks AS (
    SELECT day - extract(dow FROM day)::int AS week, count(*) AS interactions, sum(messages) AS messages,
           max(silence) AS silence, max(began) AS newest, min(first_began) AS first_began
    FROM t GROUP BY 1
)
SELECT week, interactions, messages, silence::float8,
       (extract(epoch FROM newest - first_began)
        / 86400 / nullif(sum(interactions) OVER (ORDER BY week) - 1, 0))::float8
FROM weeks ORDER BY week
"""
RESPONSES = """
WITH answers AS (
    SELECT sent_at, is_self, lag(sent_at) OVER w AS before, lag(is_self) OVER w AS before_self
    FROM unnest(%(talk)s::int[], %(sent_at)s::timestamptz[], %(is_self)s::bool[])
         WITH ORDINALITY AS m (talk, sent_at, is_self, n)
    WINDOW w AS (PARTITION BY talk ORDER BY sent_at, n)
), local AS (
    SELECT (sent_at AT TIME ZONE 'Europe/Berlin')::date AS day, is_self,
           extract(epoch FROM sent_at - before) / 60 AS minutes
    FROM answers WHERE before IS NOT NULL AND before_self <> is_self
)
SELECT day - extract(dow FROM day)::int,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY minutes) FILTER (WHERE NOT is_self),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY minutes) FILTER (WHERE is_self)
FROM local GROUP BY 1 ORDER BY 1
"""


@pytest.fixture(scope="module")
def sql(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server_url, autocommit=True, options="-c TimeZone=UTC") as connection:
        yield connection


def framed(given: Sequence[tuple[int, int, int]]) -> tuple[pd.DataFrame, dict[str, list[Any]]]:
    """The frame, and the same as arrays for SQL."""
    began = [START + hours * HOUR for hours, _, _ in given]
    ended = [at + minutes * MINUTE for at, (_, minutes, _) in zip(began, given, strict=True)]
    messages = [count for _, _, count in given]
    rows = [
        (place, at.date(), at, end, count, "en", None, None, None, None)
        for place, (at, end, count) in enumerate(zip(began, ended, messages, strict=True))
    ]
    return aggregation.framed(rows, aggregation.TALKS), {"began": began, "ended": ended, "messages": messages}


def asked(
    sql: psycopg.Connection[Any], statement: LiteralString, arrays: dict[str, list[Any]]
) -> list[tuple[Any, ...]]:
    return sql.execute(statement, arrays).fetchall()


@PROPERTY
@given(talks)
def test_totals_are_those_of_sql(sql: psycopg.Connection[Any], given: list[tuple[int, int, int]]) -> None:
    frame, arrays = framed(given)
    found = aggregation.extent(frame, None, date(2026, 5, 1))
    (expected,) = asked(sql, TOTALS, arrays)
    counted = (found.interactions, found.messages, found.first_started_at, found.last_started_at, found.last_ended_at)
    assert counted == expected
    assert type(found.first_started_at) is datetime, "it is hashed with the words' input"
    assert str(found.last_ended_at) == str(expected[-1])


@PROPERTY
@given(talks)
def test_weeks_are_those_of_sql(sql: psycopg.Connection[Any], given: list[tuple[int, int, int]]) -> None:
    frame, arrays = framed(given)
    found = aggregation.weekly(frame, BERLIN).reset_index()
    expected = asked(sql, WEEKLY, arrays)
    assert [(row.week.date(), row.interactions, row.messages) for row in found.itertuples()] == [
        (week, count, int(messages)) for week, count, messages, _, _ in expected
    ]
    for name, place in (("longest_silence_days", 3), ("mean_gap_days", 4)):
        assert list(found[name].fillna(-1)) == pytest.approx(
            [-1 if row[place] is None else row[place] for row in expected]
        )
    days = sorted({at.astimezone(BERLIN).date() for at in arrays["began"]})
    for week, often in zip(found["week"], found["frequency"], strict=True):
        saturday = week.date() + timedelta(days=6)
        assert often == (frequency_of([day for day in days if day <= saturday], saturday) or "rare")
    last = aggregation.extent(frame, None, date(2026, 5, 1))
    whole = rules.mean_gap_days(last.first_started_at, last.last_started_at, last.interactions)
    assert found["mean_gap_days"].iloc[-1] == pytest.approx(whole, nan_ok=True) or whole is None


@PROPERTY
@given(spoken)
def test_response_times_are_those_of_sql(sql: psycopg.Connection[Any], given: list[tuple[int, int, bool]]) -> None:
    ordered = sorted(given, key=lambda one: one[:2])
    rows = [(talk, START + minutes * MINUTE, mine) for talk, minutes, mine in ordered]
    found = aggregation.response_minutes(aggregation.framed(rows, aggregation.SPOKEN), BERLIN)
    arrays = dict(zip(("talk", "sent_at", "is_self"), map(list, zip(*rows, strict=True)), strict=True)) if rows else {
        "talk": [], "sent_at": [], "is_self": [],
    }  # fmt: skip
    expected = asked(sql, RESPONSES, arrays)
    assert [week.date() for week in found.index] == [row[0] for row in expected]
    for name, place in (("them", 1), ("me", 2)):
        assert list(found[name].fillna(-1)) == pytest.approx(
            [-1 if row[place] is None else row[place] for row in expected]
        )


def test_weeks_begin_on_local_sundays() -> None:
    """Saturday, 23:30 in Berlin, and half past one of the night in which its clocks are moved."""
    frame, _ = framed([(9 * 24 - 2, 30, 1), (9 * 24, 30, 1)])
    frame["started_at"] += pd.Timedelta(minutes=30)
    found = aggregation.weekly(frame, BERLIN)
    assert [week.date() for week in found.index] == [date(2026, 3, 22), date(2026, 3, 29)]
    assert [rules.week_of(at.to_pydatetime(), BERLIN) for at in frame["started_at"]] == [
        week.date() for week in found.index
    ]


def test_mentions_are_each_key_point_with_the_end_of_its_talk() -> None:
    frame, _ = framed([(0, 30, 1), (5, 10, 1), (9, 0, 1)])
    frame["key_points"] = pd.Series([["rent", "boat"], [], ["boat"]], dtype=object)
    ends = [START + 30 * MINUTE, START + 9 * HOUR]
    assert list(aggregation.mentions(frame)) == [("rent", ends[0]), ("boat", ends[0]), ("boat", ends[1])]
