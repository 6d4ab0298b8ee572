"""Profiles for the tests of the reads, written by SQL as the profile stage leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, made_id


def milestone(day: date, title: str, *interactions: UUID, importance: str = "high") -> dict[str, Any]:
    ids = [str(one) for one in interactions]
    return {"day": day.isoformat(), "title": title, "importance": importance, "interaction_ids": ids}


def key_decision(item: UUID, interaction: UUID, day: date, text: str) -> dict[str, Any]:
    return {
        "id": str(item),
        "interaction_id": str(interaction),
        "decided_on": day.isoformat(),
        "description": text,
    }


def profile(
    build: MemoryBuilder,
    name: str,
    week: date,
    summary: str,
    *,
    milestones: Sequence[dict[str, Any]] = (),
    key_decisions: Sequence[dict[str, Any]] = (),
    dirty_reason: str | None = None,
    **changes: Any,
) -> UUID:
    """The profile of ``name`` in the week that begins on the Sunday ``week``, in UTC."""
    identity = made_id("profile", name, week)
    ends_at = datetime.combine(week + timedelta(days=7), time(), UTC)
    values: dict[str, Any] = {
        "relationship_type": "friend",
        "frequency": "weekly",
        "language": "en",
        **changes,
    }
    build.insert(
        "entity_relationship_profiles",
        entity_id=build.people[name],
        week=week,
        id=identity,
        as_of=ends_at,
        covers_until=ends_at - timedelta(days=7),
        status="dirty" if dirty_reason else "completed",
        dirty_reason=dirty_reason,
        input_hash="h",
        prompt_version="p",
        model_version="m",
        summary=summary,
        first_interaction_at=ends_at,
        last_interaction_at=ends_at,
        total_interactions=9,
        total_messages=90,
        summarized_interactions=9,
        coverage=1,
        milestones=Jsonb(list(milestones)),
        key_decisions=Jsonb(list(key_decisions)),
        source_token_count=9,
        summary_token_count=9,
        cost_usd=0,
        generation_seconds=0.1,
        **values,
    )
    return identity
