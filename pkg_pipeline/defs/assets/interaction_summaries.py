"""``interaction_summaries``: one day a partition, attempted day by day. A materialised day means attempted: what is
left is in its metadata and in the check.

The asset declares its output as not required and marks each day itself when that day is done: a run that ends in the
middle keeps the days it finished.
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs import checks
from pkg_pipeline.defs.due import wanted
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.keys import DAY, contiguous
from pkg_pipeline.defs.lanes import lane_of, scope_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.summaries import DayReport  # the stage is loaded by the run that calls it

NAME = "interaction_summaries"


def build(partitions: dg.DailyPartitionsDefinition, *, code_version: str) -> dg.AssetsDefinition:
    """The asset over ``partitions``; ``code_version`` names prompt and offline model, whose change makes it stale."""
    with warnings.catch_warnings():
        # backfill policies have been marked beta for years; that they are used here is a decision, no news for users
        warnings.simplefilter("ignore", dg.BetaWarning)
        return _asset(partitions, code_version)


def _asset(partitions: dg.DailyPartitionsDefinition, code_version: str) -> dg.AssetsDefinition:
    @dg.asset(
        name=NAME,
        deps=["interactions"],
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=DAY.keys_per_run),
        code_version=code_version,
        group_name="memory",
        kinds={"postgres"},
        description="What was said, decided and promised in each completed interaction, by the day it began.",
        check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
        output_required=False,
    )
    def interaction_summaries(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        lane, scope = lane_of(context.run.tags), scope_of(context.run.tags)
        reports: list[DayReport] = []

        def on_day(report: "DayReport") -> None:
            reports.append(report)
            context.log_event(_materialization(report, code_version))

        with translated("the summaries"):
            for days in contiguous(wanted(memory, NAME, context.partition_keys, context.run.tags)):
                memory.summarize(days, lane=lane, run_id=context.run.run_id, scope=scope, on_day=on_day)
            left = memory.pending(NAME)
        yield checks.none_left(NAME, checks.PENDING, left, attempted_days=len(reports))
        yield checks.none_left(NAME, checks.FAILED, sum(day.failed for day in reports), attempted_days=len(reports))
        yield from checks.verified(context, memory, NAME)

    return interaction_summaries


def metadata(report: "DayReport") -> dict[str, int | float]:
    """Flat numbers, which the UI plots per partition."""
    return {
        "rows": report.summarized,
        "summarized": report.summarized,
        "updated": report.updated,
        "carried": report.carried,
        "lost": report.lost,
        "pending": report.pending,
        "failed": report.failed,
        "quarantined": report.quarantined,
        "deferred": report.deferred,
        "calls": report.calls,
        "tokens": report.input_tokens + report.output_tokens,
        "cost_usd": float(report.cost_usd),
        "compression_ratio": float(report.compression_ratio),
        "seconds": round(report.seconds, 3),
    }


def _materialization(report: "DayReport", code_version: str) -> dg.AssetMaterialization:
    # Dagster adds the code version only to what it emits itself; without it the UI could not tell stale days
    return dg.AssetMaterialization(
        NAME,
        partition=report.day.isoformat(),
        metadata=metadata(report),
        tags={"dagster/code_version": code_version},
    )
