"""Windows against tables worked by hand: a token is a word, so that the arithmetic stands in the row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pkg_pipeline.memory.window.records import (
    Budget,
    LiveTurnTooLong,
    Window,
    WindowHistory,
    WindowLeftOut,
    WindowRules,
)
from pkg_pipeline.memory.window.selection import assemble, budget_of
from pkg_pipeline_tests.memory.window.histories import (
    ai,
    call,
    count_many,
    of_parts,
    result,
    said,
    thought,
    user,
    words,
)

RULES = WindowRules()


def room(tokens: int) -> Budget:
    return Budget(window=tokens, margin=0, output=0, system=0, available=tokens)


def made(history: WindowHistory, available: int, rules: WindowRules = RULES) -> Window:
    return assemble(history, room(available), rules, count_many)


def keys(window: Window, tier: str | None = None) -> list[str]:
    return [one.key for one in window.messages if one.key and tier in (None, one.tier)]


def reasons(window: Window) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in window.left_out:
        found.setdefault(one.reason, []).append(one.id or f"{one.kind} {one.count}")
    return found


@pytest.mark.parametrize(
    ("window", "settings", "expected"),
    [
        (128_000, {"system_tokens": 4_200}, (12_800, 16_000, 95_000)),  # the source document's own example
        (8_000, {}, (800, 2_000, 5_200)),  # a quarter for the answer, where 16,000 would take all
        (8_000, {"output_tokens": 500}, (800, 500, 6_700)),
        (8_000, {"margin_percent": 0}, (0, 2_000, 6_000)),
        (1_001, {}, (101, 250, 650)),  # the margin is rounded up
        (8_000, {"calibration": 1.6}, (800, 2_000, 3_250)),  # 5,200 / 1.6: the model counts so much more (B12)
        (8_000, {"system_tokens": 9_000}, (800, 2_000, -3_800)),
    ],
)
def test_budget(window: int, settings: dict[str, float], expected: tuple[int, int, int]) -> None:
    found = budget_of(window, **settings)  # type: ignore[arg-type]
    assert (found.margin, found.output, found.available) == expected


def test_what_fits_is_not_changed() -> None:
    """20 + 3 + 60 + 5 + 7 = 95 tokens: thinking, a long result and 13 old messages stay as they are."""
    messages = (
        *(user(f"u{at}", 1) if at % 2 == 0 else ai(f"a{at}", 1) for at in range(20)),
        user("asks", 3),
        of_parts("calls", "assistant", thought(58), call("c")),
        of_parts("brings", "tool", result("c", words(5, "x" * 90))),
        ai("says", 7),
    )
    found = made(WindowHistory(messages), 95)
    assert found.tokens == 95
    assert not found.is_changed
    assert found.left_out == ()
    assert [(one.key, one.text, one.parts) for one in found.messages] == [(m.key, m.text, m.parts) for m in messages]
    assert len(keys(found, "recent")) == 10
    assert keys(found) == [m.key for m in messages]


LONGER = words(150)  # 299 characters, cut to 200, which are 100 words; the mark sticks to the last and adds one
OLD = (
    user("u1", 10),
    of_parts("c1", "assistant", thought(40), said(3), call("c")),  # 45, without thinking 5
    of_parts("r1", "tool", result("c", LONGER)),  # 150, cut 101
    ai("a1", 10),
)  # 215 tokens, cut short 126
LIVE = (user("now", 4), of_parts("lc", "assistant", call("l")), of_parts("lr", "tool", result("l", LONGER)))  # 156


def cut_tokens(window: Window) -> dict[str, int]:
    return {one.key: one.tokens for one in window.messages if one.key and one.is_changed}


def test_old_messages_are_cut_short_before_any_is_left_out_and_the_live_turn_never() -> None:
    """371 in all, with 300 it takes 156 + 126; the calls stay with their results."""
    found = made(WindowHistory((*OLD, *LIVE)), 300, replace(RULES, full_recent_count=3))
    assert keys(found, "recent") == ["now", "lc", "lr"]
    assert keys(found, "condensed") == ["u1", "c1", "r1", "a1"]
    assert cut_tokens(found) == {"c1": 5, "r1": 101}
    assert found.tokens == 156 + 10 + 5 + 101 + 10
    assert reasons(found) == {"thinking removed": ["c1"], "tool result cut": ["r1"]}
    shown = {one.key: one for one in found.messages}
    assert shown["r1"].parts == (result("c", words(100) + "... (truncated)"),)
    assert shown["lr"].parts == LIVE[2].parts


def test_pairs_are_left_out_together() -> None:
    """Room for 156 + 10 + 10: the call would fit alone, without its result it says nothing."""
    found = made(WindowHistory((*OLD, *LIVE)), 180, replace(RULES, full_recent_count=3))
    assert keys(found) == ["u1", "a1", "now", "lc", "lr"]
    assert reasons(found) == {"budget": ["c1", "r1"]}


def test_a_live_turn_beyond_the_budget_is_an_error_with_both_numbers() -> None:
    with pytest.raises(LiveTurnTooLong, match=r"takes 156 tokens.* has 155") as raised:
        made(WindowHistory((*OLD, *LIVE)), 155)
    assert (raised.value.tokens, raised.value.available) == (156, 155)


SUMMARY = "First they met. Then they talked of rain. At last they agreed."  # 3 + 5 + 4 words
HEAD = "[Conversation Summary]\n"  # 2
TOPICS = "\n\n[Recallable Topics]: rain, tea\nUse the recall_memory tool to retrieve details about any topic above."


def folded(*sizes: int) -> tuple:
    return tuple(user(f"f{at}", size, is_folded=True) for at, size in enumerate(sizes))


def test_tier_one_word_for_word() -> None:
    found = made(WindowHistory((user("u", 1),), running=SUMMARY, topics=("rain", "tea")), 100)
    assert found.messages[0].text == found.summary == HEAD + SUMMARY + TOPICS
    assert (found.messages[0].role, found.messages[0].key, found.messages[0].tier) == ("user", None, "summary")
    found = made(WindowHistory((user("u", 1),), running=SUMMARY, topics=("rain",), recalled=("a  b\nc", "d")), 100)
    memory = "\n\n[Relevant Memory]\n- a b c\n- d"
    assert found.summary == HEAD + SUMMARY + memory + TOPICS.replace(", tea", "")
    assert (found.has_summary, found.recalled, found.topics) == (True, 2, 1)


@pytest.mark.parametrize(
    ("available", "kept", "summary"),
    [
        # 5 unfolded, 14 summary, 2 folded messages of 6 each: 31 in all
        (31, ["f0", "f1", "u", "a"], SUMMARY),
        (30, ["f1", "u", "a"], SUMMARY),  # the folded ones give way first, the older one of them before the newer
        (24, ["u", "a"], SUMMARY),
        (19, ["u", "a"], SUMMARY),  # 5 + 14
        (18, ["u", "a"], "Then they talked of rain. At last they agreed."),  # 5 + 2 + 9
        (15, ["u", "a"], "At last they agreed."),  # 5 + 2 + 4
        (10, ["u", "a"], None),  # a sentence is never cut in two
        (4, ["a"], None),  # unfolded ones come before the summary
    ],
)
def test_precedence(available: int, kept: list[str], summary: str | None) -> None:
    history = WindowHistory((*folded(6, 6), user("u", 2), ai("a", 3)), running=SUMMARY)
    found = made(history, available)
    assert keys(found) == kept
    assert found.summary == ("" if summary is None else HEAD + summary)
    if summary is None:
        assert WindowLeftOut("summary", None, "budget") in found.left_out
    elif summary != SUMMARY:
        assert WindowLeftOut("summary", None, "shortened") in found.left_out


def test_the_last_folds_stand_in_for_a_running_summary_that_is_not_there() -> None:
    history = WindowHistory((user("u", 2),), summaries=("One fold.", "Two folds came.", "Three."))
    assert made(history, 50).summary == HEAD + "One fold.\n\nTwo folds came.\n\nThree."
    assert made(history, 50).summaries == 3
    short = made(history, 2 + 2 + 4)
    assert (short.summary, short.summaries) == (HEAD + "Two folds came.\n\nThree.", 2)


def test_a_whole_history_needs_its_summary_only_where_something_is_missing() -> None:
    history = WindowHistory((*folded(6, 6), user("u", 2)), running=SUMMARY, is_whole=True)
    assert made(history, 14).summary == ""
    assert not made(history, 14).is_changed
    short = made(replace(history, messages=(*folded(6, 60), user("u", 2))), 30)
    assert short.summary == HEAD + SUMMARY
    assert reasons(short) == {"budget": ["f0", "f1"]}


def test_shares_where_not_all_fits_even_cut_short() -> None:
    """Of 100: 55 for the last ones as they are (2 + 45 fit, 30 more do not), the rest for older ones cut short."""
    messages = (
        user("u1", 60),
        user("u2", 40),
        of_parts("t3", "assistant", thought(20), said(10)),  # 30, cut short 10
        of_parts("t4", "assistant", thought(40), said(5)),  # 45
        user("live", 2),
    )
    found = made(WindowHistory(messages), 100)
    assert keys(found, "recent") == ["t4", "live"]
    assert keys(found, "condensed") == ["u2", "t3"]
    assert found.tokens == 2 + 45 + 10 + 40
    assert reasons(found) == {"budget": ["u1"], "thinking removed": ["t3"]}


def test_messages_beyond_the_most_are_named() -> None:
    messages = tuple(user(f"u{at}", 1) if at % 2 else ai(f"a{at}", 1) for at in range(8))
    limited = replace(RULES, most_messages=4, limit_reason="context_size")
    found = made(WindowHistory(messages), 100, limited)
    assert keys(found) == [m.key for m in messages[-5:]], "the live turn is none of the four"
    assert reasons(found) == {"context_size": [m.key for m in messages[:3]]}


def test_orphans_are_never_sent() -> None:
    messages = (
        of_parts("late", "tool", result("gone", "x")),
        user("u1", 1),
        of_parts("both", "assistant", said(2), call("a"), call("lost")),
        of_parts("ra", "tool", result("a", "ok")),
        ai("done", 1),
        user("u2", 1),
        of_parts("alone", "assistant", call("never")),
        user("u3", 1),
        of_parts("live", "assistant", call("l1"), call("l2")),
        of_parts("rl1", "tool", result("l1", "ok")),
    )
    found = made(WindowHistory(messages), 100)
    assert keys(found) == ["u1", "both", "ra", "done", "u2", "u3", "live", "rl1"]
    shown = {one.key: one for one in found.messages}
    assert shown["both"].parts == (said(2), call("a"))
    assert shown["both"].is_changed
    assert shown["live"].parts == (call("l1"), call("l2")), "a call that is being worked on is no orphan"
    assert reasons(found) == {
        "result without call": ["gone", "late"],
        "call without result": ["lost", "never", "alone"],
    }


def test_a_form_that_begins_with_the_user() -> None:
    history = WindowHistory((ai("a", 5), user("u", 1)))
    rules = replace(RULES, opening="It goes on.")  # 3 tokens
    found = made(history, 9, rules)
    assert [one.text for one in found.messages] == ["It goes on.", words(5), words(1)]
    assert found.tokens == 9
    assert keys(made(history, 8, rules)) == ["u"], "where it does not fit the answer goes"
    assert made(history, 8).tokens == 6


def test_pictures_count_what_they_take() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 9_000}}
    found = made(WindowHistory((of_parts("p", "user", said(2), picture),)), 2_000)
    assert found.tokens == 1_602
