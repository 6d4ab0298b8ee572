"""The fold policies: hysteresis of maxima and minima (H1-H6), sliding window, interval, thread size.

Conditions are moments from which they hold. A fold is due when the maximum, minimum and cooldown all hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.session.records import FoldDecision, FoldTrigger, SessionState
from pkg_pipeline.memory.session.thresholds import FoldRules, Load, after, counted, earliest, fold_now, latest, not_yet

SHORT_MESSAGE_TOKENS = 20
"""H6: messages are short below this mean (thirty of them reach no minimum of 600 tokens, H2)."""

MESSAGES_PER_LOOK = 3
"""New messages between two looks at the topic."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The thresholds of a session after H6, and what was raised, in words."""

    min_messages: float
    min_tokens: float
    min_minutes: float
    max_messages: float
    max_tokens: float
    max_minutes: float
    raised: str = ""


def limits(state: SessionState, rules: FoldRules, load: Load) -> Limits:
    """H6: rising load raises all thresholds, short messages only the maximum of messages."""
    factor = (100 + rules.adapt_percent) / 100 if load.is_rising else 1.0
    raised: list[str] = []
    if load.is_rising:
        raised.append(f"all raised by {rules.adapt_percent:g} %: {load.reason or 'cost or load is rising'}")
    most = _times(rules.max_messages, factor)
    count = state.messages_since_hwm
    if count > 0 and state.tokens_since_hwm < SHORT_MESSAGE_TOKENS * count and most < rules.short_max_messages:
        most = rules.short_max_messages
        raised.append(f"messages of {state.tokens_since_hwm / count:.0f} tokens on average: at most {most:g}")
    return Limits(
        min_messages=_times(rules.min_messages, factor),
        min_tokens=_times(rules.min_tokens, factor),
        min_minutes=_times(rules.min_minutes, factor),
        max_messages=most,
        max_tokens=_times(rules.max_tokens, factor),
        max_minutes=_times(rules.max_minutes, factor),
        raised=f" ({'; '.join(raised)})" if raised else "",
    )


def _times(value: float, factor: float) -> float:
    return round(value * factor, 9)  # 20 * 1.15 is 23, not 22.999999999999996


def hysteresis(
    state: SessionState, rules: FoldRules, *, now: datetime, drift: float | None, has_embedder: bool, load: Load
) -> FoldDecision:
    """H4, H5. ``state`` counts messages since the HWM. Reasons in order: tokens, turns, time, topic."""
    bounds = limits(state, rules, load)
    rest = _cooldown_end(state, rules, now)
    reached: dict[FoldTrigger, datetime | None] = {
        trigger: latest(moment, rest) for trigger, moment in _moments(state, bounds, now).items()
    }
    if drift is not None and drift >= rules.drift:
        reached["topic_shift"] = rest
    for trigger, moment in reached.items():
        if moment is not None and moment <= now:
            return fold_now(_why(trigger, state, bounds, now=now, drift=drift), trigger)
    due_at = earliest(*reached.values())
    look = rest if has_embedder and drift is None and _is_worth_a_look(state, bounds) else None
    if look is not None and look <= now:
        reason = f"below every maximum; {counted(state.messages_since_look, 'new message')} since the topic was seen"
        return not_yet(reason, needs_drift=True, due_at=due_at)
    return not_yet(_why_not(state, rules, bounds, now=now, drift=drift), due_at=earliest(due_at, look))


def _moments(state: SessionState, bounds: Limits, now: datetime) -> dict[FoldTrigger, datetime | None]:
    """When each maximum holds together with a minimum, cooldown aside."""
    since = state.first_since_at
    has_counts = state.messages_since_hwm >= bounds.min_messages or state.tokens_since_hwm >= bounds.min_tokens
    any_minimum = now if has_counts else _minutes_after(since, bounds.min_minutes)
    return {
        "tokens": any_minimum if state.tokens_since_hwm >= bounds.max_tokens else None,
        "turns": any_minimum if state.messages_since_hwm >= bounds.max_messages else None,
        # time alone is no minimum: a single message never folds
        "time": _minutes_after(since, bounds.max_minutes) if has_counts else None,
    }


def _minutes_after(moment: datetime | None, minutes: float) -> datetime | None:
    return None if moment is None else after(moment, seconds=minutes * 60)


def _cooldown_end(state: SessionState, rules: FoldRules, now: datetime) -> datetime | None:
    """H5: when an automatic fold may follow the last one; None with too few new messages."""
    if state.last_fold_at is None:
        return now
    if state.messages_since_fold < rules.cooldown_messages:
        return None
    return after(state.last_fold_at, seconds=rules.cooldown_seconds)


def _is_worth_a_look(state: SessionState, bounds: Limits) -> bool:
    least = max(bounds.min_messages, NEWEST + 1)
    return state.messages_since_look >= MESSAGES_PER_LOOK and state.messages_since_hwm >= least


def _why(trigger: FoldTrigger, state: SessionState, bounds: Limits, *, now: datetime, drift: float | None) -> str:
    match trigger:
        case "tokens":
            said = f"{counted(state.tokens_since_hwm, 'token')} since the last fold, of at most {bounds.max_tokens:g}"
        case "turns":
            count = counted(state.messages_since_hwm, "message")
            said = f"{count} since the last fold, of at most {bounds.max_messages:g}"
        case "time":
            said = f"{_minutes(state, now)} minutes since the first message after the last fold, of at most"
            said += f" {bounds.max_minutes:g}, and {_counts(state)}"
        case _:
            return f"the topic is another one: distance {drift or 0:.2f} of the newest {NEWEST} messages from the rest"
    return said + bounds.raised


