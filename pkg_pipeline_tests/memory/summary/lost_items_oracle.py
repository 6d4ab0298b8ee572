"""What no update may lose without a word (P28)."""

from __future__ import annotations

from pkg_pipeline.memory.records import Quarantined, SummaryContent


def silently_lost(known_content: SummaryContent, content: SummaryContent, named: tuple[Quarantined, ...]) -> list[str]:
    """Ids of known items that are neither in ``content`` nor named as lost: always empty."""
    kept = {item.id for item in (*content.decisions, *content.action_items, *content.extracted_facts)}
    words = " ".join(entry.part for entry in named)
    items = (*known_content.decisions, *known_content.action_items, *known_content.extracted_facts)
    return [str(item.id) for item in items if item.id not in kept and str(item.id) not in words]
