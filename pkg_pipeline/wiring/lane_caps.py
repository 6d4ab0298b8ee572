"""What a lane may spend by the settings in force (P32)."""

from __future__ import annotations

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.summaries.stores import Lane


def usd_cap(settings: Settings, lane: Lane) -> float:
    """USD of a day over all tasks of the lane."""
    return settings.live_usd_per_day if lane == "live" else settings.backfill_usd_per_day


def budget_store(settings: Settings, connections: ConnectionPool) -> PostgresBudgetStore:
    """The one place that every paid call asks, with the rules in force."""
    return PostgresBudgetStore(connections, timezone=settings.timezone, unanswered_limit=settings.llm_unanswered_limit)
