"""``session_summaries``: folds of live sessions (H, W). Unpartitioned: each session is due by its own counters."""

from typing import TYPE_CHECKING

import dagster as dg

from pkg_pipeline.defs.checks import results as checks
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.lanes import asks_all, billing_of
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.defs.preview import preview

if TYPE_CHECKING:
    from pkg_pipeline.stages.folds.stage import FoldReport  # the stage is loaded by the run that calls it

NAME = "session_summaries"


def build(*, code_version: str) -> dg.AssetsDefinition:
    """``code_version`` names prompts and offline model: when it changes, the asset is shown as stale."""

    @dg.asset(
        name=NAME,
        deps=["messages"],
        group_name="memory",
        kinds={"postgres"},
        code_version=code_version,
        description="What stands for the older messages of running conversations, fold by fold.",
        check_specs=checks.specs(NAME, checks.PENDING, checks.FAILED),
    )
    def session_summaries(
        context: dg.AssetExecutionContext, memory: dg.ResourceParam[PipelineMemory]
    ) -> dg.MaterializeResult:
        tags = context.run.tags
        with translated("the folds"):
            report = memory.fold_sessions(billing_of(tags, context.run.run_id), asks_all=asks_all(tags))
        for reason in dict.fromkeys(report.warnings):
            context.log.warning(reason)
        counted = {checks.PENDING: report.pending, checks.FAILED: report.failed}
        left = [checks.none_left(NAME, name, count, sessions=report.sessions) for name, count in counted.items()]
        return dg.MaterializeResult(
            metadata={**metadata(report), **preview(memory, NAME)},
            check_results=[*left, *checks.verified(context, memory, NAME)],
        )

    return session_summaries


def metadata(report: "FoldReport") -> dict[str, int | float]:
    """Metadata of a run, as numbers that the UI can plot."""
    return {
        "rows": report.folds + report.refolds,
        "sessions": report.sessions,
        "folds": report.folds,
        "refolds": report.refolds,
        "messages": report.messages,
        "pending": report.pending,
        "failed": report.failed,
        "deferred": report.deferred,
        "calls": report.calls,
        "tokens": report.input_tokens + report.output_tokens,
        "source_tokens": report.source_tokens,
        "summary_tokens": report.summary_tokens,
        "cost_usd": float(report.cost_usd),
        "compression_ratio": float(report.compression_ratio),
        "seconds": round(report.seconds, 3),
    }