def _why_not(state: SessionState, rules: FoldRules, bounds: Limits, *, now: datetime, drift: float | None) -> str:
    reached: list[FoldTrigger] = [
        trigger for trigger, moment in _moments(state, bounds, now).items() if moment and moment <= now
    ]
    if drift is not None and drift >= rules.drift:
        reached.append("topic_shift")
    if reached and state.last_fold_at is not None:
        seconds = (now - state.last_fold_at).total_seconds()
        return (
            f"{_why(reached[0], state, bounds, now=now, drift=drift)}; but the last fold was {seconds:.0f} s ago (at"
            f" least {rules.cooldown_seconds:g}) and {counted(state.messages_since_fold, 'message')} came since (at"
            f" least {rules.cooldown_messages})"
        )
    most = f"{bounds.max_messages:g} messages, {bounds.max_tokens:g} tokens or {bounds.max_minutes:g} minutes"
    least = f"{bounds.min_messages:g} messages or {bounds.min_tokens:g} tokens"
    said = f"{_counts(state)} in {_minutes(state, now)} minutes: not yet {most} with at least {least}{bounds.raised}"
    return said if drift is None else f"{said}; the topic is the same (distance {drift:.2f} of {rules.drift:g})"


def _counts(state: SessionState) -> str:
    return f"{counted(state.messages_since_hwm, 'message')} with {counted(state.tokens_since_hwm, 'token')}"


def _minutes(state: SessionState, now: datetime) -> str:
    return "0" if state.first_since_at is None else f"{(now - state.first_since_at).total_seconds() / 60:.0f}"


def sliding(state: SessionState, rules: FoldRules, *, now: datetime) -> FoldDecision:
    """W2, W3: all but the newest ``tail_keep_size`` messages, in whole windows, or any number after the cooldown. The
    hard limit is reported before the window.
    """
    tail = rules.tail_keep_size
    compress_end = state.message_count - tail
    delta = compress_end - state.last_consolidated
    numbers = f"{state.message_count} - {tail} - {state.last_consolidated} = {counted(delta, 'message')} to fold"
    if delta <= 0:
        return not_yet(f"nothing before the tail: {numbers}", keep_tail=tail)
    if delta >= rules.hard_limit:
        return fold_now(f"{numbers}, the hard limit is {rules.hard_limit}", "hard_limit", keep_tail=tail)
    if delta >= rules.window_size:
        return fold_now(f"{numbers}, a window is {rules.window_size}", "window", keep_tail=tail)
    # never folded, or at an unknown time: counted from its first message (W5)
    since = state.last_fold_at or state.first_since_at
    due_at = None if since is None else after(since, seconds=rules.window_cooldown_seconds)
    cooldown = f"the cooldown of {rules.window_cooldown_seconds:g} s"
    if due_at is not None and due_at <= now:
        return fold_now(f"{numbers}, {cooldown} has passed", "cooldown", keep_tail=tail)
    reason = f"{numbers}: less than a window of {rules.window_size}, and {cooldown} has not passed"
    return not_yet(reason, keep_tail=tail, due_at=due_at)


def interval(state: SessionState, rules: FoldRules) -> FoldDecision:
    """T1: every so many uncovered messages."""
    most = state.summary_interval or rules.interval
    reason = f"{counted(state.messages_since_hwm, 'message')} since the last fold, the interval is {most}"
    return fold_now(reason, "interval") if state.messages_since_hwm >= most else not_yet(reason)


def thread_size(state: SessionState, rules: FoldRules) -> FoldDecision:
    """L2: more than 200 unfolded messages → the oldest, so that 180 are left."""
    keep = max(0, rules.thread_messages - rules.thread_buffer)
    count = state.messages_since_hwm
    if count <= rules.thread_messages:
        reason = f"{counted(count, 'message')} in the thread, at most {rules.thread_messages}"
        return not_yet(reason, keep_tail=keep)
    oldest = count - keep
    reason = (
        f"{counted(count, 'message')} in the thread, at most {rules.thread_messages}: the oldest {count} -"
        f" {rules.thread_messages} + {rules.thread_messages - keep} = {oldest} are folded"
    )
    return fold_now(reason, "thread_size", keep_tail=keep)


NEWEST: Final = 3
"""H4: messages compared with the rest."""


def drift(vectors: NDArray[np.float32], *, newest: int = NEWEST) -> float:
    """1 - cosine(mean of the ``newest`` last rows, mean of the rows before), from 0 to 2.

    ``vectors``: (n, d), one per message since the HWM. 0 without earlier rows or with a zero mean. ``ValueError``:
    another shape or non-finite values.
    """
    if vectors.ndim != 2 or newest < 1:
        raise ValueError(
            f"vectors are rows of one length, not of shape {vectors.shape}; newest is {newest}, at least 1"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    if len(vectors) <= newest:
        return 0.0
    now = vectors[-newest:].mean(axis=0, dtype=np.float64)
    before = vectors[:-newest].mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(now) * np.linalg.norm(before))
    if length == 0.0:
        return 0.0
    return min(2.0, max(0.0, 1.0 - float(now @ before) / length))
