"""Selects the messages of one prompt (L4, L5, T1, T2).

If not everything fits, in order of priority: live turn, unfolded messages (newest first, shortened), summary (a tenth
of the room), last messages in full, older folded messages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pkg_pipeline.memory.window.groups import (
    CountMany,
    Group,
    SizedMessage,
    WindowDraft,
    group_messages,
    opening_tokens,
    says_something,
    size,
    taken,
)
from pkg_pipeline.memory.window.records import (
    WINDOW_TIERS,
    Budget,
    LeftOutKind,
    LiveTurnTooLong,
    Shown,
    ShownTier,
    Window,
    WindowHistory,
    WindowLeftOut,
    WindowRules,
    WindowTier,
)
from pkg_pipeline.memory.window.summary_message import BETWEEN_SUMMARIES, Head


def budget_of(
    window_tokens: int,
    *,
    margin_percent: float = 10,
    output_tokens: int = 16_000,
    system_tokens: int = 0,
    calibration: float = 1.0,
) -> Budget:
    """L4: the window less margin (L10), answer (at most a quarter) and system prompt, divided by ``calibration`` (B12).

    ``available`` may be zero or less.
    """
    margin = math.ceil(window_tokens * margin_percent / 100)
    output = min(output_tokens, window_tokens // 4)
    left = window_tokens - margin - output - system_tokens
    return Budget(window_tokens, margin, output, system_tokens, math.floor(left / calibration), calibration)


def assemble(history: WindowHistory, budget: Budget, rules: WindowRules, count_many: CountMany) -> Window:
    """The window of at most ``budget.available`` tokens. Deterministic; raises ``LiveTurnTooLong``.

    ``count_many`` counts ``blocks.prompt_text``. Tiers: ``summary``, ``recent``, ``condensed``.
    """
    draft = WindowDraft(history, budget, rules, count_many, [], [])
    group_messages(draft)
    head = _everything(draft)
    if head is None:
        _choose(draft)
        head = draft.head(budget.available - taken(draft.groups))
        _take_folded(draft, budget.available - taken(draft.groups) - head.tokens)
    return _window(draft, head)


def _everything(draft: WindowDraft) -> Head | None:
    """Tier 1 if everything fits; the summary only if it covers messages not shown."""
    open_groups = [group for group in draft.groups if group.state == "out"]
    needs_head = not draft.history.is_whole or len(open_groups) < len(draft.groups)
    left = draft.budget.available - sum(group.tokens for group in open_groups)
    tokens = draft.whole_head_tokens() if needs_head and left >= 0 else 0
    if tokens > left or (not tokens and opening_tokens(draft, open_groups) > left):
        return None
    for group in open_groups:
        group.state = "whole"
    return draft.head(left) if needs_head else Head()


def _choose(draft: WindowDraft) -> None:
    """Marks the live turn and unfolded messages; reserves room for the summary if all fit."""
    live = [group for group in draft.groups if group.is_live and group.state == "out"]
    for group in live:
        group.state = "whole"
    room = draft.budget.available - taken(live)
    if room < 0:
        raise LiveTurnTooLong(tokens=taken(live), available=draft.budget.available)
    newest_first = [group for group in reversed(draft.groups) if group.state == "out" and not group.is_folded]
    needed = sum(group.short_tokens for group in newest_first)
    if needed <= room:
        for group in newest_first:
            group.state = "short"
        _spell_out(draft, newest_first, room - needed)
    else:
        _squeeze(draft, newest_first, room, taken(live))


def _spell_out(draft: WindowDraft, newest_first: Iterable[Group], left: int) -> None:
    recent = [group for group in newest_first if group.is_recent]
    wanted = sum(group.tokens - group.short_tokens for group in recent)
    summary_share = draft.rules.shares[0] * draft.budget.available // sum(draft.rules.shares)
    kept = min(draft.whole_head_tokens(), left, max(summary_share, left - wanted))
    left -= kept
    for group in recent:
        if group.tokens - group.short_tokens <= left:
            left -= group.tokens - group.short_tokens
            group.state = "whole"


def _squeeze(draft: WindowDraft, newest_first: Sequence[Group], room: int, live_tokens: int) -> None:
    """Unfolded messages do not fit shortened: the last in full within their share, older ones shortened."""
    recent_share = draft.rules.shares[2] * draft.budget.available // sum(draft.rules.shares)
    left = min(recent_share - live_tokens, room)
    for group in newest_first:
        if not group.is_recent or group.tokens > left:
            break
        left -= group.tokens
        room -= group.tokens
        group.state = "whole"
    for group in newest_first:
        if group.state == "out" and group.short_tokens <= room:
            room -= group.short_tokens
            group.state = "short"


def _take_folded(draft: WindowDraft, left: int) -> None:
    """Folded messages, newest first and contiguous."""
    for group in reversed(draft.groups):
        if group.state != "out" or not group.is_folded:
            continue
        if group.is_recent and group.tokens <= left:
            group.state = "whole"
        elif group.short_tokens <= left:
            group.state = "short"
        else:
            break
        left -= size(group)


def _window(draft: WindowDraft, head: Head) -> Window:
    opening = 0 if head.text else _opened(draft)
    shown: list[Shown] = []
    if head.text:
        shown.append(Shown(None, "user", head.text, None, "summary", head.tokens))
    elif opening:
        shown.append(Shown(None, "user", draft.rules.opening, None, "summary", opening))
    for group in draft.groups:
        if group.state in ("whole", "short"):
            shown += [one for piece in group.pieces if (one := _shown(draft, piece, group)) is not None]
        else:
            reason = draft.rules.limit_reason if group.state == "over" else "budget"
            draft.left_out += [WindowLeftOut("message", piece.message.key, reason) for piece in group.pieces]
    summaries = _told(draft, head)
    return Window(
        messages=tuple(shown),
        tiers=_tiers(shown),
        tokens=sum(one.tokens for one in shown),
        budget=draft.budget,
        left_out=tuple(draft.left_out),
        summary=head.text,
        has_summary=head.summary_chars > 0,
        summaries=summaries,
        recalled=head.recalled,
        topics=head.topics,
        is_changed=any(one.is_changed for one in shown) or any(one.kind == "message" for one in draft.left_out),
    )


def _opened(draft: WindowDraft) -> int:
    while True:
        chosen = [group for group in draft.groups if group.state in ("whole", "short")]
        opening = opening_tokens(draft, chosen)
        if opening <= draft.budget.available - taken(chosen):
            return opening
        if chosen[0].is_live:
            raise LiveTurnTooLong(tokens=taken(chosen) + opening, available=draft.budget.available)
        chosen[0].state = "out"


def _shown(draft: WindowDraft, piece: SizedMessage, group: Group) -> Shown | None:
    """None where nothing is left after shortening."""
    message, tier = piece.message, _tier(group)
    if group.state == "whole" or not piece.short.changes:
        text, parts, tokens = message.text, message.parts, piece.tokens
        is_changed = piece.was_changed
    else:
        text, parts, tokens, is_changed = piece.short.text, piece.short.parts, piece.short_tokens, True
        draft.left_out += [WindowLeftOut("message", message.key, change) for change in piece.short.changes]
        if parts is not None and not says_something(replace(message, parts=parts)):
            return None
    return Shown(message.key, message.role or "user", text, parts, tier, tokens, is_changed)


def _tier(group: Group) -> WindowTier:
    return "recent" if group.is_recent and group.state == "whole" else "condensed"


def _tiers(shown: Sequence[Shown]) -> tuple[ShownTier, ...]:
    return tuple(
        ShownTier(
            tier,
            sum(one.tokens for one in shown if one.tier == tier),
            tuple(one.key for one in shown if one.tier == tier and one.key is not None),
        )
        for tier in WINDOW_TIERS
    )


def _told(draft: WindowDraft, head: Head) -> int:
    """Number of fold summaries in tier 1; records what had no room."""
    whole = draft.stands
    if whole and head.summary_chars < len(whole) and not draft.history.is_whole:
        reason = "shortened" if head.summary_chars else "budget"
        draft.left_out.append(WindowLeftOut("summary", None, reason))
    if head.text or not draft.history.is_whole:
        missing: tuple[tuple[LeftOutKind, int], ...] = (
            ("recalled", len(draft.history.recalled) - head.recalled),
            ("topics", len(draft.history.topics) - head.topics),
        )
        draft.left_out += [WindowLeftOut(kind, None, "budget", count) for kind, count in missing if count > 0]
    if draft.history.running:
        return 0
    left, told = head.summary_chars, 0
    for summary in reversed(draft.history.summaries):
        if left <= 0:
            break
        left -= len(summary) + len(BETWEEN_SUMMARIES)
        told += 1
    return told
