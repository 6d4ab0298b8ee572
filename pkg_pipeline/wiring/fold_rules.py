"""From settings to the thresholds of folding."""

from __future__ import annotations

from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline.session_settings import SessionSettings


def fold_rules(settings: SessionSettings) -> FoldRules:
    """H2-H6, W1, T1, L2, L9 by the settings in force."""
    return FoldRules(
        min_messages=settings.fold_min_messages,
        min_tokens=settings.fold_min_tokens,
        min_minutes=settings.fold_min_minutes,
        max_messages=settings.fold_max_messages,
        max_tokens=settings.fold_max_tokens,
        max_minutes=settings.fold_max_minutes,
        drift=settings.fold_drift,
        cooldown_seconds=settings.fold_cooldown_seconds,
        cooldown_messages=settings.fold_cooldown_messages,
        adapt_percent=settings.fold_adapt_percent,
        short_max_messages=settings.fold_short_max_messages,
        context_size=settings.context_size,
        tail_keep_size=settings.tail_keep_size,
        window_size=settings.compression_window_size,
        window_cooldown_seconds=settings.compression_cooldown_sec,
        hard_limit=settings.compression_hard_limit,
        interval=settings.summary_interval,
        thread_messages=settings.max_messages_per_thread,
        summaries_enabled=settings.enable_summary,
        summary_threshold=settings.summary_threshold,
    )
