"""Leases, fencing, heartbeats, and workers killed with SIGKILL: once and only once, whoever dies when."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline.stages.summaries.stores import Claimed
from pkg_pipeline_tests.stages.dying_worker import PLACES, killed_at
from pkg_pipeline_tests.stages.summaries.summary_rig import (
    ALL_DAYS,
    OLD,
    USUAL,
    ScriptedLlm,
    SummaryRig,
    good_answer,
)

HOUR = timedelta(hours=1)
KILLED_WORKERS = 2


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path, size=12)
    yield made
    made.close()


def talk(rig: SummaryRig, count: int) -> None:
    for index in range(count):
        rig.say(f"c{index}", [f"topic{index}. {text}" for text in USUAL], at=OLD + index * HOUR)
    rig.load()


def claim(rig: SummaryRig, *, lease_seconds: float = 300, holder: str = "somebody") -> list[Claimed]:
    eligibility = rig.stage(prompt_version="summary/3").eligibility()
    return rig.store.claim(ALL_DAYS, eligibility=eligibility, limit=8, holder=holder, lease_seconds=lease_seconds)


def test_eight_workers_on_one_day_summarise_each_interaction_once(rig: SummaryRig) -> None:
    talk(rig, 14)
    together = threading.Barrier(8)
    models = [ScriptedLlm() for _ in range(8)]

    def work(index: int) -> int:
        together.wait()
        return sum(report.summarized for report in rig.summarize(models[index], holder=f"worker {index}"))

    with ThreadPoolExecutor(8) as workers:
        made = list(workers.map(work, range(8)))
    assert sum(made) == 14
    assert sum(len(model.requests) for model in models) == 14
    assert rig.rows(
        "SELECT status, count(*), min(revision_count), max(revision_count) FROM interaction_summaries GROUP BY 1"
    ) == [("completed", 14, 1, 1)]
    assert rig.one("SELECT count(*) FROM leases") == 0


def test_a_zombies_result_is_refused_and_leaves_nothing_behind(rig: SummaryRig) -> None:
    """Its lease ran out, another worker published; what the zombie brings later changes no row."""
    talk(rig, 1)
    seen: list[Any] = []

    def slow(request: LlmRequest) -> object:
        rig.leases_ran_out()
        rig.summarize(ScriptedLlm(lambda other: good_answer(other.payload, tone="formal")), holder="the next")
        seen.extend(
            (rig.digest(), rig.rows("SELECT ctid FROM interaction_summaries"), rig.rows("SELECT * FROM leases"))
        )
        return good_answer(request.payload, tone="negative")

    report = rig.summarize(ScriptedLlm(slow), holder="the zombie")[OLD.timetuple().tm_yday - 1]
    assert report.summarized == 0
    assert "another worker had taken it over" in report.reasons
    assert [rig.digest(), rig.rows("SELECT ctid FROM interaction_summaries"), rig.rows("SELECT * FROM leases")] == seen
    assert rig.one("SELECT tone FROM interaction_summaries") == "formal"


def test_a_zombie_whose_successor_is_still_working_is_refused_too(rig: SummaryRig) -> None:
    talk(rig, 1)

    def slow(request: LlmRequest) -> object:
        rig.leases_ran_out()
        assert len(claim(rig, holder="the next")) == 1
        return good_answer(request.payload)

    rig.summarize(ScriptedLlm(slow))
    assert rig.rows("SELECT holder FROM leases") == [("the next",)]
    assert rig.one("SELECT count(*) FROM interaction_summaries") == 0


def test_a_failing_zombie_does_not_count_its_attempt(rig: SummaryRig) -> None:
    talk(rig, 1)

    def slow(request: LlmRequest) -> object:
        rig.leases_ran_out()
        claim(rig, holder="the next")
        return "bad"

    rig.summarize(ScriptedLlm(slow))
    assert rig.one("SELECT count(*) FROM summary_attempts") == 0
    assert rig.one("SELECT count(*) FROM interaction_summaries") == 0


def test_a_call_slower_than_the_lease_keeps_it(rig: SummaryRig) -> None:
    """Without a heartbeat another worker takes it after 0.4 s and it is paid twice."""
    talk(rig, 1)
    stolen: list[Claimed] = []

    def slow(request: LlmRequest) -> object:
        with engine.connect(rig.url, autocommit=True) as connection:
            first = connection.execute("SELECT expires_at FROM leases").fetchone()
            assert first is not None
            for _ in range(2):  # two lease lengths, by the database's clock
                connection.execute("SELECT pg_sleep_until(%s + interval '0.4 seconds')", first)
                stolen.extend(claim(rig))
        return good_answer(request.payload)

    rig.summarize(ScriptedLlm(slow), lease_seconds=0.4)
    assert stolen == []
    assert rig.status_of("c0") == ["completed"]


def test_the_heartbeat_never_renews_what_another_worker_holds(rig: SummaryRig) -> None:
    talk(rig, 1)
    mine = claim(rig)
    rig.leases_ran_out()
    claim(rig, holder="the next")
    before = rig.rows("SELECT token, holder, expires_at FROM leases")
    rig.store.renew(mine, lease_seconds=9_999)
    rig.store.release(mine)
    assert rig.rows("SELECT token, holder, expires_at FROM leases") == before


@pytest.fixture
def undisturbed(rig: SummaryRig) -> tuple[list[Any], int]:
    """The digest of a run that nobody disturbs, and its calls; the memory is as before afterwards."""
    talk(rig, 3)
    with FakeAnthropic() as fake, rig.anthropic(fake.url) as llm:
        marks = rig.rows("SELECT asset, partition_key, reason, due_at::text FROM dirty_partitions")
        rig.summarize(llm)
        calls = len(fake.journal)
    digest = rig.digest()
    tables = "interaction_summaries, llm_calls, llm_call_subjects, budgets, partition_states"
    rig.run(f"TRUNCATE {tables}")
    for mark in marks:
        rig.run(
            "INSERT INTO dirty_partitions (asset, partition_key, reason, due_at) VALUES (%s, %s, %s, %s::timestamptz)",
            *mark,
        )
    assert digest
    return digest, calls


@pytest.mark.parametrize("point", PLACES["summaries"])
def test_killed_anywhere_the_rerun_ends_as_if_nothing_had_happened(rig: SummaryRig, undisturbed, point: str) -> None:
    digest, calls = undisturbed
    with FakeAnthropic() as fake, rig.anthropic(fake.url) as llm:
        # once everything is written down, a second worker finds nothing to die over
        workers = KILLED_WORKERS if point != "finished" else 1
        for _ in range(workers):
            killed_at("summaries", rig, fake.url, point)
            rig.leases_ran_out()
        rig.summarize(llm)
        paid = len(fake.journal)
    assert rig.digest() == digest
    assert paid <= calls + workers  # at most one repeated call a worker
    booked = rig.one("SELECT count(*) FROM llm_calls WHERE outcome = 'ok'")
    assert booked == calls
    assert paid == calls + (workers if point == "replied" else 0)
    assert rig.one("SELECT count(*) FROM leases") == 0
    # a reservation of a dead worker stays: the call may have been charged
    assert rig.one("SELECT sum(spent_usd) FROM budgets") <= rig.one("SELECT sum(cost_usd) FROM llm_calls")
