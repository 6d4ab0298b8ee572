"""``memory_chunks``: the index of recall, one partition per day (L7). Texts not embedded yet count as pending."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.assets.partition_marks import Marks, marking_asset
from pkg_pipeline.defs.automation.due import wanted
from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.keys import contiguous
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.recall.chunks import DayReport  # the stage is loaded by the run that calls it

NAME = "memory_chunks"
DAYS_PER_RUN = 10
"""Of a backfill: embedding a day may take minutes."""

WORK = ("rows", "embedded", "refused", "removed", "pending")
"""Metadata that is above zero where a partition had work done, tried or left."""


def build(partitions: dg.DailyPartitionsDefinition, *, code_version: str) -> dg.AssetsDefinition:
    """``code_version`` names the rules of indexing: when it changes, partitions are shown as stale."""

    @marking_asset(
        name=NAME,
        deps=["interactions", "interaction_summaries", "session_summaries"],
        partitions=partitions,
        keys_per_run=DAYS_PER_RUN,
        code_version=code_version,
        description="Messages, summaries, decisions and facts in searchable pieces, by the day they began.",
        counted=(checks.PENDING,),
    )
    def memory_chunks(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        days_done: Marks[DayReport] = Marks(
            context, NAME, key=lambda report: report.day, numbers=metadata, work=WORK, code_version=code_version
        )
        with translated("the chunks"):
            for days in contiguous(wanted(memory, NAME, context.partition_keys, context.run.tags)):
                memory.build_chunks(days, on_day=days_done)
            left = memory.pending(NAME)
        for reason in dict.fromkeys(reason for report in days_done.reports for reason in report.reasons):
            context.log.warning(reason)
        yield checks.none_left(NAME, checks.PENDING, left, attempted_days=len(days_done.reports))
        yield from checks.verified(context, memory, NAME)

    return memory_chunks


def metadata(report: "DayReport") -> dict[str, int | float]:
    """Metadata of a partition, as numbers that the UI can plot."""
    return {
        "rows": report.chunks - report.kept,
        "interactions": report.interactions,
        "chunks": report.chunks,
        "kept": report.kept,
        "embedded": report.embedded,
        "refused": report.refused,
        "removed": report.removed,
        "pending": report.pending,
        "seconds": round(report.seconds, 3),
    }
