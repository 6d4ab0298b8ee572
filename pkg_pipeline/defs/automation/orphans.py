"""Marks runs as failed whose process is gone: a killed command, a machine switched off.

A run of the command line carries its process in a tag. Runs of the code server have none and end with it. When the
daemon retries a killed run, the new one inherits the tag although another process runs it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

import dagster as dg
import psutil

PROCESS_TAG = "pkg/process"
PARENT_TAG = "dagster/parent_run_id"
STARTED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def process_tag() -> str:
    """``host:pid:start``; the start time tells it from a later process with the same pid."""
    return f"{socket.gethostname()}:{os.getpid()}:{psutil.Process().create_time():.0f}"


def is_dead(tags: Mapping[str, str]) -> bool:
    """Whether the tagged process lived on this machine and is gone. False for a run without the tag."""
    given = _own_process(tags)
    if given is None:
        return False
    host, pid, start = given.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        return f"{psutil.Process(int(pid)).create_time():.0f}" != start
    except psutil.NoSuchProcess:
        return True


def _own_process(tags: Mapping[str, str]) -> str | None:
    return None if PARENT_TAG in tags else tags.get(PROCESS_TAG)


def settle(instance: dg.DagsterInstance, *, code_server_is_gone: bool, processes_are_gone: bool = False) -> int:
    """Marks orphans as failed; returns how many. ``code_server_is_gone`` includes the runs it had started,
    ``processes_are_gone`` all others and what was queued.
    """
    settled = 0
    queued = (dg.DagsterRunStatus.QUEUED,) if processes_are_gone else ()
    for run in instance.get_runs(dg.RunsFilter(statuses=[*STARTED, *queued])):
        is_gone = code_server_is_gone if _own_process(run.tags) is None else processes_are_gone
        if is_gone or is_dead(run.tags):
            instance.report_run_failed(run, "its process ended without finishing it; what it committed stays")
            settled += 1
    return settled
