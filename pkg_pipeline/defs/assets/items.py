"""``items``: what conversations say of tasks and decisions, read in time order over the whole memory (B16, B17)."""

from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.lanes import billing_of, scope_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.preview import preview

if TYPE_CHECKING:
    from pkg_pipeline.stages.items.report import ItemsReport  # the stage is loaded by the run that calls it

NAME = "items"


def build(*, code_version: str) -> dg.AssetsDefinition:
    """``code_version`` names prompt and offline model: when it changes, the asset is shown as stale."""

    @dg.asset(
        name=NAME,
        deps=["interactions"],
        group_name="memory",
        kinds={"postgres"},
        code_version=code_version,
        description="Tasks and decisions over all conversations: what is open, what was kept, put off or superseded.",
        check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
    )
    def items(context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]) -> dg.MaterializeResult:
        tags = context.run.tags
        with translated("the items"):
            report = memory.read_items(billing_of(tags, context.run.run_id), stale=scope_of(tags).redo_stale)
        for reason in (report.stop_reason, *report.reasons):
            if reason:
                context.log.warning(reason)
        counted = {checks.PENDING: report.left, checks.FAILED: report.failed}
        left = [checks.none_left(NAME, name, count, read=report.read) for name, count in counted.items()]
        return dg.MaterializeResult(
            metadata={**metadata(report), **preview(memory, NAME)},
            check_results=[*left, *checks.verified(context, memory, NAME)],
        )

    return items


def metadata(report: "ItemsReport") -> dict[str, int | float]:
    """Metadata of a run, as numbers that the UI can plot."""
    return {
        "rows": report.items_new + report.items_changed,
        "read": report.read,
        "unchanged": report.unchanged,
        "items_new": report.items_new,
        "items_changed": report.items_changed,
        "pending": report.left,
        "failed": report.failed,
        "deferred": report.deferred,
        "calls": report.calls,
        "tokens": report.input_tokens + report.output_tokens,
        "cost_usd": float(report.cost_usd),
        "seconds": round(report.seconds, 3),
    }
