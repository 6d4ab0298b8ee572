"""What holds for every policy, and the policies that count messages (H7, H9, W1-W5, T1, L2, L9), worked by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest

from pkg_pipeline.memory.session.records import Policy, SessionEvent
from pkg_pipeline.memory.session.triggers import FoldRules, decide, due_at
from pkg_pipeline.session_settings import SessionSettings
from pkg_pipeline.wiring.folds import fold_rules
from pkg_pipeline_tests.memory.session.session_talk import START, state

RULES = FoldRules()


@pytest.mark.parametrize(
    ("total", "covered", "seconds_ago", "minutes", "trigger", "due_in"),
    [
        # W2: compress_end = total - 40, delta = compress_end - last_consolidated; nothing if <= 0
        (0, 0, None, None, None, None),
        (39, 0, None, 100, None, None),  # 39 - 40 < 0
        (40, 0, None, 100, None, None),  # 40 - 40 - 0 = 0
        (140, 100, 9999, 100, None, None),  # 140 - 40 - 100 = 0
        # W3: a window of 12
        (51, 0, None, 1, None, 840),  # 51 - 40 = 11; without a last fold the cooldown counts from the first message
        (52, 0, None, 1, "window", None),  # 52 - 40 = 12, trigger #1 of the source
        (63, 12, 1, 1, None, 899),  # 63 - 40 - 12 = 11
        (64, 12, 1, 1, "window", None),  # 64 - 40 - 12 = 12, trigger #2, however soon after the first
        # W3: the hard limit of 30, which is named before the window
        (69, 0, 1, 1, "window", None),  # 29
        (70, 0, 1, 1, "hard_limit", None),  # 30
        (500, 100, 1, 1, "hard_limit", None),  # 500 - 40 - 100 = 360
        # W3: the cooldown of 900 s, with anything to fold
        (41, 0, 899, 100, None, 1),
        (41, 0, 900, 100, "cooldown", None),
        (41, 0, None, 15, "cooldown", None),  # W5: no last fold is known; 15 min = 900 s
        (41, 0, None, 14, None, 60),
        (41, 0, None, None, None, None),  # nor when it began: it waits for a window
        (40, 0, 100_000, 100, None, None),
    ],
)
def test_sliding_window(
    total: int, covered: int, seconds_ago: float | None, minutes: float | None, trigger: str | None, due_in: int | None
) -> None:
    now = state(
        total - covered, 50, minutes, policy="sliding", covered=covered, folded_seconds_ago=seconds_ago, since_fold=0
    )
    assert now.last_consolidated == covered
    answer = decide(now, RULES, now=START)
    assert (answer.is_fold, answer.trigger) == (trigger is not None, trigger)
    assert answer.keep_tail == (40 if total else 0)
    assert answer.due_at == (None if due_in is None else START + timedelta(seconds=due_in))


def test_the_first_folds_of_a_sliding_window_one_message_after_another() -> None:
    """The rhythm of the source: delta 1, 2, 3 ... 12 → fold, reset, 1 ... 12 → fold."""
    covered, folds = 0, []
    for total in range(1, 89):
        now = state(total - covered, 50, 0, policy="sliding", covered=covered)
        if decide(now, RULES, now=START).is_fold:
            folds.append((total, covered, total - 40))
            covered = total - 40
    assert folds == [(52, 0, 12), (64, 12, 24), (76, 24, 36), (88, 36, 48)]


@pytest.mark.parametrize(
    ("own", "messages", "is_fold"),
    [(None, 19, False), (None, 20, True), (8, 7, False), (8, 8, True), (50, 49, False), (50, 50, True)],
)
def test_interval(own: int | None, messages: int, is_fold: bool) -> None:
    """T1: the session's own interval, else the setting of 20; neither tokens nor time nor a cooldown counts."""
    now = state(messages, 90_000, 9000, policy="interval", interval=own, folded_seconds_ago=1, since_fold=0)
    answer = decide(now, RULES, now=START)
    assert (answer.is_fold, answer.trigger) == (is_fold, "interval" if is_fold else None)
    assert (answer.keep_tail, answer.due_at) == (0, None)


