"""``entity_relationship_profiles``: one partition per week, named by its Sunday, as of the week's end (P20–P23)."""

from collections.abc import Iterator
from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.assets.partition_marks import Marks, marking_asset
from pkg_pipeline.defs.automation.due import wanted
from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.keys import WEEK
from pkg_pipeline.defs.lanes import billing_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.profiles.stage import WeekReport  # the stage is loaded by the run that calls it

NAME = "entity_relationship_profiles"

WORK = ("rows", "pending", "failed", "quarantined", "deferred", "calls")
"""Metadata that is above zero where a partition had work done, tried or left."""


def build(partitions: dg.WeeklyPartitionsDefinition, *, code_version: str) -> dg.AssetsDefinition:
    """``code_version`` names prompt and offline model: when it changes, partitions are shown as stale."""

    @marking_asset(
        name=NAME,
        deps=[dg.AssetDep("interaction_summaries", partition_mapping=dg.TimeWindowPartitionMapping())],
        partitions=partitions,
        keys_per_run=WEEK.keys_per_run,
        code_version=code_version,
        description="What all summaries of a person add up to, week by week.",
        counted=(checks.PENDING, checks.FAILED),
    )
    def entity_relationship_profiles(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        publication.require(context.instance, "the profiles")
        weeks_done: Marks[WeekReport] = Marks(
            context, NAME, key=lambda report: report.week, numbers=metadata, work=WORK, code_version=code_version
        )
        with translated("the profiles"):
            weeks = [date.fromisoformat(key) for key in wanted(memory, NAME, context.partition_keys, context.run.tags)]
            billing = billing_of(context.run.tags, context.run.run_id)
            memory.build_weeks(weeks, billing, on_week=weeks_done)
        for name in (checks.PENDING, checks.FAILED):
            left = weeks_done.total(attrgetter(name))
            yield checks.none_left(NAME, name, left, attempted_weeks=len(weeks_done.reports))
        yield from checks.verified(context, memory, NAME)

    return entity_relationship_profiles


def metadata(report: "WeekReport") -> dict[str, int | float]:
    """Metadata of a partition, as numbers that the UI can plot."""
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
