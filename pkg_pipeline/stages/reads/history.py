"""Lists of an entity's interactions and of summaries; content based on deleted messages is withheld (P29)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key, message_key
from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.paging import Page, cursor_of, page_of, time_position
from pkg_pipeline.stages.reads.stores import Position, StoredSummary, SummaryFilter, TimelineRow

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

MOST_READS_A_PAGE = 25
"""Rows of a rare status: then a page ends early, with a cursor."""


def list_summaries(
    store: PostgresReadStore, wanted: SummaryFilter, *, now: datetime, limit: int, cursor: str | None
) -> Page:
    """Summaries, newest interaction first. Raises BadCursor.

    All versions of an interaction are on one page, so it may exceed ``limit``.
    """
    after: Position | None = time_position(cursor)
    items: list[dict[str, Any]] = []
    for _ in range(MOST_READS_A_PAGE):
        found, after = store.summaries_page(wanted, now=now, after=after, limit=limit - len(items))
        items += [summary_json(one) for one in found]
        if after is None or len(items) >= limit:
            break
    return Page(tuple(items), None if after is None else cursor_of(*after))


def timeline(store: PostgresReadStore, entity_id: UUID, *, limit: int, cursor: str | None) -> Page:
    """Interactions of an entity, newest first, each with one line of its summary. Raises BadCursor."""
    found = store.timeline_page(entity_id, after=time_position(cursor), limit=limit + 1)
    return page_of(found, limit, _timeline_json, key=lambda row: (row.started_at, row.interaction_id))


SERVED = ("completed", "dirty")
"""Statuses of the current summary. Its text is withheld as a whole, its items each by itself; other versions show none.
"""


def summary_json(one: StoredSummary) -> dict[str, Any]:
    """One row; ``withheld``: its text uses a deleted message (P29)."""
    is_withheld = one.is_withheld
    return {
        "id": str(one.id),
        "interaction_id": str(one.interaction_id),
        "chat": chat_key(one.source, one.chat_external_id),
        "started_at": iso(one.started_at),
        "ended_at": iso(one.ended_at),
        "status": one.status,
        "revision": one.revision,
        "summary": None if is_withheld else one.summary,
        "key_points": [] if is_withheld else list(one.key_points),
        "tone": one.tone,
        "decisions": _items(one, one.decisions),
        "action_items": _items(one, one.action_items),
        "extracted_facts": _items(one, one.extracted_facts),
        "important_messages": [] if is_withheld else [_important(one, given) for given in one.important_messages],
        "model_version": one.model_version,
        "cost_usd": one.cost_usd,
        "withheld": is_withheld,
    }


def _items(one: StoredSummary, stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """With message keys for external ids; of the current summary alone."""
    if one.status not in SERVED:
        return []
    return [{**given, "message_ids": [_key(one, key) for key in given["message_ids"]]} for given in stored]


def _important(one: StoredSummary, given: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, "message_id": _key(one, given["message_id"])}


def _key(one: StoredSummary, external_id: str) -> str:
    return message_key(one.source, one.chat_external_id, external_id)


def _timeline_json(row: TimelineRow) -> dict[str, Any]:
    summary = None
    if row.summary_id is not None:
        text = None if row.is_withheld else one_line(row.summary or "")
        summary = {"id": str(row.summary_id), "status": row.summary_status, "text": text}
    return {
        "interaction_id": str(row.interaction_id),
        "chat": chat_key(row.source, row.chat_external_id),
        "chat_kind": row.chat_kind,
        "chat_title": row.chat_title,
        "started_at": iso(row.started_at),
        "ended_at": iso(row.ended_at),
        "status": row.status,
        "language": row.language,
        "messages": row.messages,
        "summary": summary,
    }
