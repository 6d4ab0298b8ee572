"""From a session's history to the messages of one prompt (L4, L5, T1, T2): shown, cut short or left out.

Where everything fits nothing is changed. Where it does not, these come first, in this order: the live turn, whole and
untouched; what no fold covers, newest first, cut short where that lets more of it in; the summary, with its tenth of
the room if there is any; the last messages word for word instead of cut short; older ones that the summary stands for.

Records are in ``window_records``, the forms of SDKs in ``window_forms``. No I/O; whoever calls counts tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pkg_pipeline.memory.window.groups import (
    CountMany,
    Desk,
    Group,
    Piece,
    lay_out,
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
    """L4: the model's window less the margin (L10), room for the answer (a quarter at most) and the system prompt.

    What is left is divided by ``calibration``: how many tokens the model reports for one counted here (B12).
    ``available`` may be zero or less: then nothing fits.
    """
    margin = math.ceil(window_tokens * margin_percent / 100)
    output = min(output_tokens, window_tokens // 4)
    left = window_tokens - margin - output - system_tokens
    return Budget(window_tokens, margin, output, system_tokens, math.floor(left / calibration), calibration)


LARGEST_CALIBRATION = 3.0


def calibration_of(ratio: float | None) -> float:
    """B12: by how much a budget shrinks for this ratio of reported to counted tokens: never less than 1, at most 3."""
    return min(max(ratio or 1.0, 1.0), LARGEST_CALIBRATION)


def assemble(history: WindowHistory, budget: Budget, rules: WindowRules, count_many: CountMany) -> Window:
    """The window of at most ``budget.available`` tokens. Deterministic; raises ``LiveTurnTooLong``.

    ``count_many`` counts what a message says: ``message_parts.prompt_text`` of what is served of it. The tiers are
    ``summary``, ``recent`` (the last ones and the live turn) and ``condensed`` (older ones, cut short where they had
    to be).
    """
    desk = Desk(history, budget, rules, count_many, [], [])
    lay_out(desk)
    head = _everything(desk)
    if head is None:
        _choose(desk)
        head = desk.head(budget.available - taken(desk.groups))
        _take_folded(desk, budget.available - taken(desk.groups) - head.tokens)
    return _window(desk, head)


# ── who gets in ──────────────────────────────────────────────────────────────────────────────


def _everything(desk: Desk) -> Head | None:
    """Tier 1 where all of it fits as it is; the summary only where it stands for something that is not shown."""
    open_groups = [group for group in desk.groups if group.state == "out"]
    needs_head = not desk.history.is_whole or len(open_groups) < len(desk.groups)
    left = desk.budget.available - sum(group.tokens for group in open_groups)
    tokens = desk.whole_head_tokens() if needs_head and left >= 0 else 0
    if tokens > left or (not tokens and opening_tokens(desk, open_groups) > left):
        return None
    for group in open_groups:
        group.state = "whole"
    return desk.head(left) if needs_head else Head()


def _choose(desk: Desk) -> None:
    """The live turn and what no fold covers; a part of the room is kept for the summary where all of that is in."""
    live = [group for group in desk.groups if group.is_live and group.state == "out"]
    for group in live:
        group.state = "whole"
    room = desk.budget.available - taken(live)
    if room < 0:
        raise LiveTurnTooLong(tokens=taken(live), available=desk.budget.available)
    newest_first = [group for group in reversed(desk.groups) if group.state == "out" and not group.is_folded]
    needed = sum(group.short_tokens for group in newest_first)
    if needed <= room:
        for group in newest_first:
            group.state = "short"
        _spell_out(desk, newest_first, room - needed)
    else:
        _squeeze(desk, newest_first, room, taken(live))


def _spell_out(desk: Desk, newest_first: Iterable[Group], left: int) -> None:
    """The last messages word for word, as far as the room allows that the summary does not have a right to."""
    recent = [group for group in newest_first if group.is_recent]
    wanted = sum(group.tokens - group.short_tokens for group in recent)
    summary_share = desk.rules.shares[0] * desk.budget.available // sum(desk.rules.shares)
    kept = min(desk.whole_head_tokens(), left, max(summary_share, left - wanted))
    left -= kept
    for group in recent:
        if group.tokens - group.short_tokens <= left:
            left -= group.tokens - group.short_tokens
            group.state = "whole"


def _squeeze(desk: Desk, newest_first: Sequence[Group], room: int, live_tokens: int) -> None:
    """Not all of it fits even when cut short: the last ones whole within their share, then older ones cut short."""
    recent_share = desk.rules.shares[2] * desk.budget.available // sum(desk.rules.shares)
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


def _take_folded(desk: Desk, left: int) -> None:
    """What the summary stands for as well, newest first and without a gap."""
    for group in reversed(desk.groups):
        if group.state != "out" or not group.is_folded:
            continue
        if group.is_recent and group.tokens <= left:
            group.state = "whole"
        elif group.short_tokens <= left:
            group.state = "short"
        else:
            break
        left -= size(group)


# ── how it is shown ──────────────────────────────────────────────────────────────────────────


def _window(desk: Desk, head: Head) -> Window:
    opening = 0 if head.text else _opened(desk)
    shown: list[Shown] = []
    if head.text:
        shown.append(Shown(None, "user", head.text, None, "summary", head.tokens))
    elif opening:
        shown.append(Shown(None, "user", desk.rules.opening, None, "summary", opening))
    for group in desk.groups:
        if group.state in ("whole", "short"):
            shown += [one for piece in group.pieces if (one := _shown(desk, piece, group)) is not None]
        else:
            reason = desk.rules.limit_reason if group.state == "over" else "budget"
            desk.left_out += [WindowLeftOut("message", piece.message.key, reason) for piece in group.pieces]
    summaries = _told(desk, head)
    return Window(
        messages=tuple(shown),
        tiers=_tiers(shown),
        tokens=sum(one.tokens for one in shown),
        budget=desk.budget,
        left_out=tuple(desk.left_out),
        summary=head.text,
        has_summary=head.summary_chars > 0,
        summaries=summaries,
        recalled=head.recalled,
        topics=head.topics,
        is_changed=any(one.is_changed for one in shown) or any(one.kind == "message" for one in desk.left_out),
    )


def _opened(desk: Desk) -> int:
    """Tokens of the opening; older groups give way to it, or where there are none the live turn is too long."""
    while True:
        chosen = [group for group in desk.groups if group.state in ("whole", "short")]
        opening = opening_tokens(desk, chosen)
        if opening <= desk.budget.available - taken(chosen):
            return opening
        if chosen[0].is_live:
            raise LiveTurnTooLong(tokens=taken(chosen) + opening, available=desk.budget.available)
        chosen[0].state = "out"


def _shown(desk: Desk, piece: Piece, group: Group) -> Shown | None:
    """None where nothing is left of it once it is cut short: it was thinking alone."""
    message, tier = piece.message, _tier(group)
    if group.state == "whole" or not piece.short.changes:
        text, parts, tokens = message.text, message.parts, piece.tokens
        is_changed = piece.was_changed
    else:
        text, parts, tokens, is_changed = piece.short.text, piece.short.parts, piece.short_tokens, True
        desk.left_out += [WindowLeftOut("message", message.key, change) for change in piece.short.changes]
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


def _told(desk: Desk, head: Head) -> int:
    """How many fold summaries are in tier 1; names what of it had no room."""
    whole = desk.stands
    if whole and head.summary_chars < len(whole) and not desk.history.is_whole:
        reason = "shortened" if head.summary_chars else "budget"
        desk.left_out.append(WindowLeftOut("summary", None, reason))
    if head.text or not desk.history.is_whole:
        missing: tuple[tuple[LeftOutKind, int], ...] = (
            ("recalled", len(desk.history.recalled) - head.recalled),
            ("topics", len(desk.history.topics) - head.topics),
        )
        desk.left_out += [WindowLeftOut(kind, None, "budget", count) for kind, count in missing if count > 0]
    if desk.history.running:
        return 0
    left, told = head.summary_chars, 0
    for summary in reversed(desk.history.summaries):
        if left <= 0:
            break
        left -= len(summary) + len(BETWEEN_SUMMARIES)
        told += 1
    return told
