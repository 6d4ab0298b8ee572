"""Summaries that cannot be made again: what they rest on is said no more, and too few messages are left (P11, P29).

They would stay dirty for ever. Instead they are superseded without a successor, and of what they knew only that is
served on whose messages still say it; the rest is named in the row as lost.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.memory.summary.reconciliation import carry_over
from pkg_pipeline.stages.summaries.stores import Eligibility, SummaryStore


def let_go_of_small(days: tuple[date, date], *, store: SummaryStore, eligibility: Eligibility) -> int:
    """Looks through the closed range of days; returns how many summaries went. A second look finds nothing."""
    gone = 0
    for found in store.too_small(days, eligibility=eligibility):
        kept = carry_over((found.content,), _empty(found.content), found.texts)
        items = (*kept.content.decisions, *kept.content.action_items, *kept.content.extracted_facts)
        gone += store.let_go(
            found,
            keep=[item.id for item in items],
            lost=kept.lost,
            minimum_messages=eligibility.minimum_messages,
        )
    return gone


def _empty(content: SummaryContent) -> SummaryContent:
    return replace(content, decisions=(), action_items=(), extracted_facts=(), important_messages=())
