"""An ephemeral instance and definitions over a fake memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.resources import RESOURCE

Execute = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


@pytest.fixture
def definitions_of() -> Callable[[Any], dg.Definitions]:
    def build(memory: Any) -> dg.Definitions:
        held = dg.ResourceDefinition.hardcoded_resource(memory)
        return build_definitions(
            start=memory.partitions_start, settings=memory.settings, resource_overrides={RESOURCE: held}, marts=False
        )

    return build


@pytest.fixture
def execute(instance: dg.DagsterInstance, definitions_of: Callable[[Any], dg.Definitions]) -> Execute:
    """Run a job over a memory in process; never raises, the result tells."""

    def run(memory: Any, job: str, **tags: str) -> dg.ExecuteInProcessResult:
        found = definitions_of(memory).resolve_job_def(job)
        return found.execute_in_process(
            instance=instance,
            raise_on_error=False,
            tags={name.replace("__", "/"): value for name, value in tags.items()},
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )

    return run
