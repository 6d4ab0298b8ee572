"""Whether a session is folded now (H1-H9, W1-W3, T1, L2, L9): common conditions, then its policy. Never raises."""

from __future__ import annotations

from datetime import datetime

from pkg_pipeline.memory.records import ParsedMessage
from pkg_pipeline.memory.session.policies import hysteresis, interval, sliding, thread_size
from pkg_pipeline.memory.session.records import FoldDecision, SessionEvent, SessionState
from pkg_pipeline.memory.session.thresholds import FoldRules, Load, counted, fold_now, not_yet

__all__ = ["LANGGRAPH", "FoldRules", "Load", "asks_for_summary", "decide", "due_at"]

LANGGRAPH = "langgraph"
"""Source of chats that are LangGraph threads (L1)."""

SUMMARY_COMMAND = "/summary"
"""What a person writes into a session to have it summed up now (H7)."""

_CALM = Load()


def decide(
    state: SessionState,
    rules: FoldRules,
    *,
    now: datetime,
    drift: float | None = None,
    has_embedder: bool = False,
    load: Load = _CALM,
    source: str = "",
) -> FoldDecision:
    """Whether to fold at ``now`` (aware), why, and when the answer may change.

    ``drift``: topic distance, if just measured; ``needs_drift`` requires an embedder. Events fold at once, whatever
    minima and cooldown say, if any message may be folded.
    """
    if not rules.summaries_enabled:
        return not_yet("summaries are switched off (enable_summary)")
    if state.messages_since_hwm <= 0:
        return not_yet("no message since the last fold")
    if source == LANGGRAPH and state.message_count < rules.summary_threshold:
        short = f"the thread has {counted(state.message_count, 'message')}"
        return not_yet(f"{short}, no fold of one below {rules.summary_threshold}")
    if state.event is not None:
        return _at_once(state.event, state, rules)
    match state.policy:
        case "hysteresis":
            return hysteresis(state, rules, now=now, drift=drift, has_embedder=has_embedder, load=load)
        case "sliding":
            return sliding(state, rules, now=now)
        case "interval":
            return interval(state, rules)
        case "thread_size":
            return thread_size(state, rules)


def due_at(
    state: SessionState, rules: FoldRules, *, now: datetime, has_embedder: bool = False, source: str = ""
) -> datetime | None:
    """When to ask ``decide``: now if it folds or needs drift, else when its answer changes. Load is not considered."""
    answer = decide(state, rules, now=now, has_embedder=has_embedder, source=source)
    return now if answer.is_fold or answer.needs_drift else answer.due_at


def asks_for_summary(message: ParsedMessage) -> bool:
    """H7: whether a person says ``/summary`` and nothing else; of agents and tools it is text like any other."""
    return message.role in (None, "user") and message.text.strip().casefold() == SUMMARY_COMMAND


def _at_once(event: SessionEvent, state: SessionState, rules: FoldRules) -> FoldDecision:
    """H7. Only the tail of a sliding window stays (W1)."""
    keep = rules.tail_keep_size if state.policy == "sliding" else 0
    there = f"{event}: {counted(state.messages_since_hwm, 'message')} since the last fold"
    if state.messages_since_hwm <= keep:
        return not_yet(f"{there}, all in the tail of {keep} that stays", keep_tail=keep)
    return fold_now(there, event, keep_tail=keep)
