"""``archived_messages``: one month a partition, that in which the interactions began (P24–P26). SQL alone, no model.

A month may be worked off many times: what is young or has no summary yet waits, and is its pending.
"""

import warnings
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs import checks, publication
from pkg_pipeline.defs.due import wanted
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory

if TYPE_CHECKING:
    from pkg_pipeline.stages.archive import MonthReport  # the stage is loaded by the run that calls it

NAME = "archived_messages"


def build(partitions: dg.MonthlyPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset over ``partitions``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # as for the summaries
        return _asset(partitions)


def _asset(partitions: dg.MonthlyPartitionsDefinition) -> dg.AssetsDefinition:
    @dg.asset(
        name=NAME,
        deps=[dg.AssetDep("interaction_summaries", partition_mapping=dg.TimeWindowPartitionMapping())],
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name="memory",
        kinds={"postgres"},
        description="The texts of old, summarised interactions, moved aside by the month in which they began.",
        check_specs=checks.specs(NAME, checks.PENDING),
        output_required=False,
    )
    def archived_messages(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> Iterator[dg.AssetCheckResult]:
        publication.require(context.instance, "the archived texts")
        reports: list[MonthReport] = []

        def on_month(report: "MonthReport") -> None:
            reports.append(report)
            name = report.month.isoformat()
            context.log_event(dg.AssetMaterialization(NAME, partition=name, metadata=metadata(report)))

        with translated("the archive"):
            months = [date.fromisoformat(key) for key in wanted(memory, NAME, context.partition_keys, context.run.tags)]
            memory.archive_months(months, run_id=context.run.run_id, on_month=on_month)
        left = sum(report.pending for report in reports)
        yield checks.none_left(NAME, checks.PENDING, left, attempted_months=len(reports))
        yield from checks.verified(context, memory, NAME)

    return archived_messages


def metadata(report: "MonthReport") -> dict[str, int | float]:
    """Flat numbers, which the UI plots per partition."""
    return {
        "rows": report.messages,
        "interactions": report.interactions,
        "messages": report.messages,
        "bytes": report.bytes,
        "kept_important": report.kept_important,
        "pending": report.pending,
        "seconds": round(report.seconds, 3),
    }
