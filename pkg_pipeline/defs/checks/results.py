"""Asset checks: what an attempt left undone is a WARN; wrong data blocks publication (``publication.py``). They are
specs of the assets, because Dagster skips a check step whose asset yields no output.
"""

from collections.abc import Iterator
from datetime import date
from functools import reduce

import dagster as dg

from pkg_pipeline.defs.checks import publication
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.defs.pipeline_memory import PipelineMemory
from pkg_pipeline.memory.verdicts import Verdict, joined
from pkg_pipeline.stages.monitoring.verification import CHECKS

PENDING = "pending"
FAILED = "failed"

SAID = {
    ("interactions", "orphans"): "Every message that belongs to an interaction points to one that is there.",
    ("interactions", "partition_drift"): "Every interaction is filed under the local day on which it began.",
    ("items", "grounding"): "Every state of an item cites messages of its chat and quotes them.",
    ("items", "deleted"): "Nothing that is shown rests on a message that was deleted.",
    ("interaction_summaries", "coverage"): "Of what is due, nearly all is summarised.",
    ("interaction_summaries", "grounding"): "Every published item cites messages of its interaction and quotes them.",
    ("interaction_summaries", "orphans"): "Items, facts and live summaries point to what is there.",
    ("session_summaries", "session_coverage"): "Folds cover each message once up to the HWM, and counters are right.",
    ("memory_chunks", "coverage"): "Every live message with words, active or completed, is searchable.",
    ("memory_chunks", "orphans"): "What is searched rests on messages and interactions that are there.",
    ("entity_relationship_profiles", "partition_drift"): "The totals of each week's profiles are those of a recount.",
    ("archived_messages", "partition_drift"): "Every archived text is in the month in which its interaction began.",
}


def specs(asset: str, *names: str) -> list[dg.AssetCheckSpec]:
    """Checks that the asset counts itself (``names``) and all that are verified."""
    counted = {
        PENDING: "Nothing that could be worked off is left: pending = 0.",
        FAILED: "Nothing had to be given up: failed = 0.",
    }
    blocking = publication.BLOCKING.get(asset, ())
    return [
        *(dg.AssetCheckSpec(name, asset=asset, description=counted[name]) for name in names),
        *(
            dg.AssetCheckSpec(name, asset=asset, description=SAID[asset, name], blocking=name in blocking)
            for name in CHECKS.get(asset, ())
        ),
    ]


def none_left(asset: str, name: str, count: int, **numbers: float) -> dg.AssetCheckResult:
    """Passes at zero; else a WARN with the number in its metadata."""
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(asset),
        check_name=name,
        passed=count == 0,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={name: count, **numbers},
    )


def verified(context: dg.AssetExecutionContext, memory: PipelineMemory, asset: str) -> Iterator[dg.AssetCheckResult]:
    """Results of the asset's checks over the run's partitions and over what failed before."""
    with translated(f"the checks of {asset}"):
        for verdict in memory.verify(asset, CHECKS[asset], _span(context)):
            again = publication.wrong_days(context.instance, asset, verdict.name)
            before = memory.verify(asset, [verdict.name], again) if again is not None else []
            yield result(asset, reduce(joined, before, verdict))


def result(asset: str, verdict: Verdict) -> dg.AssetCheckResult:
    """A verdict as Dagster's result: numbers, ids and days, never a text."""
    severity = dg.AssetCheckSeverity.ERROR if verdict.is_error else dg.AssetCheckSeverity.WARN
    found: dict[str, int | float | str] = {**verdict.numbers}
    if verdict.examples:
        found["examples"] = ", ".join(verdict.examples)
    if verdict.days is not None:
        found[publication.FIRST_DAY], found[publication.LAST_DAY] = (day.isoformat() for day in verdict.days)
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(asset),
        check_name=verdict.name,
        passed=verdict.passed,
        severity=severity,
        description=verdict.reason,
        metadata=found,
    )


def _span(context: dg.AssetExecutionContext) -> tuple[date, date] | None:
    """First and last partition of the run; None for an unpartitioned asset."""
    if not context.has_partition_key_range:
        return None
    span = context.partition_key_range
    return date.fromisoformat(span.start), date.fromisoformat(span.end)
