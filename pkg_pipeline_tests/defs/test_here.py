"""Runs in this process: order, what makes no run at all, what a failure leaves undone."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import orphans
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.hops import ASSETS
from pkg_pipeline.defs.keys import keys_between
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline_tests.defs.fakes import CHUNKS, SUMMARIES, FakeMemory

MONTHS = [f"2024-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 29)]


def run_due(memory: FakeMemory, instance: dg.DagsterInstance, assets: tuple[str, ...] = ASSETS) -> list[RunRow]:
    rows: list[RunRow] = []
    here.run_due(LocalRuns(memory, instance), memory, assets, rows.append)
    return rows


def test_nothing_due_makes_no_run(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path)
    assert not any(has_work(memory, asset) for asset in ASSETS)
    assert run_due(memory, instance) == []
    assert instance.get_runs() == []


def test_the_flow_goes_from_the_inbox_to_the_days_and_the_second_time_finds_nothing(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    memory = FakeMemory(tmp_path, due={"interactions": ["chat-a"], SUMMARIES: ["2024-05-01", "2024-05-03"]})
    memory.settings.inbox.mkdir()
    (memory.settings.inbox / "a.jsonl").write_text("{}", encoding="utf-8")
    rows = run_due(memory, instance)
    assert [(row.asset, row.partition, row.status, row.rows) for row in rows] == [
        ("messages", None, "done", 3),
        ("interactions", None, "done", 5),
        (SUMMARIES, "2024-05-01", "done", 2),
        (SUMMARIES, "2024-05-03", "done", 2),
    ]
    runs = instance.get_runs()
    assert len(runs) == 3
    for run in runs:  # what Dagster's timeline shows a run under
        assert run.remote_job_origin is not None
        assert run.remote_job_origin.location_name == "pkg_pipeline"
        assert run.remote_job_origin.job_name == run.job_name
    assert run_due(memory, instance) == []
    assert len(instance.get_runs()) == 3


def test_only_one_asset_is_run_when_asked_for(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-01"]}, silent=2)
    assert [row.asset for row in run_due(memory, instance, ("interactions",))] == ["interactions"]
    assert memory.summarized == []


def test_fifty_six_due_days_are_two_runs_in_the_backfill_lane(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: MONTHS})
    rows = run_due(memory, instance)
    assert [row.partition for row in rows] == MONTHS
    assert len({row.run_id for row in rows}) == 2
    assert {lane for _, lane, _ in memory.summarized} == {"backfill"}


def test_a_run_that_stops_names_the_days_it_did_not_reach_and_no_further_run_starts(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    stopping = LlmMisconfigured("the API refused ANTHROPIC_API_KEY")
    memory = FakeMemory(tmp_path, due={SUMMARIES: MONTHS}, fail_at=("2024-01-03", stopping))
    rows = run_due(memory, instance)
    assert [(row.partition, row.status) for row in rows] == [
        ("2024-01-01", "done"),
        ("2024-01-02", "done"),
        ("2024-01-03...2024-02-02", "failed"),  # the rest of thirty due days
    ]
    assert rows[-1].error == "the summaries stopped: the API refused ANTHROPIC_API_KEY"
    assert len(instance.get_runs()) == 1


def test_how_far_it_is_is_told_asset_by_asset_and_partition_by_partition(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    memory = FakeMemory(tmp_path, due={SUMMARIES: MONTHS[:40], CHUNKS: MONTHS[:1]}, silent=1)
    told: list[tuple[str, int, int]] = []
    runs = LocalRuns(memory, instance, on_part=lambda *part: told.append(part))
    here.run_due(runs, memory, ASSETS, lambda _: None)
    steps = list(dict.fromkeys(told))
    assert steps[:2] == [("interactions", 0, 1), ("interactions", 1, 1)]
    assert steps[2:43] == [(SUMMARIES, done, 40) for done in range(41)]
    assert steps[43:] == [(CHUNKS, 0, 1), (CHUNKS, 1, 1)]


def test_a_range_takes_every_day_due_or_not(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    from datetime import date

    memory = FakeMemory(tmp_path, due={SUMMARIES: ["2024-05-02"]})
    rows: list[RunRow] = []
    days = keys_between(date(2024, 5, 1), date(2024, 5, 4))
    here.run_partitions(LocalRuns(memory, instance), SUMMARIES, days, rows.append)
    assert [row.partition for row in rows] == days
    assert [key for key, _, _ in memory.summarized] == days


def test_a_run_here_says_which_process_it_lives_in(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    run_due(FakeMemory(tmp_path, silent=1), instance)
    (run,) = instance.get_runs()
    assert run.tags[orphans.PROCESS_TAG] == orphans.process_tag()
    assert not orphans.is_dead(run.tags)
