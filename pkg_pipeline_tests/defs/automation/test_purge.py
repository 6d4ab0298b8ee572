"""Old runs go, but never the one that made a partition what it is, and never one that is not finished."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pkg_pipeline.defs.automation import purge
from pkg_pipeline.defs.resources import RESOURCE
from pkg_pipeline.settings import Settings
from pkg_pipeline_tests.defs.fakes import FakeMemory

LATER = 40 * 86_400.0


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(["a", "b"]))
def parted() -> None: ...


@dg.asset(check_specs=[dg.AssetCheckSpec("fine", asset="whole")])
def whole() -> dg.MaterializeResult:
    return dg.MaterializeResult(check_results=[dg.AssetCheckResult(passed=True)])


def made(instance: dg.DagsterInstance, partition: str | None = None) -> str:
    return dg.materialize([whole if partition is None else parted], partition_key=partition, instance=instance).run_id


def left(instance: dg.DagsterInstance) -> set[str]:
    return {run.run_id for run in instance.get_runs()}


def job_of(definition: dg.AssetsDefinition) -> dg.JobDefinition:
    made_job = dg.define_asset_job("job", selection=[definition])
    return dg.Definitions(assets=[definition], jobs=[made_job]).resolve_job_def("job")


def test_the_newest_run_of_each_partition_stays(instance: dg.DagsterInstance) -> None:
    first_a, b, second_a, old_whole, new_whole = (made(instance, key) for key in ("a", "b", "a", None, None))
    assert purge.purge(instance, before=time.time() + LATER) == (2, 3)
    assert left(instance) == {b, second_a, new_whole}
    assert first_a not in left(instance)
    assert old_whole not in left(instance)
    assert instance.get_materialized_partitions(dg.AssetKey("parted")) == {"a", "b"}
    assert purge.purge(instance, before=time.time() + LATER) == (0, 3)


def test_failed_runs_go_and_unfinished_ones_stay(instance: dg.DagsterInstance) -> None:
    job = job_of(whole)
    failed = instance.create_run_for_job(job)
    instance.report_run_failed(failed)
    waiting = [
        instance.create_run_for_job(job, status=status)
        for status in (dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED)
    ]
    assert purge.purge(instance, before=time.time() + LATER) == (1, 0)
    assert left(instance) == {run.run_id for run in waiting}


def test_young_runs_stay(instance: dg.DagsterInstance) -> None:
    made(instance, "a")
    made(instance, "a")
    assert purge.purge(instance, before=time.time() - 60) == (0, 0)


def test_a_bound_leaves_the_rest_to_the_next_morning(instance: dg.DagsterInstance) -> None:
    runs = [made(instance, "a") for _ in range(4)]
    assert purge.purge(instance, before=time.time() + LATER, most=2) == (2, 0)
    assert left(instance) == set(runs[2:])
    assert purge.purge(instance, before=time.time() + LATER, most=2) == (1, 1)


def test_what_a_check_last_found_stays(instance: dg.DagsterInstance) -> None:
    """The run that evaluated it last made nothing: the asset's newest materialisation is another run's."""
    checked = made(instance)
    instance.report_runless_asset_event(dg.AssetMaterialization("whole"))
    assert purge.purge(instance, before=time.time() + LATER) == (0, 1)
    assert left(instance) == {checked}


def test_the_job_purges_by_the_settings_and_says_how_many(instance: dg.DagsterInstance, tmp_path: Path) -> None:
    made(instance, "a")
    newest = made(instance, "a")
    job = purge.build_job(Settings(home=tmp_path, purge_runs_after_days=30), wall=lambda: time.time() + 31 * 86_400)
    result = job.execute_in_process(
        instance=instance,
        resources={RESOURCE: FakeMemory(tmp_path)},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    assert result.success
    assert newest in left(instance)
    assert len(left(instance)) == 2, "the newest of the partition, and the purge itself"


def test_the_schedule_is_on_in_the_memorys_time_zone(tmp_path: Path) -> None:
    schedule = purge.build_schedule(Settings(home=tmp_path, timezone="Asia/Kolkata"))
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("0 7 * * *", "Asia/Kolkata")
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING
