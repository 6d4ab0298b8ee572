"""What a lane may spend by the settings in force (P32)."""

from __future__ import annotations

from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.stores import Lane


def usd_cap(settings: Settings, lane: Lane) -> float:
    """USD of a day over all tasks of the lane."""
    return settings.live_usd_per_day if lane == "live" else settings.backfill_usd_per_day
