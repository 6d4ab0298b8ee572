"""Rules of contexts by the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkg_pipeline.stages.reads.context import ContextSettings

if TYPE_CHECKING:
    from pkg_pipeline.settings import Settings


def context_settings(settings: Settings) -> ContextSettings:
    """P1, P2 and P6 from the settings."""
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
