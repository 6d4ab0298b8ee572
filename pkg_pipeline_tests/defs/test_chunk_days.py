"""``memory_chunks`` in a real instance: when it is asked for, what is marked, what its checks and its log say."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import dagster as dg

from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import sensors
from pkg_pipeline.defs.hops import ASSETS
from pkg_pipeline.defs.lanes import range_of
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import CHUNKS, FIRST_DAY, SUMMARIES, FakeMemory

RANGE = {"dagster__asset_partition_range_start": "2024-05-01", "dagster__asset_partition_range_end": "2024-05-03"}


def test_each_day_is_marked_with_its_numbers_and_what_holds_it_is_said_once(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, left=3)
    result = execute(memory, "chunk_days", **RANGE)
    assert result.success
    assert memory.chunked == ["2024-05-01", "2024-05-02", "2024-05-03"]
    records = instance.fetch_materializations(dg.AssetKey(CHUNKS), limit=9, ascending=True).records
    assert [record.partition_key for record in records] == memory.chunked
    event = records[0].asset_materialization
    assert event is not None
    assert {name: value.value for name, value in event.metadata.items()} == {
        "rows": 5,
        "interactions": 2,
        "chunks": 9,
        "kept": 4,
        "embedded": 5,
        "refused": 1,
        "removed": 0,
        "pending": 1,
        "seconds": 0.5,
    }
    said = [entry.user_message for entry in instance.all_logs(result.run_id) if "no vectors" in entry.user_message]
    assert said == ["no vectors from offline:none: it rests"]
    checks = {one.check_name: (one.passed, one.severity) for one in result.get_asset_check_evaluations()}
    assert checks == {
        "pending": (False, dg.AssetCheckSeverity.WARN),
        "coverage": (True, dg.AssetCheckSeverity.ERROR),
        "orphans": (True, dg.AssetCheckSeverity.ERROR),
    }
    assert memory.verified == [(CHUNKS, ("coverage", "orphans"), (date(2024, 5, 1), date(2024, 5, 3)))]


def test_a_failing_check_of_chunks_holds_nothing_back(
    tmp_path: Path, instance: dg.DagsterInstance, execute: Execute
) -> None:
    memory = FakeMemory(tmp_path, due={CHUNKS: ["2024-05-01"]})
    memory.wrong[CHUNKS, "coverage"] = Verdict("coverage", False, False, "1 without chunk", {"wrong": 1})
    rows: list[RunRow] = []
    runs = LocalRuns(memory, instance)
    here.run_due(runs, memory, (CHUNKS,), rows.append)
    assert [(row.asset, row.partition, row.status, row.pending) for row in rows] == [(CHUNKS, "2024-05-01", "done", 1)]
    assert [(one.asset, one.check, one.is_blocking) for one in runs.failing_checks] == [(CHUNKS, "coverage", False)]


def test_what_is_due_runs_after_the_summaries(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={CHUNKS: ["2024-05-02"], SUMMARIES: ["2024-05-01"]})
    rows: list[RunRow] = []
    here.run_due(LocalRuns(memory, instance), memory, ASSETS, rows.append)
    assert [(row.asset, row.partition) for row in rows] == [(SUMMARIES, "2024-05-01"), (CHUNKS, "2024-05-02")]


def test_the_sensor_asks_for_due_days_with_run_keys(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path, due={CHUNKS: ["2024-05-01", "2024-05-02"]})
    (sensor,) = [one for one in sensors.build(memory.settings, start=FIRST_DAY) if one.name == "due_chunks"]
    with dg.build_sensor_context(instance=instance, resources={"memory": memory}) as context:
        data = sensor.evaluate_tick(context)
        (request,) = data.run_requests or []
        assert range_of(request.tags) == ("2024-05-01", "2024-05-02")
        assert request.run_key == "2024-05-01...2024-05-02:7:1:2"
        memory.partitions.due_keys.clear()
        assert sensor.evaluate_tick(context).skip_message == "everything is searchable"
