"""Runs whose process is gone without a word: a killed command, a machine switched off. They must not look alive.

A run in this process carries the process in a tag. Runs that the code server started have none; they die with it. The
daemon starts a killed run once more, by the code server: such a run inherits the tag and not the process.
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
    """``host:pid:start``; the start tells a process from a later one under the same number."""
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
    """Mark orphans as failed; returns how many. ``code_server_is_gone`` includes the runs that it had started,
    ``processes_are_gone`` those of all processes and what was queued: the runs are those of another time and place.
    """
    settled = 0
    queued = (dg.DagsterRunStatus.QUEUED,) if processes_are_gone else ()
    for run in instance.get_runs(dg.RunsFilter(statuses=[*STARTED, *queued])):
        is_gone = code_server_is_gone if _own_process(run.tags) is None else processes_are_gone
        if is_gone or is_dead(run.tags):
            instance.report_run_failed(run, "its process ended without finishing it; what it committed stays")
            settled += 1
    return settled
