"""The checks of each asset: their queries and verdicts (B9, P30); thresholds are in ``memory.verdicts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from pkg_pipeline.memory import verdicts
from pkg_pipeline.memory.verdicts import Verdict
from pkg_pipeline.stages.ports import Clock

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.checks import PostgresCheckStore

Days = tuple[date, date]
"""Closed range of local days on which interactions began."""

EVER = (date.min, date.max)

Question = Literal[
    "ungrounded",  # published items whose messages are not in their interaction or whose quote stands in none of them
    "unquoted_items",  # states of items whose messages are not in their chat or whose quote stands in none of them
    "deleted_items",  # items that are shown although a message that they rest on was deleted
    "summary_orphans",  # items, facts and live summaries whose summary or interaction is gone
    "interaction_orphans",  # messages that point to an interaction that is gone
    "misfiled_days",  # interactions filed under another day than the local one on which they began
    "miscounted",  # profiles of these weeks whose totals are not those of a recount
    "misfiled_months",  # texts archived in these months of interactions that began in another one
    "unindexed",  # live messages with words, outside mass chats, that have no chunk (L7)
    "chunk_orphans",  # chunks whose message or interaction is gone, codes whose chunk is
    "misfolded",  # sessions whose folds overlap, leave a message out or end elsewhere, or are miscounted (H10, H16)
]

_QUESTIONS: Mapping[tuple[str, str], tuple[Question, bool]] = {
    ("interactions", "orphans"): ("interaction_orphans", True),
    ("interactions", "partition_drift"): ("misfiled_days", True),
    ("items", "grounding"): ("unquoted_items", True),
    ("items", "deleted"): ("deleted_items", True),
    ("interaction_summaries", "grounding"): ("ungrounded", True),
    ("interaction_summaries", "orphans"): ("summary_orphans", True),
    ("session_summaries", "session_coverage"): ("misfolded", True),
    ("memory_chunks", "coverage"): ("unindexed", False),
    ("memory_chunks", "orphans"): ("chunk_orphans", False),
    ("entity_relationship_profiles", "partition_drift"): ("miscounted", False),
    ("archived_messages", "partition_drift"): ("misfiled_months", False),
}
"""(asset, check) → (query, whether a failure is an error rather than a warning)."""

CHECKS: Mapping[str, tuple[str, ...]] = {
    "interactions": ("orphans", "partition_drift"),
    "items": ("grounding", "deleted"),
    "interaction_summaries": ("coverage", "grounding", "orphans"),
    "session_summaries": ("session_coverage",),
    "memory_chunks": ("coverage", "orphans"),
    "entity_relationship_profiles": ("partition_drift",),
    "archived_messages": ("partition_drift",),
}


@dataclass(frozen=True, slots=True)
class CheckParams:
    """P11: when an interaction is due."""

    due_after_seconds: float
    minimum_messages: int


def verify(
    asset: str,
    names: Sequence[str],
    span: tuple[date, date] | None,
    *,
    store: PostgresCheckStore,
    clock: Clock,
    params: CheckParams,
) -> list[Verdict]:
    """The verdicts of ``names``. ``span``: first days of the first and last partition, None: all.

    Raises KeyError for a name that is no check of the asset.
    """
    days = EVER if span is None else span

    def verdict(name: str) -> Verdict:
        if (asset, name) == ("interaction_summaries", "coverage"):
            due, minimum = params.due_after_seconds, params.minimum_messages
            counted = store.coverage(days, now=clock.now(), due_after_seconds=due, minimum_messages=minimum)
            return verdicts.coverage(counted)
        question, is_error = _QUESTIONS[asset, name]
        return verdicts.nothing_wrong(name, store.found(question, days), is_error=is_error)

    return [verdict(name) for name in CHECKS[asset] if name in names]
