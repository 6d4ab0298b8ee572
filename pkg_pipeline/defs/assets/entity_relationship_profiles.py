"""``entity_relationship_profiles``: one week a partition, named by its Sunday, as of its end (P20–P23).

As with summaries a materialised week means attempted, and a run that ends in the middle keeps the weeks it finished.
"""

import warnings
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs import checks, publication
from pkg_pipeline.defs.due import wanted
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.keys import WEEK
from pkg_pipeline.defs.lanes import lane_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.profiles import WeekReport  # the stage is loaded by the run that calls it

NAME = "entity_relationship_profiles"


def build(partitions: dg.WeeklyPartitionsDefinition, *, code_version: str) -> dg.AssetsDefinition:
    """The asset over ``partitions``; ``code_version`` names prompt and offline model, whose change makes it stale."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # as for the summaries
        return _asset(partitions, code_version)


def _asset(partitions: dg.WeeklyPartitionsDefinition, code_version: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=NAME,
        deps=[dg.AssetDep("interaction_summaries", partition_mapping=dg.TimeWindowPartitionMapping())],
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=WEEK.keys_per_run),
        code_version=code_version,
        group_name="memory",
        kinds={"postgres"},
        description="What all summaries of a person add up to, week by week.",
        check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
        output_required=False,
    )
    def entity_relationship_profiles(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        publication.require(context.instance, "the profiles")
        reports: list[WeekReport] = []

        def on_week(report: "WeekReport") -> None:
            reports.append(report)
            context.log_event(_materialization(report, code_version))

        with translated("the profiles"):
            weeks = [date.fromisoformat(key) for key in wanted(memory, NAME, context.partition_keys, context.run.tags)]
            memory.build_weeks(weeks, lane=lane_of(context.run.tags), run_id=context.run.run_id, on_week=on_week)
        for name in (checks.PENDING, checks.FAILED):
            left = sum(getattr(report, name) for report in reports)
            yield checks.none_left(NAME, name, left, attempted_weeks=len(reports))
        yield from checks.verified(context, memory, NAME)

    return entity_relationship_profiles


def metadata(report: "WeekReport") -> dict[str, int | float]:
    """Flat numbers, which the UI plots per partition."""
    return {
        "rows": report.profiled + report.carried_over,
        "persons": report.persons,
        "profiled": report.profiled,
        "carried_over": report.carried_over,
        "unchanged": report.unchanged,
        "pending": report.pending,
        "failed": report.failed,
        "quarantined": report.quarantined,
        "deferred": report.deferred,
        "calls": report.calls,
        "tokens": report.input_tokens + report.output_tokens,
        "source_tokens": report.source_tokens,
        "summary_tokens": report.summary_tokens,
        "cost_usd": float(report.cost_usd),
        "compression_ratio": float(report.compression_ratio),
        "seconds": round(report.seconds, 3),
    }


def _materialization(report: "WeekReport", code_version: str) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        NAME,
        partition=report.week.isoformat(),
        metadata=metadata(report),
        tags={"dagster/code_version": code_version},
    )
