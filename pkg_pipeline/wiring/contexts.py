"""Contexts' part of the composition root: what they may hold, from the settings."""

from __future__ import annotations

from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.reads.context import ContextSettings


def context_settings(settings: Settings) -> ContextSettings:
    """P1, P2 and P6 as the reads need them."""
    return ContextSettings(
        zone=settings.zone,
        max_tokens=settings.context_tokens,
        hot_days=settings.hot_days,
        hot_messages=settings.hot_messages,
        warm_days=settings.warm_days,
        warm_summaries=settings.warm_summaries,
        shares={
            "permanent": settings.permanent_share,
            "hot": settings.hot_share,
            "warm": settings.warm_share,
            "cold": settings.cold_share,
            "relevant": settings.relevant_share,
        },
    )
