"""Runs whose process is gone are ended; living ones and queued ones are not touched."""

from __future__ import annotations

import socket
import subprocess
import sys

import dagster as dg
import psutil
import pytest

from pkg_pipeline.defs import orphans

LIVING = dg.DagsterRunStatus.STARTED


@dg.job
def job() -> None: ...


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
