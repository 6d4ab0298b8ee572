"""The launcher over a broker in memory: where a run goes, when its worker counts as gone, what cancelling does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dagster as dg
import pytest
from celery.backends.base import DisabledBackend
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster_celery.tags import DAGSTER_CELERY_QUEUE_TAG, DAGSTER_CELERY_TASK_ID_TAG

from pkg_pipeline.adapters.process_environment import in_environment
from pkg_pipeline.defs import celery_runs
from pkg_pipeline.defs.celery_runs import INBOX_QUEUE, WatchedCeleryRunLauncher

pytestmark = pytest.mark.filterwarnings("ignore::celery.exceptions.DuplicateTaskNameWarning")
"""Celery gives a task of one application to all of a process, and these make many."""

LAUNCHER = {
    "module": "pkg_pipeline.defs.celery_runs",
    "class": "WatchedCeleryRunLauncher",
    "config": {"broker": "memory://", "backend": "cache+memory://"},
}


@dg.job(name="import_inbox")
def importing() -> None: ...


@dg.job
def another() -> None: ...


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with (
        in_environment({"DAGSTER_DISABLE_TELEMETRY": "1"}),
        dg.instance_for_test(overrides={"run_launcher": LAUNCHER}) as made,
    ):
        assert not isinstance(launcher_of(made).celery.backend, DisabledBackend)
        yield made


def launcher_of(instance: dg.DagsterInstance) -> WatchedCeleryRunLauncher:
    found = instance.run_launcher
    assert isinstance(found, WatchedCeleryRunLauncher)
    return found


def launched(instance: dg.DagsterInstance, job: dg.JobDefinition, **tags: str) -> dg.DagsterRun:
    origin = dg.reconstructable(job).get_python_origin() if job is another else ANOTHER.get_python_origin()
    status = dg.DagsterRunStatus.STARTED
    run = instance.create_run_for_job(job, job_code_origin=origin, tags=tags, status=status)
    launcher_of(instance).launch_run(LaunchRunContext(run, workspace=None))
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found


ANOTHER = dg.reconstructable(another)


class Replies:
    """What ``query_task`` of the asked workers gives."""

    def __init__(self, found: dict[str, Any] | None) -> None:
        self.found = found
        self.asked: list[list[str]] = []

    def inspect(self, destination: list[str], timeout: float) -> Replies:
        self.asked.append(destination)
        return self

    def query_task(self, ids: list[str]) -> dict[str, Any] | None:
        return self.found


@pytest.mark.parametrize(
    ("job", "given", "expected"),
    [(another, {}, "dagster"), (importing, {}, INBOX_QUEUE), (importing, {DAGSTER_CELERY_QUEUE_TAG: "mine"}, "mine")],
)
def test_imports_go_to_workers_that_share_the_inbox(
    instance: dg.DagsterInstance, job: dg.JobDefinition, given: dict[str, str], expected: str
) -> None:
    run = launched(instance, job, **given)
    said = [entry.dagster_event for entry in instance.all_logs(run.run_id) if entry.dagster_event is not None]
    queues = [
        event.engine_event_data.metadata["Celery Queue"].value
        for event in said
        if event.is_engine_event and "Celery Queue" in event.engine_event_data.metadata
    ]
    assert queues == [expected]


@pytest.mark.parametrize(
    ("state", "replies", "expected"),
    [
        ("STARTED", {"runs@a": {"TASK": ["active", {}]}}, WorkerStatus.RUNNING),
        ("STARTED", None, WorkerStatus.FAILED),  # killed: nobody answers
        ("STARTED", {"runs@a": {}}, WorkerStatus.FAILED),  # another worker under the same name
        ("SUCCESS", None, WorkerStatus.SUCCESS),
        ("FAILURE", None, WorkerStatus.FAILED),
    ],
)
def test_a_run_counts_as_running_while_its_worker_has_it(
    instance: dg.DagsterInstance, state: str, replies: dict[str, Any] | None, expected: WorkerStatus
) -> None:
    run = launched(instance, another)
    task = run.tags[DAGSTER_CELERY_TASK_ID_TAG]
    app = launcher_of(instance).celery
    meta = RuntimeError("x") if state == "FAILURE" else {"hostname": "runs@a", "pid": 1}
    app.backend.store_result(task, meta, state)
    told = {worker: {task: one["TASK"]} if one else {} for worker, one in (replies or {}).items()}
    app.control = Replies(told or None)  # type: ignore[assignment]
    assert launcher_of(instance).check_run_worker_health(run).status is expected


def test_a_run_that_ends_while_its_worker_is_asked_is_no_failure(instance: dg.DagsterInstance) -> None:
    run = launched(instance, another)
    task = run.tags[DAGSTER_CELERY_TASK_ID_TAG]
    app = launcher_of(instance).celery
    app.backend.store_result(task, {"hostname": "runs@a"}, "STARTED")
    replies = Replies(None)
    replies.query_task = lambda ids: app.backend.store_result(ids[0], 0, "SUCCESS") and None  # type: ignore[method-assign]
    app.control = replies  # type: ignore[assignment]
    assert launcher_of(instance).check_run_worker_health(run).status is WorkerStatus.SUCCESS


def test_a_cancelled_run_is_cancelled_and_not_started_again(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked: list[tuple[str, bool]] = []
    run = launched(instance, another)
    app = launcher_of(instance).celery
    monkeypatch.setattr(app.control, "revoke", lambda task, **more: revoked.append((task, more["terminate"])))
    assert launcher_of(instance).terminate(run.run_id) is True
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert found.status is dg.DagsterRunStatus.CANCELED
    assert "dagster/will_retry" not in found.tags
    assert revoked == [(run.tags[DAGSTER_CELERY_TASK_ID_TAG], True)]
    assert launcher_of(instance).terminate(run.run_id) is False


def test_a_busy_worker_takes_no_task_along() -> None:
    app = celery_runs.worker_app("memory://")
    assert (app.conf.task_acks_late, app.conf.worker_prefetch_multiplier) == (True, 1)
    assert app.conf.broker_transport_options["visibility_timeout"] > 21_600, "longer than the longest run"
    assert {"execute_job", "resume_job"} <= set(app.tasks)
