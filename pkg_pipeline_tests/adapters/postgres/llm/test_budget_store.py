"""P12, P32: caps in calls and USD, taken atomically; money is settled by the ledger on the day it was reserved."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, PlannedCall, Refusal, Reservation
from pkg_pipeline.stages.ports import Billing, Subject
from pkg_pipeline_tests.stages.summaries.summary_rig import SummaryRig

TASK = "interaction_summary"
SUBJECT = UUID(int=7)
CALL = PlannedCall(Subject("interaction", SUBJECT), "h", TASK, "m", "p/1", Billing("live"))


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path, size=10)
    yield made
    made.close()


def reserve(rig: SummaryRig, usd: float = 0.1, *, calls: int | None = None, cap: float = 1.0, lane="live"):
    return rig.budgets.reserve(task=TASK, usd=usd, caps=Caps(cap, calls), call=replace(CALL, billing=Billing(lane)))


def bill(rig: SummaryRig, usd: float, *, tokens: int = 10, lane="live", outcome: str = "ok") -> None:
    rig.ledger_store.record(
        LedgerRow(
            Subject("interaction", SUBJECT),
            Billing(lane),
            "h",
            TASK,
            "m",
            "p/1",
            outcome,
            Usage(tokens, tokens),
            usd,
            duration_seconds=0.1,
        )
    )


def settle(rig: SummaryRig, reservation: Reservation, lane="live") -> float:
    return rig.budgets.settle(reservation, lane=lane, task=TASK, subject=Subject("interaction", SUBJECT))


# calls cap, USD cap, USD a call → calls that get through
CAPS = [
    (20, 100.0, 0.01, 20),
    (None, 1.0, 0.1, 10),  # 10 × 0.1 = 1.0, not over
    (None, 1.0, 0.3, 3),  # 4 × 0.3 = 1.2
    (5, 1.0, 0.3, 3),
    (0, 1.0, 0.1, 0),
    (None, 0.0, 0.1, 0),
]


@pytest.mark.parametrize(("calls", "cap", "usd", "expected"), CAPS)
def test_eight_workers_never_get_over_the_cap(rig: SummaryRig, calls, cap, usd, expected) -> None:
    together = threading.Barrier(8)

    def work(_: int) -> int:
        together.wait()
        return sum(isinstance(reserve(rig, usd, calls=calls, cap=cap), Reservation) for _ in range(4))

    with ThreadPoolExecutor(8) as workers:
        assert sum(workers.map(work, range(8))) == expected
    taken = rig.rows("SELECT calls, reserved_usd FROM budgets")
    assert [(count, float(sum_)) for count, sum_ in taken] == (
        [(expected, pytest.approx(expected * usd))] if expected else []
    )


def test_lanes_do_not_touch_each_other(rig: SummaryRig) -> None:
    assert isinstance(reserve(rig, calls=1), Reservation)
    assert isinstance(reserve(rig, calls=1), Refusal)
    assert isinstance(reserve(rig, calls=1, lane="backfill"), Reservation)


def test_what_was_billed_takes_the_place_of_what_was_reserved(rig: SummaryRig) -> None:
    taken = reserve(rig, 0.5)
    bill(rig, 0.02, outcome="truncated")  # a try whose answer was cut is paid for like the one that passed
    bill(rig, 0.04)
    assert settle(rig, taken) == pytest.approx(0.06)
    [(calls, reserved, spent)] = rig.rows("SELECT calls, reserved_usd, spent_usd FROM budgets")
    assert (calls, float(reserved), float(spent)) == (2, 0.0, pytest.approx(0.06))


def test_a_call_that_brought_nothing_is_given_back(rig: SummaryRig) -> None:
    taken = reserve(rig, 0.5)
    bill(rig, 0.0, tokens=0, outcome="unavailable")
    assert settle(rig, taken) == 0.0
    assert rig.rows("SELECT calls, reserved_usd, spent_usd FROM budgets") == [(0, 0, 0)]


def test_bills_of_earlier_questions_are_not_counted_again(rig: SummaryRig) -> None:
    bill(rig, 0.3)
    taken = reserve(rig, 0.5)
    bill(rig, 0.04)
    assert settle(rig, taken) == pytest.approx(0.04)


def test_a_reservation_is_settled_on_the_day_it_was_taken(rig: SummaryRig) -> None:
    """Midnight passes while the model answers."""
    taken = reserve(rig, 0.5)
    rig.run("UPDATE budgets SET day = day - 1")
    yesterday = replace(taken, day=taken.day - timedelta(days=1))
    assert isinstance(reserve(rig, 0.1), Reservation)  # another day, another row
    bill(rig, 0.04)
    settle(rig, yesterday)
    rows = rig.rows("SELECT reserved_usd::float8, spent_usd::float8, calls FROM budgets ORDER BY day")
    assert rows == [(0.0, 0.04, 1), (0.1, 0.0, 1)]


@pytest.mark.parametrize("timezone", ["UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_the_day_ends_at_midnight_of_the_memorys_zone(database_url: str, tmp_path: Path, timezone: str) -> None:
    rig = SummaryRig(database_url, tmp_path, timezone=timezone)
    taken, refused = reserve(rig, calls=1), reserve(rig, calls=1)
    local, left = rig.rows(
        "SELECT l::date, extract(epoch FROM date_trunc('day', l) + interval '1 day' - l)::float8"
        " FROM (SELECT clock_timestamp() AT TIME ZONE %s AS l) now",
        timezone,
    )[0]
    rig.close()
    assert taken.day == local
    # no zone here changes its clock by more than an hour
    assert refused.retry_after_seconds == pytest.approx(left, abs=3_700)


REASONS = [
    ({"calls": 0}, "calls of today are used up", True),
    ({"cap": 0.0}, "do not cover the next call", True),
    ({"cap": 0.05}, "one call may cost 0.1000 USD, more than", False),
]


@pytest.mark.parametrize(("caps", "words", "is_for_all"), REASONS)
def test_a_refusal_says_why(rig: SummaryRig, caps, words, is_for_all) -> None:
    refused = reserve(rig, **caps)
    assert words in refused.reason
    assert refused.is_for_all is is_for_all
    assert 0 < refused.retry_after_seconds <= 90_000
