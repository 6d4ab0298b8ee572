"""A killed run that Dagster's retry daemon passes over is started again, and its backfill ends: with Dagster's own
daemons over a real instance, which look at the very moment between a failure and the status.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.events import JobFailureData, RunFailureReason, StepMaterializationData
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster._daemon.auto_run_reexecution.event_log_consumer import EventLogConsumerDaemon
from dagster._daemon.backfill import execute_backfill_iteration

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.defs.automation import lost_retries, orphans

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Dagster's daemons use what it deprecates

DAYS = dg.StaticPartitionsDefinition(["2026-01-05"])
RETRIED = "dagster/auto_retry_run_id"


@dg.asset(partitions_def=DAYS)
def summaries() -> None: ...


@dg.job
def command() -> None: ...


defs = dg.Definitions(assets=[summaries])


class Place:
    """Dagster's daemons and our sensor, tick after tick, over our ``dagster.yaml``."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        origin = InProcessCodeLocationOrigin(LoadableTargetOrigin(python_file=__file__, attribute="defs"))
        self.instance = instance
        self.workspace = WorkspaceProcessContext(instance, InProcessWorkspaceLoadTarget(origin))
        self.now = 0.0
        self._consumer = EventLogConsumerDaemon()
        self._sensor = lost_retries.build(wall=lambda: self.now)
        self._cursor: str | None = None

    def consume(self) -> None:
        for _ in self._consumer.run_iteration(self.workspace):
            ...

    def tick(self) -> str:
        with dg.build_sensor_context(instance=self.instance, cursor=self._cursor) as context:
            data = self._sensor.evaluate_tick(context)
        self._cursor = data.cursor
        return data.skip_message or ""

    def go_on(self) -> BulkActionStatus:
        """A turn of the daemon of backfills; how the backfill stands after it."""
        for _ in execute_backfill_iteration(self.workspace, logging.getLogger("backfills")):
            ...
        (backfill,) = self.instance.get_backfills()
        return backfill.status

    def backfill(self) -> dg.DagsterRun:
        """A backfill of one day, as the pages ask for it; its run works."""
        graph = self.workspace.create_request_context().asset_graph
        asked: dict[str, Any] = {"backfill_id": "nine", "asset_graph": graph, "partition_names": ["2026-01-05"]}
        asked |= {"asset_selection": [dg.AssetKey("summaries")], "tags": {}, "all_partitions": False}
        asked |= {"backfill_timestamp": 1_767_600_000.0, "dynamic_partitions_store": self.instance}
        asked |= {"title": None, "description": None, "run_config": None}
        self.instance.add_backfill(PartitionBackfill.from_asset_partitions(**asked))
        assert self.go_on() is BulkActionStatus.REQUESTED
        run = self.instance.get_runs(limit=1)[0]
        self.report(run, dg.DagsterEventType.RUN_START)
        return run

    def report(self, run: dg.DagsterRun, event: dg.DagsterEventType) -> None:
        self.instance.report_dagster_event(dg.DagsterEvent(event.value, run.job_name), run.run_id)

    def failures(self, run: dg.DagsterRun) -> list[float]:
        return [one.timestamp for one in self.instance.all_logs(run.run_id, of_type=lost_retries.FAILURE)]

    def run(self, run: dg.DagsterRun) -> dg.DagsterRun:
        found = self.instance.get_run_by_id(run.run_id)
        assert found is not None
        return found


@pytest.fixture
def place() -> Iterator[Place]:
    ours = yaml.safe_load(dagster_home.Running().yaml)
    kept = {name: ours[name] for name in ("run_retries", "run_coordinator", "concurrency")}
    with dg.instance_for_test(overrides=kept) as instance:
        made = Place(instance)
        with made.workspace:
            made.consume()  # it begins with the newest failure
            made.tick()
            yield made


def killed(place: Place, monkeypatch: pytest.MonkeyPatch, *, looks_between: bool) -> dg.DagsterRun:
    """A run of a backfill whose process is gone; the daemon looks once its failure is stored, or after the status."""
    run = place.backfill()
    store = place.instance.event_log_storage.store_event

    def store_and_look(event: dg.EventLogEntry) -> None:
        store(event)
        if event.dagster_event_type is lost_retries.FAILURE:
            place.consume()

    with monkeypatch.context() as patched:
        if looks_between:
            patched.setattr(place.instance.event_log_storage, "store_event", store_and_look)
        assert orphans.settle(place.instance, code_server_is_gone=True) == 1
    place.consume()
    found = place.run(run)
    assert (found.status, found.tags["dagster/will_retry"]) == (dg.DagsterRunStatus.FAILURE, "true")
    place.now = place.failures(run)[0] + lost_retries.SETTLED_SECONDS
    return found


