"""Frozen records as JSON objects for ``jsonb`` columns, and back: dates and ids as text, tuples as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any
from uuid import UUID

import orjson

from pkg_pipeline.memory.profile.records import Milestone
from pkg_pipeline.memory.records import Quarantined


def rows_of(records: Iterable[Any]) -> list[dict[str, Any]]:
    """One object a record, with the record's own field names."""
    return orjson.loads(orjson.dumps(list(records)))


def milestones_of(rows: Iterable[dict[str, Any]]) -> tuple[Milestone, ...]:
    """Milestones as ``rows_of`` wrote them."""
    return tuple(
        Milestone(
            day=date.fromisoformat(row["day"]),
            title=row["title"],
            importance=row["importance"],
            interaction_ids=tuple(UUID(key) for key in row["interaction_ids"]),
        )
        for row in rows
    )


def quarantined_of(rows: Iterable[dict[str, Any]]) -> tuple[Quarantined, ...]:
    """What a gate took out, as ``rows_of`` wrote it."""
    return tuple(Quarantined(row["part"], row["reason"]) for row in rows)
