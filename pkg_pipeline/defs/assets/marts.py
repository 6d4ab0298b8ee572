"""The dbt models as Dagster assets (B13): whole, by day and by week. Imports ``dagster_dbt``, which takes seconds."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, DbtProject, dbt_assets

from pkg_pipeline.adapters.dbt_project import EXECUTABLE, PROJECT, building
from pkg_pipeline.defs.assets.partition_marks import without_beta_warnings
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.wiring.marts import variables

Partitions = dg.DailyPartitionsDefinition | dg.WeeklyPartitionsDefinition

# several source tables belong to one asset
TRANSLATOR = DagsterDbtTranslator(DagsterDbtTranslatorSettings(enable_duplicate_source_asset_keys=True))


def build(
    target: Path, *, daily: dg.DailyPartitionsDefinition, weekly: dg.WeeklyPartitionsDefinition
) -> list[dg.AssetsDefinition]:
    """All models of the manifest in ``target``, with their tests as asset checks."""
    project = DbtProject(project_dir=PROJECT, target_path=target, profiles_dir=PROJECT)
    with without_beta_warnings():
        return [_whole(project), _ranged(project, "by_day", daily), _ranged(project, "by_week", weekly)]


def resource() -> DbtCliResource:
    return DbtCliResource(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=str(EXECUTABLE))


def _whole(project: DbtProject) -> dg.AssetsDefinition:
    @dbt_assets(manifest=project.manifest_path, name="marts", select="tag:whole", dagster_dbt_translator=TRANSLATOR)
    def marts(
        context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[Any]:
        yield from _built(context, dbt, memory, variables(memory.settings))

    return marts


def _ranged(project: DbtProject, kind: str, partitions: Partitions) -> dg.AssetsDefinition:
    @dbt_assets(
        manifest=project.manifest_path,
        name=f"marts_{kind}",
        select=f"tag:{kind}",
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        dagster_dbt_translator=TRANSLATOR,
    )
    def marts(
        context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[Any]:
        keys = context.partition_key_range
        is_first = keys.start == partitions.get_first_partition_key()
        outdated = memory.marts.outdated(kind)
        # rows before the first key belong to it
        chosen = variables(memory.settings, first="-infinity" if is_first else keys.start, last=keys.end)
        yield from _built(context, dbt, memory, chosen)
        taken = {key: count for key, count in outdated.items() if (is_first or keys.start <= key) and key <= keys.end}
        memory.marts.note_built(kind, taken)

    return marts


def _built(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: PipelineMemory, chosen: Mapping[str, Any]
) -> Iterator[Any]:
    publication.require(context.instance, "the marts")
    # dbt's profile reads address and password from the environment; they are not written to a file
    with building(memory.database_url), tempfile.TemporaryDirectory() as folder:
        # dbt writes its artifacts outside the project, which may be read-only
        command = ["build", "--vars", json.dumps(dict(chosen))]
        yield from dbt.cli(command, context=context, target_path=Path(folder)).stream()
