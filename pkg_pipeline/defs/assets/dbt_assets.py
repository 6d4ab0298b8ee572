"""The dbt models as Dagster assets, by how they are built: whole, by day, by week. One command over the project each.

Imports ``dagster_dbt``, which takes seconds; ``dbt_marts`` decides whether.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, dbt_assets

from pkg_pipeline.adapters.dbt_profile import building
from pkg_pipeline.defs.assets.partition_marks import without_beta_warnings
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.settings import Settings

Partitions = dg.DailyPartitionsDefinition | dg.WeeklyPartitionsDefinition

# several tables of the memory stand for the one asset whose stage writes them
TRANSLATOR = DagsterDbtTranslator(DagsterDbtTranslatorSettings(enable_duplicate_source_asset_keys=True))


def build(
    manifest: Mapping[str, Any], *, daily: dg.DailyPartitionsDefinition, weekly: dg.WeeklyPartitionsDefinition
) -> list[dg.AssetsDefinition]:
    """All models and their tests (as asset checks) of ``manifest``."""
    with without_beta_warnings():
        return [_whole(manifest), _ranged(manifest, "by_day", daily), _ranged(manifest, "by_week", weekly)]


def _whole(manifest: Mapping[str, Any]) -> dg.AssetsDefinition:
    @dbt_assets(manifest=manifest, name="marts", select="tag:whole", dagster_dbt_translator=TRANSLATOR)
    def marts(
        context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[Any]:
        yield from _built(context, dbt, memory, variables(memory.settings))

    return marts


def _ranged(manifest: Mapping[str, Any], tag: str, partitions: Partitions) -> dg.AssetsDefinition:
    @dbt_assets(
        manifest=manifest,
        name=f"marts_{tag}",
        select=f"tag:{tag}",
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        dagster_dbt_translator=TRANSLATOR,
    )
    def marts(
        context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[Any]:
        keys = context.partition_key_range
        is_first = keys.start == partitions.get_first_partition_key()
        # what lies before the first key belongs to it
        chosen = variables(memory.settings, first="-infinity" if is_first else keys.start, last=keys.end)
        yield from _built(context, dbt, memory, chosen)

    return marts


def variables(settings: Settings, *, first: str | None = None, last: str | None = None) -> dict[str, Any]:
    """What a build is told (``dbt_project.yml`` says what each means): the range of keys, clock, thresholds, caps."""
    span = {} if first is None else {"min_date": first, "max_date": last}
    return {
        **span,
        "now": settings.now.isoformat() if settings.now is not None else None,
        "minimum_messages": settings.summary_min_messages,
        "due_after_seconds": max(settings.summary_min_age_days * 86_400, settings.gap_hours * 3_600),
        "live_cap_usd": settings.live_usd_per_day,
        "backfill_cap_usd": settings.backfill_usd_per_day,
    }


def _built(
    context: dg.AssetExecutionContext, dbt: DbtCliResource, memory: PipelineMemory, chosen: Mapping[str, Any]
) -> Iterator[Any]:
    publication.require(context.instance, "the marts")
    # the profile reads its place and password from the environment; nothing of it is written to a file
    with building(memory.database_url), tempfile.TemporaryDirectory() as folder:
        # dbt's artifacts of a run go aside: the project may lie where nothing can be written
        command = ["build", "--vars", json.dumps(dict(chosen))]
        yield from dbt.cli(command, context=context, target_path=Path(folder)).stream()


def resource(project: Path) -> DbtCliResource:
    # the program of this environment, whatever the search path says
    executable = Path(sys.executable).parent / "dbt"
    return DbtCliResource(project_dir=str(project), profiles_dir=str(project), dbt_executable=str(executable))
