"""P12, P32 seen from a run: what a cap stops, what it does not, and that it is visible; a pinned PKG_NOW."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, USUAL, ScriptedLlm, SummaryRig

DAY = timedelta(days=1)
ASSET = "interaction_summaries"


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path, size=12)
    yield made
    made.close()


def talk(rig: SummaryRig, count: int) -> None:
    for index in range(count):
        rig.say(f"c{index}", [f"topic{index}. {text}" for text in USUAL], at=OLD + index * DAY)
    rig.load()


class PricedLlm(ScriptedLlm):
    """Costs by the length of what is asked."""

    def price(self, usage: Usage) -> float:
        return usage.input_tokens / 1e6


def test_a_cap_defers_visibly_and_fails_nothing(rig: SummaryRig) -> None:
    talk(rig, 5)
    llm = ScriptedLlm()
    reports = rig.summarize(llm, lane="live", calls_cap=2)
    assert len(llm.requests) == 2
    assert sum(report.summarized for report in reports) == 2
    assert [report.pending for report in reports if report.pending] == [1, 1, 1]
    assert all("2 calls of today are used up" in report.reasons[-1] for report in reports if report.pending)
    assert rig.one("SELECT count(*) FROM summary_attempts") == 0
    assert rig.one("SELECT count(*) FROM leases") == 0
    assert rig.partitions.due(ASSET, now=NOW) == []
    midnight = rig.one("SELECT date_trunc('day', clock_timestamp()) + interval '1 day'")
    resumes = rig.rows("SELECT resume_at FROM partition_states WHERE pending > 0")
    assert all(timedelta(seconds=-1) < at - midnight < timedelta(seconds=9) for (at,) in resumes)


def test_the_next_day_it_goes_on_though_the_memorys_clock_stands_still(rig: SummaryRig) -> None:
    """With PKG_NOW pinned the memory's tomorrow never comes; budgets follow the real calendar."""
    talk(rig, 5)
    rig.summarize(lane="live", calls_cap=2)
    assert rig.partitions.due(ASSET, now=NOW) == []
    rig.run("UPDATE budgets SET day = day - 1")
    rig.run("UPDATE partition_states SET resume_at = resume_at - interval '1 day'")
    due = rig.partitions.due(ASSET, now=NOW)
    assert len(due) == 3
    reports = rig.summarize(lane="live", calls_cap=2)
    assert sum(report.summarized for report in reports) == 2
    assert len(rig.partitions.due(ASSET, now=NOW)) == 0
    assert [report.pending for report in reports if report.pending] == [1]


def test_the_real_time_does_not_make_young_days_due_under_a_pinned_clock(rig: SummaryRig) -> None:
    rig.say("young", at=NOW - 2 * DAY)
    rig.load()
    rig.summarize()
    assert rig.one("SELECT count(*) FROM partition_states WHERE pending = 1") == 1
    assert rig.partitions.due(ASSET, now=NOW) == []
    assert len(rig.partitions.due(ASSET, now=NOW + 6 * DAY)) == 1


def test_eight_workers_together_keep_to_the_caps(rig: SummaryRig) -> None:
    talk(rig, 24)
    together = threading.Barrier(8)
    models = [ScriptedLlm(usd_per_call=0.01) for _ in range(8)]

    def work(index: int) -> None:
        together.wait()
        rig.summarize(models[index], lane="live", calls_cap=11, usd_cap=1.0, holder=f"worker {index}")

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    assert sum(len(model.requests) for model in models) == 11
    assert rig.rows("SELECT calls, spent_usd::float8, reserved_usd::float8 FROM budgets") == [(11, 0.11, 0.0)]
    assert rig.one("SELECT count(*) FROM interaction_summaries WHERE status = 'completed'") == 11
    assert rig.one("SELECT count(*) FROM leases") == 0


def test_money_spent_stays_under_the_cap_whatever_a_call_may_cost(rig: SummaryRig) -> None:
    talk(rig, 10)
    llm = ScriptedLlm(usd_per_call=0.01)
    rig.summarize(llm, usd_cap=0.055, concurrency=4)
    spent = rig.one("SELECT spent_usd::float8 FROM budgets")
    assert 0 < spent <= 0.055
    assert rig.one("SELECT reserved_usd::float8 FROM budgets") == 0


def test_one_that_alone_costs_more_than_a_day_waits_and_stops_nobody(rig: SummaryRig) -> None:
    """Oldest first it would be asked for first every day, and nothing would ever be summarised."""
    rig.say("huge", ["word " * 9_000, *USUAL])
    rig.say("after", at=OLD + DAY)
    rig.load()
    llm = PricedLlm()
    reports = rig.summarize(llm, usd_cap=0.02)
    assert (rig.status_of("huge"), rig.status_of("after")) == ([], ["completed"])
    assert rig.rows("SELECT attempts, state FROM summary_attempts") == [(0, "waiting")]
    [waits] = [report for report in reports if report.pending]
    assert "more than the backfill lane's 0.02 USD of a day" in waits.reasons[0]
    rig.summarize(llm, usd_cap=0.02)
    assert llm.calls_about("word word") == 0
    rig.retries_are_due()
    rig.summarize(llm, usd_cap=5.0)
    assert rig.status_of("huge") == ["completed"]


def test_an_offline_model_has_no_cap(rig: SummaryRig) -> None:
    talk(rig, 3)
    llm = ScriptedLlm(is_paid=False)
    rig.summarize(llm, calls_cap=0, usd_cap=0.0)
    assert len(llm.requests) == 3
    assert rig.one("SELECT count(*) FROM budgets") == 0
