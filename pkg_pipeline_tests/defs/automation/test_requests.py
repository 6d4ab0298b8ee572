"""From due days to run requests: batches, keys, what is under way, pauses after failures."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg
import pytest

from pkg_pipeline.defs.automation import requests
from pkg_pipeline.defs.lanes import range_of
from pkg_pipeline.stages.partitions import DuePartition
from pkg_pipeline_tests.defs.fakes import SUMMARIES

JOB = "summarize_days"


def due(*keys: str, version: int = 7, attempt: int = 1) -> list[DuePartition]:
    return [DuePartition(SUMMARIES, key, version, attempt) for key in keys]


def test_thirty_days_make_one_run_and_the_key_names_ends_and_maxima() -> None:
    days = [*due(*(f"2024-01-{day:02}" for day in range(1, 32)), version=3), *due("2024-02-19", version=9, attempt=4)]
    first, second = requests.for_partitions(days, lane="live")
    assert range_of(first.tags) == ("2024-01-01", "2024-01-30")
    assert first.run_key == "2024-01-01...2024-01-30:3:1:30"
    assert range_of(second.tags) == ("2024-01-31", "2024-02-19")
    assert second.run_key == "2024-01-31...2024-02-19:9:4:2"
    assert second.tags["pkg/reason"] == "2 days from 2024-01-31 to 2024-02-19"
    assert {request.tags["pkg/lane"] for request in (first, second)} == {"live"}


def test_no_more_runs_than_asked_for_and_the_oldest_first() -> None:
    days = due(*(f"2024-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 29)))
    made = requests.for_partitions(days, lane="live", limit=2)
    assert [request.tags["dagster/asset_partition_range_start"] for request in made] == ["2024-01-01", "2024-02-03"]


def test_a_new_mark_an_attempt_or_a_failure_makes_another_key() -> None:
    """Dagster never runs a key twice: a failed run with its key again would be lost for ever."""
    keys = {
        requests.run_key(due("2024-01-01"), 0),
        requests.run_key(due("2024-01-01", version=8), 0),
        requests.run_key(due("2024-01-01", attempt=2), 0),
        requests.run_key(due("2024-01-01"), 1),
        requests.run_key(due("2024-01-01"), 2),
    }
    assert len(keys) == 5


@pytest.mark.parametrize(
    ("tags", "left"),
    [
        ([], ["2024-01-01", "2024-01-02", "2024-01-05"]),
        ([{"dagster/partition": "2024-01-02"}], ["2024-01-01", "2024-01-05"]),
        (
            [
                {
                    "dagster/asset_partition_range_start": "2023-12-01",
                    "dagster/asset_partition_range_end": "2024-01-02",
                }
            ],
            ["2024-01-05"],
        ),
        ([{"pkg/lane": "live"}], ["2024-01-01", "2024-01-02", "2024-01-05"]),
    ],
)
def test_days_of_queued_and_running_runs_are_not_asked_for(tags: list[dict[str, str]], left: list[str]) -> None:
    days = due("2024-01-01", "2024-01-02", "2024-01-05")
    assert [one.key for one in requests.not_under_way(days, tags)] == left


def finished(instance: dg.DagsterInstance, *outcomes: str) -> None:
    for outcome in outcomes:
        run = instance.create_run_for_job(_job(), tags={})
        match outcome:
            case "success":
                instance.report_dagster_event(_event(run, dg.DagsterEventType.RUN_SUCCESS), run.run_id)
            case "failure":
                instance.report_run_failed(run, "it failed")
            case _:
                instance.report_run_canceled(run, "somebody stopped it")


def _event(run: dg.DagsterRun, kind: dg.DagsterEventType) -> dg.DagsterEvent:
    return dg.DagsterEvent(event_type_value=kind.value, job_name=run.job_name)


def _job() -> dg.JobDefinition:
    @dg.op
    def nothing() -> None: ...

    @dg.job(name=JOB)
    def job() -> None:
        nothing()

    return job


@pytest.mark.parametrize(
    ("outcomes", "failures", "pause_seconds"),
    [
        ((), 0, None),
        (("failure", "success"), 0, None),
        (("success", "failure"), 1, 60),
        (("failure", "failure"), 2, 120),
        (("failure", "canceled", "failure"), 3, 240),
        (("failure",) * 9, 8, 3600),  # 60 × 2⁷ = 7680, held to an hour
    ],
)
def test_a_job_that_keeps_failing_is_asked_for_ever_more_rarely(
    instance: dg.DagsterInstance, outcomes: Sequence[str], failures: int, pause_seconds: float | None
) -> None:
    finished(instance, *outcomes)
    found = requests.streak(instance, JOB)
    assert found.failures == failures
    assert found.pause_until == (0.0 if pause_seconds is None else pytest.approx(found.ended_at + pause_seconds))
    assert requests.streak(instance, "another job") == requests.Streak(0, 0.0)
