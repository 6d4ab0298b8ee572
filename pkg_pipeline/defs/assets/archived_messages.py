"""``archived_messages``: one partition per month in which interactions began (P24–P26). SQL alone."""

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.assets.partition_marks import Marks, marking_asset
from pkg_pipeline.defs.automation.due import wanted
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.archive.stage import MonthReport  # the stage is loaded by the run that calls it

NAME = "archived_messages"

WORK = ("rows", "interactions", "pending")
"""Metadata that is above zero where a partition had work done, tried or left."""


def build(partitions: dg.MonthlyPartitionsDefinition) -> dg.AssetsDefinition:
    @marking_asset(
        name=NAME,
        deps=[dg.AssetDep("interaction_summaries", partition_mapping=dg.TimeWindowPartitionMapping())],
        partitions=partitions,
        keys_per_run=None,
        description="The texts of old, summarised interactions, moved aside by the month in which they began.",
        counted=(checks.PENDING,),
    )
    def archived_messages(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        publication.require(context.instance, "the archived texts")
        months_done: Marks[MonthReport] = Marks(
            context, NAME, key=lambda report: report.month, numbers=metadata, work=WORK
        )
        with translated("the archive"):
            months = [date.fromisoformat(key) for key in wanted(memory, NAME, context.partition_keys, context.run.tags)]
            memory.archive_months(months, run_id=context.run.run_id, on_month=months_done)
        left = months_done.total(lambda report: report.pending)
        yield checks.none_left(NAME, checks.PENDING, left, attempted_months=len(months_done.reports))
        yield from checks.verified(context, memory, NAME)

    return archived_messages


def metadata(report: "MonthReport") -> dict[str, int | float]:
    """Metadata of a partition, as numbers that the UI can plot."""
    return {
        "rows": report.messages,
        "interactions": report.interactions,
        "messages": report.messages,
        "bytes": report.bytes,
        "kept_important": report.kept_important,
        "pending": report.pending,
        "seconds": round(report.seconds, 3),
    }
