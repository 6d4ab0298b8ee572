"""Gives runs of the command line the code location under which Dagster's timeline shows them, by private imports."""

from __future__ import annotations

from typing import Any

import dagster as dg
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin

LOCATION = "pkg_pipeline"
"""The name of the code location in every workspace this program writes."""


def say_origin(instance: dg.DagsterInstance) -> None:
    """From now on runs created by ``instance`` have our code location as their origin."""
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), SINGLETON_REPOSITORY_NAME)
    create: Any = instance.create_run_for_job

    def created(job_def: dg.JobDefinition, **given: Any) -> dg.DagsterRun:
        given.setdefault("remote_job_origin", RemoteJobOrigin(repository, job_def.name))
        return create(job_def=job_def, **given)

    instance.create_run_for_job = created  # type: ignore[method-assign]
