"""The dbt models as Dagster assets: one command over the project.

Imports ``dagster_dbt``, which takes seconds; ``dbt_marts`` decides whether.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DbtCliResource, dbt_assets

from pkg_pipeline.adapters.dbt_profile import environment
from pkg_pipeline.defs.pipeline_memory import PipelineMemory


def build(manifest: Mapping[str, Any]) -> dg.AssetsDefinition:
    """All models and their tests (as asset checks) of ``manifest``."""

    @dbt_assets(manifest=manifest, name="marts")
    def marts(
        context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[Any]:
        # the profile reads its place and password from the environment; nothing of it is written to a file
        with environment(memory.database_url), tempfile.TemporaryDirectory() as folder:
            # dbt's artifacts of a run go aside: the project may lie where nothing can be written
            yield from dbt.cli(["build"], context=context, target_path=Path(folder)).stream()

    return marts


def resource(project: Path) -> DbtCliResource:
    # the program of this environment, whatever the search path says
    executable = Path(sys.executable).parent / "dbt"
    return DbtCliResource(project_dir=str(project), profiles_dir=str(project), dbt_executable=str(executable))
