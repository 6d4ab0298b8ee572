"""What holds for every window, whatever the history: budget, live turn, pairs, order, and that nothing goes unnamed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.message.blocks import call_ids, prompt_text, result_ids
from pkg_pipeline.memory.message.turns import live_turn
from pkg_pipeline.memory.window.groups import paired
from pkg_pipeline.memory.window.records import Budget, LiveTurnTooLong, Window, WindowHistory, WindowRules
from pkg_pipeline.memory.window.selection import assemble
from pkg_pipeline_tests.memory.window.histories import count_many, histories

BUDGETS = st.integers(0, 900)
RULES = st.builds(
    WindowRules,
    full_recent_count=st.integers(1, 12),
    condensed_tool_max=st.integers(1, 200),
    most_messages=st.integers(1, 60),
    opening=st.sampled_from(["", "It goes on."]),
)


def made(history: WindowHistory, available: int, rules: WindowRules) -> Window | None:
    """None where the live turn alone is too long."""
    try:
        return assemble(history, Budget(available, 0, 0, 0, available), rules, count_many)
    except LiveTurnTooLong as error:
        live = [message for message in paired(history.messages).messages[live_turn(history.messages) :] if message]
        counted = sum(count_many([prompt_text(message.text, message.parts) for message in live]))
        if counted + 3 <= available:  # what goes before an answer that would be the first is three words
            raise
        if not error.tokens > error.available == available:
            raise
        return None


@settings(max_examples=250, deadline=None)
@given(histories(), BUDGETS, RULES)
def test_windows(history: WindowHistory, available: int, rules: WindowRules) -> None:
    window = made(history, available, rules)
    if window is None:
        return
    counted = sum(count_many([prompt_text(one.text, one.parts) for one in window.messages]))
    assert window.tokens == counted == sum(tier.tokens for tier in window.tiers) <= available
    order = {message.key: at for at, message in enumerate(history.messages)}
    shown = [one.key for one in window.messages if one.key is not None]
    assert shown == sorted(set(shown), key=lambda key: order[key])
    assert sorted(shown) == sorted(key for tier in window.tiers for key in tier.messages)
    _pairs_are_together(window)
    _live_turn_is_whole(history, window)
    _nothing_goes_unnamed(history, window)
    if rules.opening and window.messages:
        assert window.messages[0].role != "assistant"


def _pairs_are_together(window: Window) -> None:
    open_calls: set[str] = set()
    for one in window.messages:
        results = set(result_ids(one.parts))
        assert results <= open_calls, "a result without its call"
        open_calls -= results
        open_calls |= set(call_ids(one.parts))
    if open_calls:
        at = next(at for at, one in enumerate(window.messages) if open_calls & set(call_ids(one.parts)))
        assert all(call_ids(one.parts) or result_ids(one.parts) for one in window.messages[at:])


def _live_turn_is_whole(history: WindowHistory, window: Window) -> None:
    shown = {one.key: one for one in window.messages}
    sendable = paired(history.messages).messages
    for at in range(live_turn(history.messages), len(history.messages)):
        message = sendable[at]
        if message is not None:
            assert (shown[message.key].text, shown[message.key].parts) == (message.text, message.parts)
            assert shown[message.key].tier == "recent"


def _nothing_goes_unnamed(history: WindowHistory, window: Window) -> None:
    named = {one.id for one in window.left_out if one.kind == "message"}
    shown = {one.key: one for one in window.messages}
    given = {message.key: message for message in history.messages}
    for key, message in given.items():
        assert key in shown or key in named
        if key in shown and not shown[key].is_changed:
            assert (shown[key].text, shown[key].parts) == (message.text, message.parts)
    assert window.is_changed == (any(one.is_changed for one in shown.values()) or bool(named))


@settings(max_examples=200, deadline=None)
@given(histories(), RULES)
def test_what_fits_is_served_as_it_is(history: WindowHistory, rules: WindowRules) -> None:
    """L4: with room for everything no message is cut, and only what cannot be sent or is too many is missing."""
    window = made(history, 100_000, rules)
    assert window is not None
    reasons = {one.reason for one in window.left_out}
    assert reasons <= {"call without result", "result without call", "empty", "raw_history_limit"}
    too_many = {one.id for one in window.left_out if one.reason == "raw_history_limit"}
    assert not too_many & {message.key for message in history.messages if not message.is_folded}
    sendable = {message.key: message for message in paired(history.messages).messages if message is not None}
    for one in window.messages:
        if one.key is not None:
            assert (one.text, one.parts) == (sendable[one.key].text, sendable[one.key].parts)
