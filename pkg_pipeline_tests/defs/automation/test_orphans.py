"""Runs whose process is gone are ended; living ones and queued ones are not touched."""

from __future__ import annotations

import socket
import subprocess
import sys

import dagster as dg
import psutil
import pytest
import yaml

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.defs.automation import orphans

LIVING = dg.DagsterRunStatus.STARTED


@dg.op
def failing() -> None:
    raise RuntimeError("by itself")


@dg.job
def job() -> None:
    failing()


def dead_process() -> str:
    """The tag of a process that ended."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    tag = f"{socket.gethostname()}:{child.pid}:{psutil.Process(child.pid).create_time():.0f}"
    child.communicate(b"\n")
    return tag


@pytest.mark.parametrize(
    ("tag", "code_server_is_gone", "settled"),
    [
        (orphans.process_tag, False, False),  # this very process
        (orphans.process_tag, True, False),
        (dead_process, False, True),
        (lambda: "another-host:1:1", True, False),  # nobody here can tell
        (None, False, False),  # a code server's run; it may live
        (None, True, True),
    ],
)
def test_which_started_runs_are_ended(tag, code_server_is_gone: bool, settled: bool, instance) -> None:
    tags = {} if tag is None else {orphans.PROCESS_TAG: tag()}
    run = instance.create_run_for_job(job, tags=tags, status=LIVING)
    assert orphans.settle(instance, code_server_is_gone=code_server_is_gone) == int(settled)
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert found.status is (dg.DagsterRunStatus.FAILURE if settled else LIVING)


def test_a_queued_run_waits_on() -> None:
    """The daemon starts it; no process of its own has to live for it."""
    assert dg.DagsterRunStatus.QUEUED not in orphans.STARTED


def test_a_run_started_again_is_not_its_parents_process(instance: dg.DagsterInstance) -> None:
    """The daemon's retry inherits all tags: taken for its dead parent, it would be ended while it works."""
    tags = {orphans.PROCESS_TAG: dead_process(), "dagster/parent_run_id": "of the killed one"}
    assert not orphans.is_dead(tags)
    instance.create_run_for_job(job, tags=tags, status=LIVING)
    assert orphans.settle(instance, code_server_is_gone=False) == 0
    assert orphans.settle(instance, code_server_is_gone=True) == 1  # it lived in the code server


def will_retry(instance: dg.DagsterInstance, run: dg.DagsterRun) -> str | None:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert found.status is dg.DagsterRunStatus.FAILURE
    return found.tags.get("dagster/will_retry")


def test_by_our_configuration_a_killed_run_is_started_again_once_and_one_that_failed_by_itself_never() -> None:
    """``dagster.yaml`` as it is written; the daemon starts again what bears the tag."""
    ours = yaml.safe_load(dagster_home.Running().yaml)
    assert ours["run_monitoring"]["enabled"] is True
    assert ours["run_retries"] == {"enabled": True, "max_retries": 1, "retry_on_asset_or_op_failure": False}
    with dg.instance_for_test(overrides={"run_retries": ours["run_retries"]}) as instance:
        killed = instance.create_run_for_job(job, tags={orphans.PROCESS_TAG: dead_process()}, status=LIVING)
        assert orphans.settle(instance, code_server_is_gone=False) == 1
        assert will_retry(instance, killed) == "true"
        failed = job.execute_in_process(instance=instance, raise_on_error=False)
        run = instance.get_run_by_id(failed.run_id)
        assert run is not None
        assert will_retry(instance, run) == "false"