@pytest.mark.parametrize(
    ("since", "covered", "oldest"),
    [
        (200, 0, 0),
        (201, 0, 21),  # 201 - 200 + 20
        (350, 0, 170),
        (180, 170, 0),  # after that fold and its pruning: 350 - 170 = 180
        (200, 170, 0),
        (201, 170, 21),
    ],
)
def test_thread_size(since: int, covered: int, oldest: int) -> None:
    answer = decide(state(since, 90_000, 9000, policy="thread_size", covered=covered), RULES, now=START)
    assert (answer.is_fold, answer.trigger) == (oldest > 0, "thread_size" if oldest else None)
    assert answer.keep_tail == 180
    if oldest:
        assert since - answer.keep_tail == oldest
        assert f"= {oldest} " in answer.reason


@pytest.mark.parametrize("event", get_args(SessionEvent))
@pytest.mark.parametrize("policy", get_args(Policy))
def test_an_event_folds_at_once(policy: Policy, event: SessionEvent) -> None:
    """H7: one message, in the cooldown, under every minimum; a sliding window keeps its tail of 40."""
    one = decide(state(1, 2, 0, policy=policy, event=event, folded_seconds_ago=1, since_fold=1), RULES, now=START)
    assert (one.is_fold, one.trigger) == ((False, None) if policy == "sliding" else (True, event))
    more = decide(state(41, 2, 0, policy=policy, event=event, folded_seconds_ago=1, since_fold=1), RULES, now=START)
    assert (more.is_fold, more.trigger, more.keep_tail) == (True, event, 40 if policy == "sliding" else 0)
    none = decide(state(0, 0, policy=policy, event=event, covered=90), RULES, now=START)
    assert (none.is_fold, none.needs_drift, none.due_at) == (False, False, None)


@pytest.mark.parametrize("policy", get_args(Policy))
@pytest.mark.parametrize("event", [None, "manual"])
def test_switched_off_means_never(policy: Policy, event: SessionEvent | None) -> None:
    off = FoldRules(summaries_enabled=False)
    answer = decide(state(500, 90_000, 9000, policy=policy, event=event), off, now=START, drift=1.0, has_embedder=True)
    assert (answer.is_fold, answer.needs_drift, answer.due_at) == (False, False, None)
    assert answer.reason == "summaries are switched off (enable_summary)"


@pytest.mark.parametrize(
    ("source", "messages", "covered", "is_fold"),
    [
        ("langgraph", 29, 0, False),  # L9: below 30, whatever the counters say (29 >= 20, 9000 >= 2000)
        ("langgraph", 30, 0, True),
        ("langgraph", 20, 10, True),  # the whole thread counts: 20 + 10
        ("langgraph", 20, 9, False),
        ("telegram", 20, 0, True),
        ("", 20, 0, True),
    ],
)
@pytest.mark.parametrize("event", [None, "handoff"])
def test_a_thread_of_langgraph_folds_from_its_threshold_on(
    source: str, messages: int, covered: int, is_fold: bool, event: SessionEvent | None
) -> None:
    now = state(messages, 9000, 9000, covered=covered, event=event)
    assert decide(now, RULES, now=START, source=source).is_fold is is_fold
    assert due_at(now, RULES, now=START, source=source) == (START if is_fold else None)


def test_the_rules_of_the_default_settings_are_the_defaults_of_the_rules() -> None:
    assert fold_rules(SessionSettings()) == RULES


def test_every_setting_reaches_its_rule() -> None:
    settings = SessionSettings(
        fold_min_messages=1,
        fold_min_tokens=2,
        fold_min_minutes=3,
        fold_max_messages=4,
        fold_max_tokens=5,
        fold_max_minutes=6,
        fold_drift=0.7,
        fold_cooldown_seconds=80,
        fold_cooldown_messages=9,
        fold_adapt_percent=12,
        fold_short_max_messages=31,
        context_size=99,
        tail_keep_size=12,
        compression_window_size=13,
        compression_cooldown_sec=14,
        compression_hard_limit=15,
        summary_interval=16,
        max_messages_per_thread=170,
        enable_summary=False,
        summary_threshold=18,
    )
    assert fold_rules(settings) == FoldRules(
        min_messages=1,
        min_tokens=2,
        min_minutes=3,
        max_messages=4,
        max_tokens=5,
        max_minutes=6,
        drift=0.7,
        cooldown_seconds=80,
        cooldown_messages=9,
        adapt_percent=12,
        short_max_messages=31,
        context_size=99,
        tail_keep_size=12,
        window_size=13,
        window_cooldown_seconds=14,
        hard_limit=15,
        interval=16,
        thread_messages=170,
        summaries_enabled=False,
        summary_threshold=18,
    )
