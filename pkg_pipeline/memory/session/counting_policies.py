"""The policies that count messages: sliding window (W1-W3), interval (T1), size of a thread (L2). Pure."""

from __future__ import annotations

from datetime import datetime

from pkg_pipeline.memory.session.records import FoldDecision, SessionState
from pkg_pipeline.memory.session.thresholds import FoldRules, after, counted, fold_now, not_yet


def sliding(state: SessionState, rules: FoldRules, *, now: datetime) -> FoldDecision:
    """W2, W3: the newest ``tail_keep_size`` messages are never folded; of those before them, whole windows at a time,
    or what there is once the cooldown has passed. The hard limit is named before the window, which it includes.
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
    # a session that was never folded, or does not know when, waits from its first message on (W5)
    since = state.last_fold_at or state.first_since_at
    due_at = None if since is None else after(since, seconds=rules.window_cooldown_seconds)
    cooldown = f"the cooldown of {rules.window_cooldown_seconds:g} s"
    if due_at is not None and due_at <= now:
        return fold_now(f"{numbers}, {cooldown} has passed", "cooldown", keep_tail=tail)
    reason = f"{numbers}: less than a window of {rules.window_size}, and {cooldown} has not passed"
    return not_yet(reason, keep_tail=tail, due_at=due_at)


def interval(state: SessionState, rules: FoldRules) -> FoldDecision:
    """T1: every so many messages that no fold covers yet."""
    most = state.summary_interval or rules.interval
    reason = f"{counted(state.messages_since_hwm, 'message')} since the last fold, the interval is {most}"
    return fold_now(reason, "interval") if state.messages_since_hwm >= most else not_yet(reason)


def thread_size(state: SessionState, rules: FoldRules) -> FoldDecision:
    """L2: more than 200 unfolded messages → the oldest, so that 180 are left.

    What folds cover counts no more: it is what pruning takes out of the thread.
    """
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
