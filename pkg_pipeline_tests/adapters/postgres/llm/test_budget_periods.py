"""P12, P32 over tasks and calendars: one money cap a lane and day, counts a task's day or Sunday-based week."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.stages.llm.run import OutOfBudget, Run
from pkg_pipeline.stages.llm.stores import Caps, PlannedCall, Refusal, Reservation
from pkg_pipeline.stages.ports import Billing, Subject

SUMMARIES, PROFILES = "interaction_summary", "relationship_profile"
SUBJECT = UUID(int=7)
CALL = PlannedCall(Subject("interaction", SUBJECT), "h", SUMMARIES, "m", "p/1", Billing("live"))
HOUR, DAY = 3600.0, 86_400.0
CLOCK = """
CREATE SCHEMA clockwork;
CREATE TABLE clockwork.hand (at timestamptz NOT NULL);
INSERT INTO clockwork.hand VALUES (now());
CREATE FUNCTION clockwork.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT at FROM clockwork.hand';
"""
"""A clock that the test sets, found before the server's own."""

At = Callable[[str], PostgresBudgetStore]


@pytest.fixture
def budgets(database_url: str) -> Iterator[Callable[[str], At]]:
    """``budgets(zone)(local time)``: the store at that moment."""
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(CLOCK)
    connections = engine.pool(database_url, size=8, search_path="clockwork,pkg,public,pg_catalog")

    def of(zone: str) -> At:
        store = PostgresBudgetStore(connections, timezone=zone)

        def at(moment: str) -> PostgresBudgetStore:
            given = datetime.fromisoformat(moment)
            local = given if given.tzinfo else given.replace(tzinfo=ZoneInfo(zone))
            with connections.connection() as connection:
                connection.execute("UPDATE clockwork.hand SET at = %s", (local.astimezone(UTC),))
            return store

        return at

    yield of
    connections.close()


def week(store: PostgresBudgetStore, cap: int | None = 2, *, usd: float = 0.1, usd_cap: float = 10.0):
    return store.reserve(task=PROFILES, usd=usd, caps=Caps(usd_cap, cap, "week"), call=CALL)


def day(store: PostgresBudgetStore, cap: int | None = None, *, usd: float = 0.1, usd_cap: float = 10.0):
    return store.reserve(task=SUMMARIES, usd=usd, caps=Caps(usd_cap, cap), call=CALL)


def test_eight_workers_with_tasks_and_periods_mixed_keep_to_every_cap(budgets) -> None:
    """1.00 USD of 0.05 are 20 calls; profiles may have 7 of them and summaries the rest."""
    store = budgets("UTC")("2026-03-11 12:00")
    together = threading.Barrier(8)

    def work(index: int) -> int:
        together.wait()
        take = (
            (lambda: week(store, 7, usd=0.05, usd_cap=1.0)) if index % 2 else lambda: day(store, usd=0.05, usd_cap=1.0)
        )
        return sum(isinstance(take(), Reservation) for _ in range(6))

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(work, range(8))) == 20
    state = store.state(lane="live", task=PROFILES, period="week")
    assert state.usd == pytest.approx(1.0)
    assert state.calls <= 7
    assert state.calls + store.state(lane="live", task=SUMMARIES).calls == 20


def test_settling_beside_reserving_never_lets_more_through(budgets) -> None:
    """Each takes 0.2 of 1.00 and gives 0.2 back at once: never more than five are out, and nothing is left over."""
    store = budgets("UTC")("2026-03-11 12:00")
    together, out, most = threading.Barrier(8), [], []

    def work(index: int) -> None:
        task = PROFILES if index % 2 else SUMMARIES
        together.wait()
        for _ in range(8):
            taken = store.reserve(task=task, usd=0.2, caps=Caps(1.0), call=CALL)
            if isinstance(taken, Reservation):
                out.append(1)
                most.append(len(out))
                out.pop()
                store.settle(taken, lane="live", task=task, subject=Subject("interaction", SUBJECT))

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    assert max(most) <= 5
    state = store.state(lane="live", task=SUMMARIES)
    assert (state.usd, state.calls) == (0.0, 0)


def test_money_is_over_all_tasks_and_counts_are_a_tasks_own(budgets) -> None:
    store = budgets("UTC")("2026-03-11 12:00")
    assert isinstance(day(store, 1, usd=0.4, usd_cap=1.0), Reservation)
    assert isinstance(week(store, 1, usd=0.4, usd_cap=1.0), Reservation)  # the summaries' count is not the profiles'
    refused = week(store, 5, usd=0.4, usd_cap=1.0)
    assert isinstance(refused, Refusal)
    assert refused.reason == "the live lane's 1.00 USD of today do not cover the next call (0.8000 taken)"
    assert refused.retry_after_seconds == pytest.approx(12 * HOUR)  # money comes back the next day, not the next week
    other = store.reserve(task=SUMMARIES, usd=0.4, caps=Caps(1.0), call=replace(CALL, billing=Billing("backfill")))
    assert isinstance(other, Reservation)


