"""``requested_backfills`` and what tags ask a run for, over a real instance and a fake memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import dagster as dg
import pytest

from pkg_pipeline.defs import hops, lanes
from pkg_pipeline.defs import local_runs as here
from pkg_pipeline.defs.automation import backfills, requests
from pkg_pipeline.defs.local_runs import LocalRuns, RunRow
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline_tests.defs.conftest import Execute
from pkg_pipeline_tests.defs.fakes import SUMMARIES, FakeMemory

LATER = 4102444800.0  # unix seconds, long after any run here ended
ONE, TWO = UUID(int=1), UUID(int=2)
MONTHS = [f"2024-{month:02}-{day:02}" for month in range(1, 9) for day in range(1, 29)]


def tick(memory: FakeMemory, instance: dg.DagsterInstance, *, cursor: str | None = None, wall: float = LATER) -> Any:
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources={"memory": memory}) as context:
        return backfills.build(wall=lambda: wall).evaluate_tick(context)


def started(instance: dg.DagsterInstance, definitions_of: Any, memory: FakeMemory, data: Any) -> None:
    """What was asked for runs."""
    job = definitions_of(memory).resolve_job_def(hops.SUMMARIES.job)
    for request in data.run_requests:
        instance.create_run_for_job(job, tags=dict(request.tags), status=dg.DagsterRunStatus.STARTED)


def test_without_an_open_backfill_nothing_is_asked_for(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    data = tick(FakeMemory(tmp_path), instance)
    assert (data.run_requests, data.skip_message) == ([], "no backfill is open")


def test_a_backfill_becomes_runs_of_its_lane_below_live_in_priority(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01", "2024-05-03"]}
    (request,) = tick(memory, instance).run_requests
    assert lanes.range_of(request.tags) == ("2024-05-01", "2024-05-03")
    assert lanes.lane_of(request.tags) == "backfill"
    assert lanes.scope_of(request.tags) == Scope(backfill_id=ONE)
    live = lanes.range_tags("2024-05-01", "2024-05-01", lane="live", only_due=True)
    assert int(request.tags["dagster/priority"]) < int(live["dagster/priority"])


def test_four_runs_a_tick_none_while_under_way_and_the_rest_afterwards(
    tmp_path: Path, instance: dg.DagsterInstance, definitions_of: Any
) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: MONTHS, TWO: ["2025-01-01"]}
    first = tick(memory, instance)
    assert len(first.run_requests) == requests.RUNS_PER_TICK
    started(instance, definitions_of, memory, first)
    again = tick(memory, instance, cursor=first.cursor)
    assert again.run_requests == []
    assert again.skip_message == f"{ONE} is under way"
    for run in instance.get_runs():
        instance.delete_run(run.run_id)
    memory.backfills.days[ONE] = MONTHS[140:]  # 84 days: three runs
    later = tick(memory, instance, cursor=first.cursor)
    spans = [lanes.range_of(request.tags) for request in later.run_requests]
    assert spans[0] == (MONTHS[140], MONTHS[169])
    assert spans[-1] == ("2025-01-01", "2025-01-01")  # the second finds room


def test_a_run_that_left_everything_is_asked_for_again_under_another_key(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """Dagster never runs a key twice; the same tick evaluated twice is the same keys."""
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01"]}
    first = tick(memory, instance)
    assert tick(memory, instance).run_requests[0].run_key == first.run_requests[0].run_key
    second = tick(memory, instance, cursor=first.cursor)
    assert second.run_requests[0].run_key != first.run_requests[0].run_key


def test_one_that_rests_waits_and_says_until_when(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01"], TWO: []}
    memory.backfills.resume_at = {ONE: datetime(2026, 3, 16, tzinfo=UTC)}
    data = tick(memory, instance)
    assert data.skip_message == f"{ONE} goes on at 2026-03-16 00:00 UTC; of {TWO} nothing can be done now"


def test_after_a_failed_run_it_holds_off(tmp_path: Path, instance: dg.DagsterInstance, execute: Execute) -> None:
    memory = FakeMemory(tmp_path, fail_at=("2024-05-01", RuntimeError("broken")))
    memory.backfills.days = {ONE: ["2024-05-01"]}
    tags = lanes.range_tags("2024-05-01", "2024-05-01", lane="backfill", only_due=False, backfill_id=ONE)
    assert not execute(
        memory, hops.SUMMARIES.job, **{name.replace("/", "__"): text for name, text in tags.items()}
    ).success
    assert "the last 1 runs failed" in tick(memory, instance, wall=0.0).skip_message
    assert len(tick(memory, instance).run_requests) == 1


@pytest.mark.parametrize(
    ("tags", "scope"),
    [
        ({"dagster/backfill": "abc"}, Scope()),
        ({"dagster/backfill": "abc", "pkg/stale": "true"}, Scope(redo_stale=True)),
        ({"pkg/stale": "yes"}, Scope()),
        ({"pkg/backfill": str(ONE)}, Scope(backfill_id=ONE)),
    ],
)
def test_a_run_from_the_ui_takes_what_its_tags_say_in_the_backfill_lane(
    tmp_path: Path, execute: Execute, tags: dict[str, str], scope: Scope
) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01"]}
    given = {"dagster/partition": "2024-05-01", **tags}
    result = execute(memory, hops.SUMMARIES.job, **{name.replace("/", "__"): text for name, text in given.items()})
    assert result.success
    assert [(key, lane) for key, lane, _ in memory.summarized] == [("2024-05-01", "backfill")]
    assert memory.scopes == [scope]


def test_a_tag_that_names_no_backfill_fails_the_run_in_one_line(tmp_path: Path, execute: Execute) -> None:
    given = {"dagster__partition": "2024-05-01", "pkg__backfill": "the big one"}
    assert not execute(FakeMemory(tmp_path), hops.SUMMARIES.job, **given).success


def test_days_of_a_backfill_are_no_obstacle_to_what_is_due(
    tmp_path: Path, instance: dg.DagsterInstance, definitions_of: Any
) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01"]}
    started(instance, definitions_of, memory, tick(memory, instance))
    assert requests.backfills_under_way(instance) == [str(ONE)]
    assert requests.under_way(instance, SUMMARIES, hops.SUMMARIES.job) == []


def test_run_goes_on_with_open_backfills_and_leaves_those_that_rest(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    memory = FakeMemory(tmp_path)
    memory.backfills.days = {ONE: ["2024-05-01", "2024-05-02"], TWO: ["2025-01-01"]}
    memory.backfills.resume_at = {TWO: datetime(2026, 3, 16, tzinfo=UTC)}
    rows: list[RunRow] = []
    here.run_due(LocalRuns(memory, instance), memory, (SUMMARIES,), rows.append)
    assert [row.partition for row in rows] == ["2024-05-01", "2024-05-02"]
    assert {scope.backfill_id for scope in memory.scopes} == {ONE}
