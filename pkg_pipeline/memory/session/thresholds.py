"""Settings of the fold policies, load, and arithmetic of moments that may never come (None)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pkg_pipeline.memory.session.records import FoldDecision, FoldTrigger


@dataclass(frozen=True, slots=True)
class FoldRules:
    min_messages: int = 6
    """H2, with the next two: minima."""
    min_tokens: int = 600
    min_minutes: float = 10
    max_messages: int = 20
    """H3, with the next two: maxima."""
    max_tokens: int = 2000
    max_minutes: float = 120
    drift: float = 0.6
    """H4: cosine distance of a new topic."""
    cooldown_seconds: float = 90
    """H5, with the next one."""
    cooldown_messages: int = 3
    adapt_percent: float = 15
    """H6: raise of thresholds under rising load."""
    short_max_messages: int = 30
    """H6: the maximum of short messages."""

    # sliding window (W1)
    context_size: int = 75
    tail_keep_size: int = 40
    window_size: int = 12
    window_cooldown_seconds: float = 900
    hard_limit: int = 30

    interval: int = 20
    """T1: default of sessions."""
    thread_messages: int = 200
    """L2: a thread with more is pruned to this minus ``thread_buffer``."""
    thread_buffer: int = 20
    summaries_enabled: bool = True
    """L9"""
    summary_threshold: int = 30
    """L9: least messages for a fold of a LangGraph thread."""


@dataclass(frozen=True, slots=True)
class Load:
    """H6: whether cost or load is rising, and why."""

    is_rising: bool = False
    reason: str = ""


def fold_now(reason: str, trigger: FoldTrigger, *, keep_tail: int = 0) -> FoldDecision:
    return FoldDecision(is_fold=True, reason=reason, trigger=trigger, keep_tail=keep_tail)


def not_yet(
    reason: str, *, keep_tail: int = 0, needs_drift: bool = False, due_at: datetime | None = None
) -> FoldDecision:
    return FoldDecision(is_fold=False, reason=reason, keep_tail=keep_tail, needs_drift=needs_drift, due_at=due_at)


def after(moment: datetime, *, seconds: float) -> datetime | None:
    """``seconds`` later in UTC; None beyond the calendar."""
    try:
        return moment.astimezone(UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def earliest(*moments: datetime | None) -> datetime | None:
    """The first; None (never) when there is none."""
    return min((moment for moment in moments if moment is not None), default=None)


def latest(*moments: datetime | None) -> datetime | None:
    """The last; None when one never comes."""
    found = [moment for moment in moments if moment is not None]
    return max(found) if len(found) == len(moments) else None


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
