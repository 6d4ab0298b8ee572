"""Runs of the command line stand in the timeline of Dagster's pages.

The timeline shows a run under the code location that it is said to come from; one that is executed inside a process of
ours says none. There is no public way to say it: hence two imports of private modules, under the pin of the release.
"""

from __future__ import annotations

from typing import Any

import dagster as dg
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin

LOCATION = "pkg_pipeline"
"""The name of the code location in every workspace that this program writes."""


def say_origin(instance: dg.DagsterInstance) -> None:
    """From now on every run that is made with this ``instance`` comes from our code location."""
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), SINGLETON_REPOSITORY_NAME)
    create: Any = instance.create_run_for_job

    def created(job_def: dg.JobDefinition, **given: Any) -> dg.DagsterRun:
        given.setdefault("remote_job_origin", RemoteJobOrigin(repository, job_def.name))
        return create(job_def=job_def, **given)

    instance.create_run_for_job = created  # type: ignore[method-assign]
