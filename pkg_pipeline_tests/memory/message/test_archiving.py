"""Age, month, retention and batches of the archive (P24-P26), with the arithmetic in the row."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.message.archiving import Ready, batches, ended_before, first_kept_month, held_until, month_of

NOBODY = UUID(int=0)


@pytest.mark.parametrize(
    ("day", "month"),
    [
        (date(2025, 1, 1), date(2025, 1, 1)),
        (date(2025, 1, 31), date(2025, 1, 1)),
        (date(2024, 2, 29), date(2024, 2, 1)),
        (date(2025, 12, 31), date(2025, 12, 1)),
    ],
)
def test_the_month_of_a_day(day: date, month: date) -> None:
    assert month_of(day) == month


def test_age_and_hold() -> None:
    now = datetime(2025, 7, 1, tzinfo=UTC)
    assert ended_before(now, after_days=180) == datetime(2025, 1, 2, tzinfo=UTC)  # 28+31+30+31+30 = 150, and 30 more
    assert held_until(now, after_days=180) == datetime(2025, 12, 28, tzinfo=UTC)
    assert held_until(now, after_days=0) == datetime(2025, 7, 31, tzinfo=UTC)  # never at once: 30 days at least


@pytest.mark.parametrize(
    ("now", "keep", "first"),
    [
        ("2025-07-15T12:00Z", 1, date(2025, 6, 1)),
        ("2025-07-15T12:00Z", 12, date(2024, 7, 1)),
        ("2025-01-01T00:00Z", 1, date(2024, 12, 1)),
        ("2024-12-31T23:30Z", 1, date(2024, 12, 1)),  # January already in Berlin
        ("2024-12-31T22:30Z", 1, date(2024, 11, 1)),
        ("2025-07-15T12:00Z", 60_000, date.min),  # more than there ever were: nothing is dropped
    ],
)
def test_whole_months_before_the_current_one_are_kept(now: str, keep: int, first: date) -> None:
    assert first_kept_month(datetime.fromisoformat(now), keep_months=keep, zone=ZoneInfo("Europe/Berlin")) == first


@given(st.lists(st.integers(0, 30)), st.integers(1, 40))
def test_batches_hold_whole_interactions_in_order_and_no_more_than_fits(counts: list[int], most: int) -> None:
    ready = [Ready(UUID(int=number), NOBODY, count) for number, count in enumerate(counts)]
    cut = list(batches(ready, messages=most))
    assert [one for batch in cut for one in batch] == ready
    for batch in cut:
        assert batch
        assert len(batch) == 1 or sum(one.message_count for one in batch) <= most
    for batch, following in pairwise(cut):
        assert sum(one.message_count for one in batch) + following[0].message_count > most


def test_a_hold_ends_later_than_it_begins() -> None:
    now = datetime(2025, 7, 1, tzinfo=UTC)
    assert held_until(now, after_days=365) - now == timedelta(days=365)
