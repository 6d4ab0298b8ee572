"""Stored summaries as records again: what ``json_rows`` wrote of items, read back. Later fields are optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SummaryContent,
)

_Row = Mapping[str, Any]


def content_of(row: Sequence[Any]) -> SummaryContent:
    """Of the columns summary, key_points, tone, decisions, action_items, extracted_facts, important_messages."""
    summary, key_points, tone, decisions, actions, facts, important = row
    return SummaryContent(
        summary=summary,
        key_points=tuple(key_points),
        tone=tone or "neutral",
        decisions=tuple(map(_decision, decisions)),
        action_items=tuple(map(_action, actions)),
        extracted_facts=tuple(map(_fact, facts)),
        important_messages=tuple(map(_important, important)),
    )


def _evidence(row: _Row) -> dict[str, Any]:
    return {
        "id": UUID(row["id"]),
        "quote": row["quote"],
        "message_ids": tuple(row["message_ids"]),
        "text_hashes": tuple(row.get("text_hashes", ())),
        "is_carried": bool(row.get("is_carried", False)),
    }


def _decision(row: _Row) -> DecisionItem:
    return DecisionItem(
        description=row["description"],
        date=date.fromisoformat(row["date"]),
        importance=row["importance"],
        **_evidence(row),
    )


def _action(row: _Row) -> ActionItem:
    return ActionItem(
        description=row["description"],
        owner=row["owner"],
        status=row["status"],
        due_date=_day(row["due_date"]),
        closed_at=_day(row["closed_at"]),
        owner_entity_id=_id(row.get("owner_entity_id")),
        closed_by=tuple(row.get("closed_by", ())),
        closed_quote=row.get("closed_quote", ""),
        **_evidence(row),
    )


def _fact(row: _Row) -> FactCandidate:
    return FactCandidate(
        fact_type=row["fact_type"],
        value=row["value"],
        confidence=row["confidence"],
        entity_id=_id(row.get("entity_id")),
        **_evidence(row),
    )


def _important(row: _Row) -> ImportantMessage:
    return ImportantMessage(
        message_id=row["message_id"],
        content=row["content"],
        timestamp=datetime.fromisoformat(row["timestamp"]),
        reason=row["reason"],
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
