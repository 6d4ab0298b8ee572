"""The checks of each asset: which questions are asked of the tables, and what the answers mean (B9, P30).

What a failing check stops is ``defs.checks.publication``; the thresholds are ``memory.verdicts``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pkg_pipeline.memory import verdicts
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline.stages.monitoring.check_stores import CheckStore
from pkg_pipeline.stages.ports import Clock

EVER = (date.min, date.max)

CHECKS: Mapping[str, tuple[str, ...]] = {
    "interactions": ("orphans", "partition_drift"),
    "interaction_summaries": ("coverage", "grounding", "lost_items", "orphans"),
    "session_summaries": ("session_coverage",),
    "memory_chunks": ("coverage", "orphans"),
    "entity_relationship_profiles": ("partition_drift",),
    "archived_messages": ("partition_drift",),
}
"""Asset → its checks, in the order of their results."""


@dataclass(frozen=True, slots=True)
class CheckParams:
    """P11: what counts as due."""

    due_after_seconds: float
    minimum_messages: int


def verify(
    asset: str,
    names: Sequence[str],
    span: tuple[date, date] | None,
    *,
    store: CheckStore,
    clock: Clock,
    params: CheckParams,
) -> list[Verdict]:
    """The verdicts of ``names``. ``span``: first days of the first and last partition in question; None is all.

    Raises KeyError for a name that ``CHECKS`` does not give the asset.
    """
    days = EVER if span is None else span
    questions: dict[tuple[str, str], Callable[[], Verdict]] = {
        ("interactions", "orphans"): lambda: verdicts.nothing_wrong("orphans", store.interaction_orphans()),
        ("interactions", "partition_drift"): lambda: verdicts.nothing_wrong("partition_drift", store.misfiled_days()),
        ("interaction_summaries", "coverage"): lambda: verdicts.coverage(
            store.coverage(
                days,
                now=clock.now(),
                due_after_seconds=params.due_after_seconds,
                minimum_messages=params.minimum_messages,
            )
        ),
        ("interaction_summaries", "grounding"): lambda: verdicts.nothing_wrong("grounding", store.ungrounded(days)),
        ("interaction_summaries", "lost_items"): lambda: verdicts.nothing_wrong("lost_items", store.lost(days)),
        ("interaction_summaries", "orphans"): lambda: verdicts.nothing_wrong("orphans", store.summary_orphans()),
        ("session_summaries", "session_coverage"): lambda: verdicts.nothing_wrong(
            "session_coverage", store.misfolded()
        ),
        ("memory_chunks", "coverage"): lambda: verdicts.nothing_wrong(
            "coverage", store.unindexed(days), is_error=False
        ),
        ("memory_chunks", "orphans"): lambda: verdicts.nothing_wrong("orphans", store.chunk_orphans(), is_error=False),
        ("entity_relationship_profiles", "partition_drift"): lambda: verdicts.nothing_wrong(
            "partition_drift", store.miscounted(days), is_error=False
        ),
        ("archived_messages", "partition_drift"): lambda: verdicts.nothing_wrong(
            "partition_drift", store.misfiled_months(days), is_error=False
        ),
    }
    return [questions[asset, name]() for name in CHECKS[asset] if name in names]
