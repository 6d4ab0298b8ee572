"""``interaction_summaries``: one partition per day. A materialised day means attempted; checks count what is left."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.assets.partition_marks import Marks, marking_asset
from pkg_pipeline.defs.automation.due import wanted
from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.keys import DAY, contiguous
from pkg_pipeline.defs.lanes import billing_of, scope_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.summaries.stage import DayReport  # the stage is loaded by the run that calls it

NAME = "interaction_summaries"

WORK = ("rows", "updated", "pending", "failed", "quarantined", "deferred", "calls")
"""Metadata that is above zero where a partition had work done, tried or left."""


def build(partitions: dg.DailyPartitionsDefinition, *, code_version: str) -> dg.AssetsDefinition:
    """``code_version`` names prompt and offline model: when it changes, partitions are shown as stale."""

    @marking_asset(
        name=NAME,
        deps=["interactions"],
        partitions=partitions,
        keys_per_run=DAY.keys_per_run,
        code_version=code_version,
        description="What was said, decided and promised in each completed interaction, by the day it began.",
        counted=(checks.PENDING, checks.FAILED),
    )
    def interaction_summaries(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        billing, scope = billing_of(context.run.tags, context.run.run_id), scope_of(context.run.tags)
        days_done: Marks[DayReport] = Marks(
            context, NAME, key=lambda report: report.day, numbers=metadata, work=WORK, code_version=code_version
        )
        with translated("the summaries"):
            for days in contiguous(wanted(memory, NAME, context.partition_keys, context.run.tags)):
                memory.summarize(days, billing, scope, days_done)
            left = memory.pending(NAME)
        attempted, failed = len(days_done.reports), days_done.total(lambda report: report.failed)
        yield checks.none_left(NAME, checks.PENDING, left, attempted_days=attempted)
        yield checks.none_left(NAME, checks.FAILED, failed, attempted_days=attempted)
        yield from checks.verified(context, memory, NAME)

    return interaction_summaries


def metadata(report: "DayReport") -> dict[str, int | float]:
    """Metadata of a partition, as numbers that the UI can plot."""
    return {
        "rows": report.summarized,
        "summarized": report.summarized,
        "updated": report.updated,
        "pending": report.pending,
        "failed": report.failed,
        "quarantined": report.quarantined,
        "deferred": report.deferred,
        "batched": report.batched,
        "calls": report.calls,
        "tokens": report.input_tokens + report.output_tokens,
        "cost_usd": float(report.cost_usd),
        "compression_ratio": float(report.compression_ratio),
        "seconds": round(report.seconds, 3),
    }