def test_a_killed_run_that_the_daemon_passed_over_is_started_again_and_its_backfill_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = killed(place, monkeypatch, looks_between=True)
    for _ in range(3):
        place.consume()
        assert place.go_on() is BulkActionStatus.REQUESTED, "the backfill waits for a run that nobody starts"
    assert RETRIED not in place.run(run).tags

    assert place.tick() == "0 failures told again"  # its retry may be under way
    ended = place.instance.get_run_record_by_id(run.run_id)
    place.now += 1
    assert place.tick() == "1 failures told again"
    place.consume()
    again = place.instance.get_run_by_id(place.run(run).tags[RETRIED])
    assert again is not None
    assert (again.parent_run_id, again.status) == (run.run_id, dg.DagsterRunStatus.QUEUED)
    told = place.instance.get_run_record_by_id(run.run_id)
    assert ended is not None
    assert told is not None
    assert told.end_time == ended.end_time, "pauses after failures count from here"

    made = dg.AssetMaterialization("summaries", partition="2026-01-05")
    place.instance.report_dagster_event(
        dg.DagsterEvent(
            dg.DagsterEventType.ASSET_MATERIALIZATION.value,
            again.job_name,
            event_specific_data=StepMaterializationData(made),
        ),
        again.run_id,
    )
    place.report(again, dg.DagsterEventType.RUN_SUCCESS)
    assert BulkActionStatus.COMPLETED_SUCCESS in {place.go_on() for _ in range(3)}


def test_what_was_started_again_in_time_is_not_told_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run = killed(place, monkeypatch, looks_between=False)
    place.now += 1
    assert RETRIED in place.run(run).tags
    assert place.tick() == "0 failures told again"
    assert len(place.failures(run)) == 1


def test_a_failure_is_told_again_once_and_never_starts_a_run_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = killed(place, monkeypatch, looks_between=True)
    place.now += 1
    assert [place.tick() for _ in range(2)] == ["1 failures told again", "0 failures told again"]
    place.now += 3600  # the daemon is away
    assert place.tick() == "0 failures told again"
    assert lost_retries.tell_again(place.instance, after=0, before=place.now)[1] == 1  # a tick whose cursor was lost
    place.consume()
    place.consume()
    assert len(place.instance.get_runs()) == 2
    assert len(place.failures(run)) == 3


def test_a_run_that_somebody_started_again_by_hand_holds_no_backfill_open(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = killed(place, monkeypatch, looks_between=True)
    by_hand = {"dagster/parent_run_id": run.run_id, "dagster/root_run_id": run.run_id}
    place.instance.create_run_for_job(command, tags=by_hand, parent_run_id=run.run_id, root_run_id=run.run_id)
    assert place.run(run).is_complete_and_waiting_to_retry
    place.now += 1
    assert place.tick() == "1 failures told again"
    place.consume()
    assert not place.run(run).is_complete_and_waiting_to_retry
    assert place.run(run).tags["dagster/will_retry"] == "false"
    assert len(place.instance.get_runs()) == 2, "its second run is there"


def test_a_killed_command_and_a_run_that_failed_by_itself_are_left(place: Place) -> None:
    """Neither is to be started again by the daemon."""
    place.instance.create_run_for_job(command, status=dg.DagsterRunStatus.STARTED)
    assert orphans.settle(place.instance, code_server_is_gone=True) == 1
    by_itself = place.backfill()
    reason = JobFailureData(error=None, failure_reason=RunFailureReason.STEP_FAILURE)
    place.instance.report_run_failed(by_itself, "no key", reason)
    place.now = place.failures(by_itself)[0] + lost_retries.SETTLED_SECONDS + 1
    assert place.tick() == "0 failures told again"


def test_a_tick_looks_at_few_failures_and_the_next_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_retries, "FAILURES_A_TICK", 2)
    for _ in range(3):
        place.instance.report_run_failed(place.instance.create_run_for_job(command))
    run = killed(place, monkeypatch, looks_between=True)
    place.now += 1
    assert [place.tick().split()[0] for _ in range(3)] == ["0", "1", "0"]
    assert len(place.failures(run)) == 2
