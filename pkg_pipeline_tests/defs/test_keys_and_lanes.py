"""Ranges, batches and tags: tables and properties."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.defs import keys, lanes

DAYS = st.sets(st.dates(date(2023, 12, 1), date(2024, 3, 31)), max_size=60)


@given(DAYS)
def test_ranges_hold_exactly_the_given_days_and_never_touch_one_another(days: set[date]) -> None:
    given_keys = sorted(day.isoformat() for day in days)
    ranges = list(keys.contiguous(given_keys))
    assert [key for span in ranges for key in keys.keys_between(*span)] == given_keys
    assert all(later[0] - earlier[1] > timedelta(days=1) for earlier, later in pairwise(ranges))


@given(DAYS, st.integers(1, 9))
def test_batches_lose_nothing_and_part_only_when_full_or_far_apart(days: set[date], size: int) -> None:
    items = sorted(day.isoformat() for day in days)
    made = list(keys.batches(items, key=str, size=size))
    assert [item for batch in made for item in batch] == items
    assert all(1 <= len(batch) <= size for batch in made)
    for before, after in pairwise(made):
        gap = (date.fromisoformat(after[0]) - date.fromisoformat(before[-1])).days
        assert len(before) == size or gap > keys.DAY.widest_gap
    for batch in made:
        gaps = [date.fromisoformat(later) - date.fromisoformat(earlier) for earlier, later in pairwise(batch)]
        assert all(gap.days <= keys.DAY.widest_gap for gap in gaps)


def test_messages_years_apart_are_not_one_range() -> None:
    """Six days over five years made a run of 1,780 planned days, which took half a minute."""
    items = ["2021-03-22", "2021-04-21", "2022-10-11", "2024-01-10", "2024-01-15", "2026-02-01"]
    found = [list(batch) for batch in keys.batches(items, key=str)]
    assert found == [items[:2], items[2:3], items[3:5], items[5:]]  # gaps: 30, 538, 456, 5, 748 days


@pytest.mark.parametrize(
    ("tags", "lane"),
    [
        ({}, "backfill"),  # somebody pressed a button
        ({"dagster/sensor_name": "due_days"}, "live"),
        ({"dagster/schedule_name": "summaries_at_three"}, "live"),
        ({"dagster/backfill": "abc"}, "backfill"),
        ({"pkg/lane": "live"}, "live"),
        ({"pkg/lane": "backfill", "dagster/sensor_name": "due_days"}, "backfill"),  # the tag decides
        ({"pkg/lane": "fast"}, "backfill"),  # a misspelt lane must not take the live budget
    ],
)
def test_the_lane_of_a_run(tags: dict[str, str], lane: str) -> None:
    assert lanes.lane_of(tags) == lane


@pytest.mark.parametrize(("first", "last"), [("2024-01-05", "2024-01-05"), ("2024-01-05", "2024-02-01")])
def test_a_run_covers_the_range_it_was_tagged_with(first: str, last: str) -> None:
    tags = lanes.range_tags(first, last, lane="live", only_due=True, reason="because")
    assert lanes.range_of(tags) == (first, last)
    assert lanes.wants_only_due(tags)
    assert lanes.lane_of(tags) == "live"


def test_a_run_without_partitions_covers_none() -> None:
    assert lanes.range_of({"pkg/lane": "live"}) is None