# zone, moments of taken calls, moment of the refused one, seconds to the next week
WEEKS = [
    # 2026-03-15 is a Sunday: Sunday to Saturday night is one week
    ("UTC", ("2026-03-15 00:00", "2026-03-18 10:00"), "2026-03-21 23:59", 60),
    ("Asia/Shanghai", ("2026-03-15 00:00", "2026-03-15 00:01"), "2026-03-15 00:01", 7 * DAY - 60),
    # clocks go forward on Sunday 2026-03-08 at 2: that week has 167 hours; its Sunday noon is 11 hours in
    ("America/New_York", ("2026-03-08 01:00", "2026-03-08 03:00"), "2026-03-08 12:00", 167 * HOUR - 11 * HOUR),
    # and back on Sunday 2026-11-01: 169 hours, its noon is 13 hours in
    ("America/New_York", ("2026-11-01 00:00", "2026-11-01 12:00"), "2026-11-01 12:00", 169 * HOUR - 13 * HOUR),
    # a week across the end of the year
    ("UTC", ("2025-12-28 00:00", "2025-12-31 23:59"), "2026-01-03 12:00", 12 * HOUR),
]


@pytest.mark.parametrize(("zone", "taken", "refused", "seconds"), WEEKS)
def test_a_week_is_used_up_until_sunday(budgets, zone: str, taken, refused: str, seconds: float) -> None:
    at = budgets(zone)
    assert all(isinstance(week(at(moment)), Reservation) for moment in taken)
    found = week(at(refused))
    assert isinstance(found, Refusal)
    assert found.reason == "the live lane's 2 calls of this week are used up"
    assert found.retry_after_seconds == pytest.approx(seconds)
    next_week = datetime.fromtimestamp(
        datetime.fromisoformat(refused).replace(tzinfo=ZoneInfo(zone)).timestamp() + seconds, ZoneInfo(zone)
    )
    assert (next_week.weekday(), next_week.hour, next_week.minute) == (6, 0, 0)
    assert isinstance(week(at(next_week.isoformat())), Reservation)


# zone, a moment, seconds to the next budget day
DAYS = [
    ("UTC", "2026-03-11 23:59:59", 1),
    ("America/New_York", "2026-03-08 00:00", 23 * HOUR),  # 23 hours
    ("America/New_York", "2026-11-01 00:00", 25 * HOUR),  # 25 hours
    ("America/Santiago", "2026-09-05 12:00", 12 * HOUR),  # the next day begins at one o'clock: midnight is left out
    ("Australia/Lord_Howe", "2026-04-05 00:00", 24.5 * HOUR),  # half an hour
    ("UTC", "2025-12-31 23:00", HOUR),
]


@pytest.mark.parametrize(("zone", "moment", "seconds"), DAYS)
def test_a_day_ends_where_the_calendar_says(budgets, zone: str, moment: str, seconds: float) -> None:
    at = budgets(zone)
    assert isinstance(day(at(moment), 1), Reservation)
    refused = day(at(moment), 1)
    assert isinstance(refused, Refusal)
    assert refused.retry_after_seconds == pytest.approx(seconds)
    start = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).timestamp()
    just_before = datetime.fromtimestamp(start + seconds - 0.5, UTC).isoformat()
    on_time = datetime.fromtimestamp(start + seconds, UTC).isoformat()
    assert isinstance(day(at(just_before), 1), Refusal)
    assert isinstance(day(at(on_time), 1), Reservation)


def test_what_was_reserved_before_midnight_is_settled_there(budgets) -> None:
    at = budgets("UTC")
    taken = day(at("2026-03-14 23:59"), usd=0.5)
    assert isinstance(taken, Reservation)
    store = at("2026-03-15 00:01")
    assert store.state(lane="live", task=SUMMARIES).usd == 0.0
    store.settle(taken, lane="live", task=SUMMARIES, subject=Subject("interaction", SUBJECT))
    assert taken.day == date(2026, 3, 14)
    assert at("2026-03-14 23:59").state(lane="live", task=SUMMARIES).usd == 0.0


def test_a_run_with_a_weekly_cap_rests_until_sunday(budgets) -> None:
    store = budgets("UTC")("2026-03-20 12:00")
    run = Run(store, Billing("live"), Caps(1.0, 1, "week"), task=PROFILES)
    run.take(0.1, CALL)
    with pytest.raises(OutOfBudget, match="1 calls of this week are used up"):
        run.take(0.1, CALL)
    assert run.is_stopped
    assert run.rest_seconds == pytest.approx(1.5 * DAY)
