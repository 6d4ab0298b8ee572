"""P32 with answers that nobody reads: each may have been charged, so each is booked; many in a row stop the lane."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.llm.prices import price
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.stores import UNANSWERED_LIMIT
from pkg_pipeline.stages.monitoring.queue_report import queue
from pkg_pipeline.stages.monitoring.stage import statistics
from pkg_pipeline_tests.stages.dying_worker import killed_at
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, USUAL, SummaryRig

CAP = 0.02
TALKS = 40

UNREAD = {
    "no answer": {"drop": "before"},
    "half an answer": {"drop": "half"},
    "half the JSON": {"cut_body": True},
    "too slow": {"delay_seconds": 30.0},
}


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path, size=10)
    yield made
    made.close()


def talk(rig: SummaryRig, count: int) -> None:
    for index in range(count):
        rig.say(f"c{index}", [f"topic{index}. {text}" for text in USUAL], at=OLD + timedelta(hours=index))
    rig.load()


def paid(fake: FakeAnthropic) -> float:
    """What a service would charge that charges for everything it answered, whether it was read or not."""
    used = [entry["usage"] for entry in fake.journal if entry.get("usage")]
    return sum(price("claude-haiku-5-5", Usage(usage["input_tokens"], usage["output_tokens"])) for usage in used)


def books(rig: SummaryRig) -> dict[str, Any]:
    [(spent, reserved)] = rig.rows("SELECT sum(spent_usd)::float8, sum(reserved_usd)::float8 FROM budgets")
    return {
        "ledger": float(rig.one("SELECT coalesce(sum(cost_usd), 0) FROM llm_calls")),
        "spent": spent,
        "reserved": reserved,
        "unknown": rig.one("SELECT count(*) FROM llm_calls WHERE outcome = 'unknown'"),
        "open": rig.one("SELECT count(*) FROM budget_reservations"),
    }


@pytest.mark.parametrize("fault", UNREAD.values(), ids=UNREAD)
@pytest.mark.parametrize("concurrency", [1, 4])
def test_answers_that_break_off_never_cost_more_than_the_cap_and_one_call(rig, fault, concurrency: int) -> None:
    talk(rig, TALKS)
    with (
        FakeAnthropic(rules=[Fault(**fault)]) as fake,
        rig.anthropic(fake.url, timeout_seconds=0.1 if "delay_seconds" in fault else 5.0) as llm,
    ):
        for _ in range(6):  # as often as somebody runs it that day
            rig.summarize(llm, usd_cap=CAP, concurrency=concurrency)
            rig.retries_are_due()
        fake.stop()
        charged = paid(fake)
        dearest = max(price("claude-haiku-5-5", Usage(u["input_tokens"], u["output_tokens"])) for u in _usages(fake))
    found = books(rig)
    assert charged <= CAP + dearest
    assert charged <= found["ledger"] <= CAP
    assert found["ledger"] == pytest.approx(found["spent"])
    assert (found["reserved"], found["open"]) == (0.0, 0)
    assert found["unknown"] == len(fake.journal) > 0
    assert found["unknown"] <= UNANSWERED_LIMIT + concurrency - 1


def _usages(fake: FakeAnthropic) -> list[dict[str, int]]:
    return [entry["usage"] for entry in fake.journal if entry.get("usage")]


def test_a_cap_below_the_limit_stops_first(rig: SummaryRig) -> None:
    talk(rig, 3)
    with FakeAnthropic(rules=[Fault(drop="half")]) as fake, rig.anthropic(fake.url) as llm:
        rig.summarize(llm, usd_cap=0.02)
        assert 0 < paid(fake) <= books(rig)["ledger"] <= 0.02


def test_so_many_in_a_row_stop_the_lane_for_an_hour_and_say_why(rig: SummaryRig) -> None:
    talk(rig, 6)
    with FakeAnthropic(rules=[Fault(drop="half")]) as fake, rig.anthropic(fake.url) as llm:
        reports = rig.summarize(llm)
        assert len(fake.journal) == UNANSWERED_LIMIT
        fake.script.replace([])
        rig.retries_are_due()
        again = rig.summarize(llm)
        assert len(fake.journal) == UNANSWERED_LIMIT  # a new process does not begin anew
        for run in (reports, again):
            said = " ".join(reason for report in run for reason in report.reasons)
            assert "5 calls of the backfill lane went out and brought no whole answer" in said
        store, params = rig.memory.monitoring.store, rig.memory.monitoring.params
        lanes = {lane["lane"]: lane for lane in statistics(store, params, now=rig.now).to_json()["budget"]}
        assert "brought no whole answer" in lanes["backfill"]["stop_reason"]
        assert lanes["live"]["stop_reason"] is None
        [stopped] = queue(store, params, now=rig.now, limit=5)["stopped"]
        assert (stopped["lane"], stopped["reason"]) == ("backfill", lanes["backfill"]["stop_reason"])
        assert stopped["until"]
        rig.run("UPDATE llm_calls SET created_at = created_at - interval '61 minutes'")
        rig.run("UPDATE partition_states SET resume_at = NULL")
        done = rig.summarize(llm)
    assert sum(report.summarized for report in done) == 6
    assert queue(store, params, now=rig.now, limit=5)["stopped"] == []


def test_an_answer_between_them_begins_the_count_anew(rig: SummaryRig) -> None:
    talk(rig, 6)
    rules = [Fault(drop="half", call=call) for call in (1, 2, 4, 5, 7, 8, 10, 11)]
    with FakeAnthropic(rules=rules) as fake, rig.anthropic(fake.url) as llm:
        reports = rig.summarize(llm)
    assert sum(report.summarized for report in reports) == 6
    found = books(rig)
    assert (found["unknown"], found["reserved"]) == (8, 0.0)
    assert found["ledger"] == pytest.approx(found["spent"])


@pytest.mark.parametrize("point", ["asked", "replied"])
def test_what_a_killed_worker_may_have_spent_is_booked_when_its_lease_ends_and_once(rig, point: str) -> None:
    talk(rig, 1)
    with FakeAnthropic() as fake:
        killed_at("summaries", rig, fake.url, point)
        reserved = books(rig)["reserved"]
        assert (books(rig)["ledger"], books(rig)["open"], reserved > 0) == (0.0, 1, True)
        rig.budgets.settle_lost()
        assert books(rig)["open"] == 1  # its lease has not ended
        rig.run("UPDATE budget_reservations SET expires_at = clock_timestamp()")
        for _ in range(3):
            rig.budgets.settle_lost()
        found = books(rig)
        assert found == {
            "ledger": pytest.approx(reserved),
            "spent": pytest.approx(reserved),
            "reserved": 0.0,
            "unknown": 1,
            "open": 0,
        }
        rig.leases_ran_out()
        with rig.anthropic(fake.url) as llm:
            reports = rig.summarize(llm)
        assert sum(report.summarized for report in reports) == 1
        assert paid(fake) <= books(rig)["ledger"] == pytest.approx(books(rig)["spent"])


def test_a_worker_killed_after_its_answer_was_booked_costs_no_more(rig: SummaryRig) -> None:
    talk(rig, 1)
    with FakeAnthropic() as fake:
        killed_at("summaries", rig, fake.url, "booked")
        before = books(rig)
        rig.run("UPDATE budget_reservations SET expires_at = clock_timestamp()")
        rig.budgets.settle_lost()
        found = books(rig)
    assert (found["unknown"], found["open"], found["reserved"]) == (0, 0, 0.0)
    assert before["ledger"] == found["ledger"] == pytest.approx(found["spent"])
    assert rig.one("SELECT calls FROM budgets") == 1


def test_one_that_was_taken_for_dead_and_answers_late_is_booked_at_what_it_cost(rig: SummaryRig) -> None:
    talk(rig, 1)
    with FakeAnthropic() as fake, rig.anthropic(fake.url) as llm:
        plain = llm.complete

        def slow(request: Any) -> Any:
            reply = plain(request)
            rig.run("UPDATE budget_reservations SET expires_at = clock_timestamp()")
            rig.budgets.settle_lost()
            assert books(rig)["unknown"] == 1
            return reply

        llm.complete = slow  # type: ignore[method-assign]
        rig.summarize(llm)
        found = books(rig)
    assert (found["unknown"], found["reserved"], found["open"]) == (0, 0.0, 0)
    assert found["ledger"] == pytest.approx(found["spent"]) == pytest.approx(paid(fake), abs=1e-6)
    assert rig.one("SELECT calls FROM budgets") == 1
