"""Dagster's runs as tasks of Celery over Redis, each whole on one worker: the launcher, and the workers' program
``python -m pkg_pipeline.defs.celery_runs worker …``. Needs the extra ``scale``.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster_celery.config import DEFAULT_CONFIG
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.make_app import make_app
from dagster_celery.tags import DAGSTER_CELERY_QUEUE_TAG, DAGSTER_CELERY_TASK_ID_TAG
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task

from pkg_pipeline.adapters.dagster_home import BROKER_VARIABLE
from pkg_pipeline.defs.hops import MESSAGES
from pkg_pipeline.defs.lanes import INBOX_QUEUE

if TYPE_CHECKING:
    from celery import Celery

REPLY_SECONDS = 5.0
REDELIVERED_SECONDS = 25_200
"""Longer than the longest run: what Redis gives out twice is refused by Dagster, but takes a worker's place."""

CONFIG: dict[str, Any] = {
    # a task is acknowledged when it ends: of an earlier acknowledgement a busy worker would take the next task along
    # with the one that it works on, while others have none
    "task_acks_late": True,
    "worker_prefetch_multiplier": 1,
    "broker_transport_options": {
        **DEFAULT_CONFIG["broker_transport_options"],
        "visibility_timeout": REDELIVERED_SECONDS,
    },
    "broker_connection_retry_on_startup": True,
    "result_expires": 2 * 86_400,
    "result_extended": True,  # which worker it was
    "worker_redirect_stdouts": False,
    "worker_max_tasks_per_child": 100,
}


class WatchedCeleryRunLauncher(CeleryRunLauncher):
    """Celery's, except that imports go to workers that share the inbox, and that a run of a killed worker, whose task
    says *started* for ever, is found.
    """

    def app_args(self) -> dict[str, Any]:
        return {**super().app_args(), "config_source": {**self.config_source, **CONFIG}}

    def launch_run(self, context: LaunchRunContext) -> None:
        run = context.dagster_run
        if run.job_name == MESSAGES.job or run.asset_selection == {dg.AssetKey(MESSAGES.asset)}:
            queue = run.tags.get(DAGSTER_CELERY_QUEUE_TAG, INBOX_QUEUE)
            context = context._replace(dagster_run=run.with_tags({**run.tags, DAGSTER_CELERY_QUEUE_TAG: queue}))
        super().launch_run(context)

    def terminate(self, run_id: str) -> bool:
        """Its process is ended at once. Celery's own leaves the run as it was: it would count as failed and be started
        again.
        """
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        super().terminate(run_id)
        self._instance.report_run_canceled(run)
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        found = super().check_run_worker_health(run)
        if found.status is not WorkerStatus.RUNNING:
            return found
        task_id = run.tags[DAGSTER_CELERY_TASK_ID_TAG]
        if any(_has(self.celery, task_id) for _ in range(2)):
            return found
        found = super().check_run_worker_health(run)  # it may have ended while its worker was asked
        if found.status is not WorkerStatus.RUNNING:
            return found
        return CheckRunHealthResult(WorkerStatus.FAILED, "its worker is gone")


def _has(app: Celery, task_id: str) -> bool:
    """Whether the worker that began a task still works on it."""
    told = app.AsyncResult(task_id).info
    worker = told.get("hostname") if isinstance(told, dict) else None
    if worker is None:
        return False
    replies = app.control.inspect(destination=[worker], timeout=REPLY_SECONDS).query_task([task_id]) or {}
    return task_id in (replies.get(worker) or {})


def worker_app(broker: str) -> Celery:
    """The application whose tasks are runs."""
    app = make_app({"broker": broker, "backend": broker, "config_source": {**DEFAULT_CONFIG, **CONFIG}})
    create_execute_job_task(app)
    create_resume_job_task(app)
    return app


def main(arguments: list[str]) -> int:
    """``worker`` with Celery's options, or ``check``: whether one of this machine answers."""
    app = worker_app(os.environ[BROKER_VARIABLE])
    if arguments == ["check"]:
        replies = app.control.ping(timeout=REPLY_SECONDS) or []
        return 0 if any(name.endswith(f"@{socket.gethostname()}") for reply in replies for name in reply) else 1
    importlib.import_module("pkg_pipeline.defs.build")  # once, before a process is forked for runs
    app.worker_main([*arguments, "--without-gossip", "--without-mingle"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
