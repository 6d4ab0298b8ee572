"""The policy with two thresholds (H1-H7), a table worked by hand: each row is counters at one minute."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.memory.session.triggers import FoldRules, Load, decide, due_at
from pkg_pipeline_tests.memory.session.session_talk import START, state

RULES = FoldRules()
RISING = Load(is_rising=True, reason="12 USD today, 5 USD a day before")


@pytest.mark.parametrize(
    ("messages", "tokens", "minutes", "trigger"),
    [
        # below every maximum
        (0, 0, None, None),
        (1, 25, 0, None),
        (19, 1999, 119.9, None),  # 19 < 20, 1999 < 2000, 119.9 < 120
        (6, 600, 10, None),  # every minimum and no maximum
        # H3: any maximum; its own minimum lies below it (6 <= 20, 600 <= 2000)
        (20, 400, 1, "turns"),  # 400 / 20 = 20 tokens each: not short
        (20, 1999, 5, "turns"),
        (5, 2000, 1, "tokens"),
        (1, 2500, 0, "tokens"),  # one long paste
        (20, 2000, 120, "tokens"),  # all three: in the order of the source, tokens|turns|time
        (20, 1999, 120, "turns"),
        # H4: a time maximum needs the minimum of messages or of tokens
        (6, 60, 120, "time"),
        (1, 600, 120, "time"),
        (5, 599, 120, None),
        (1, 25, 100_000, None),  # a lonely message never folds
        (5, 599, 100_000, None),
        (6, 599, 119.999, None),
        # H6: below 20 tokens each, 30 messages instead of 20
        (20, 399, 1, None),  # 399 / 20 = 19.95
        (29, 290, 1, None),
        (30, 300, 1, "turns"),
        (29, 580, 1, "turns"),  # 580 / 29 = 20
        (29, 290, 120, "time"),
    ],
)
def test_any_maximum_and_any_minimum(messages: int, tokens: int, minutes: float | None, trigger: str | None) -> None:
    answer = decide(state(messages, tokens, minutes), RULES, now=START)
    assert (answer.is_fold, answer.trigger) == (trigger is not None, trigger)
    assert answer.keep_tail == 0


@pytest.mark.parametrize(
    ("messages", "tokens", "minutes", "trigger"),
    [
        (20, 460, 1, None),  # 20 * 1.15 = 23
        (22, 2299, 137, None),  # 2000 * 1.15 = 2300, 120 * 1.15 = 138
        (23, 460, 1, "turns"),  # 460 / 23 = 20: not short
        (5, 2300, 1, "tokens"),
        (6, 689, 138, None),  # 6 * 1.15 = 6.9, 600 * 1.15 = 690
        (7, 100, 137.99, None),
        (7, 141, 138, "time"),  # 7 >= 6.9
        (6, 690, 138, "time"),
        (29, 290, 1, None),  # short: at most 30, which is more than 23
        (30, 300, 1, "turns"),
    ],
)
def test_a_rising_load_raises_every_threshold_by_15_percent(
    messages: int, tokens: int, minutes: float, trigger: str | None
) -> None:
    answer = decide(state(messages, tokens, minutes), RULES, now=START, load=RISING)
    assert answer.trigger == trigger
    assert "15 %" in answer.reason
    assert "12 USD today" in answer.reason


def test_short_messages_never_lower_a_maximum_that_is_set_higher() -> None:
    rules = FoldRules(max_messages=50)
    assert not decide(state(49, 49, 1), rules, now=START).is_fold
    assert decide(state(50, 50, 1), rules, now=START).trigger == "turns"


@pytest.mark.parametrize(
    ("seconds_ago", "since_fold", "is_fold", "due_in"),
    [
        (None, 20, True, None),  # never folded: no cooldown
        (89.999, 20, False, 0.001),  # H5: 90 s
        (90, 20, True, None),
        (10, 3, False, 80),
        (90, 3, True, None),
        (90, 2, False, None),  # and 3 new messages: without one more the answer never changes
        (5000, 0, False, None),
        (10, 2, False, None),
    ],
)
@pytest.mark.parametrize("drift", [None, 0.6])
def test_the_cooldown_takes_seconds_and_messages(
    seconds_ago: float | None, since_fold: int, is_fold: bool, due_in: float | None, drift: float | None
) -> None:
    """Counters that suffice (20 messages), or a topic that changed: the cooldown holds for both."""
    now = state(20 if drift is None else 9, 900, 5, folded_seconds_ago=seconds_ago, since_fold=since_fold)
    answer = decide(now, RULES, now=START, drift=drift)
    assert answer.is_fold is is_fold
    assert answer.due_at == (None if due_in is None else START + timedelta(seconds=due_in))
    if not is_fold:
        assert "the last fold was" in answer.reason


@pytest.mark.parametrize(
    ("drift", "is_fold"),
    [(None, False), (0.0, False), (0.5999, False), (0.6, True), (2.0, True), (float("nan"), False)],
)
def test_another_topic_folds_alone(drift: float | None, is_fold: bool) -> None:
    answer = decide(state(7, 100, 1), RULES, now=START, drift=drift, has_embedder=True)
    assert answer.is_fold is is_fold
    assert answer.trigger == ("topic_shift" if is_fold else None)
    assert answer.needs_drift is (drift is None)


def test_counters_are_named_before_the_topic() -> None:
    assert decide(state(20, 400, 1), RULES, now=START, drift=0.9).trigger == "turns"


@pytest.mark.parametrize(
    ("messages", "since_look", "seconds_ago", "has_embedder", "is_asked", "due_in_minutes"),
    [
        (6, 6, None, True, True, 110),  # the time maximum stays the moment at which it folds without a look
        (5, 5, None, True, False, None),  # 3 newest and a rest of 2: less than the minimum of 6
        (6, 2, None, True, False, 110),  # 2 new ones since the last look
        (6, 3, None, True, True, 110),
        (6, 6, None, False, False, 110),  # H4: no embedder, no drift
        (9, 9, 30, True, False, 1),  # in the cooldown: asked when it ends, 90 - 30 = 60 s
    ],
)
def test_the_topic_is_looked_at_where_it_can_tell_something(
    messages: int,
    since_look: int,
    seconds_ago: float | None,
    has_embedder: bool,
    is_asked: bool,
    due_in_minutes: float | None,
) -> None:
    now = state(messages, messages * 30, 10, since_look=since_look, folded_seconds_ago=seconds_ago)
    answer = decide(now, RULES, now=START, has_embedder=has_embedder)
    assert (answer.is_fold, answer.needs_drift) == (False, is_asked)
    assert answer.due_at == (None if due_in_minutes is None else START + timedelta(minutes=due_in_minutes))
    expected = START if is_asked else answer.due_at
    assert due_at(now, RULES, now=START, has_embedder=has_embedder) == expected


@pytest.mark.parametrize(
    ("messages", "tokens", "minutes", "seconds_ago", "since_fold", "due_in_minutes"),
    [
        (6, 100, 20, None, 6, 100),  # 120 - 20
        (1, 600, 0, None, 1, 120),
        (5, 599, 20, None, 5, None),  # without a minimum no time is enough
        (6, 100, 119.5, 10, 6, 80 / 60),  # the cooldown ends after the time maximum: 80 s against 30 s
        (6, 100, 60, 10, 6, 60),
        (6, 100, 60, 10, 2, None),
        (6, 100, -30, None, 6, 150),  # said in the future: 30 + 120
    ],
)
def test_the_moment_at_which_the_answer_changes_by_itself(
    messages: int, tokens: int, minutes: float, seconds_ago: float | None, since_fold: int, due_in_minutes: float | None
) -> None:
    now = state(messages, tokens, minutes, folded_seconds_ago=seconds_ago, since_fold=since_fold)
    expected = None if due_in_minutes is None else START + timedelta(minutes=due_in_minutes)
    assert due_at(now, RULES, now=START) == expected


def test_a_moment_behind_the_end_of_the_calendar_never_comes() -> None:
    late = replace(state(6, 100, 0), first_since_at=datetime.max.replace(tzinfo=START.tzinfo))
    assert due_at(late, RULES, now=START) is None
    assert due_at(state(6, 100, 0), FoldRules(max_minutes=float("inf")), now=START) is None
    assert due_at(state(20, 900, 0, folded_seconds_ago=9), FoldRules(cooldown_seconds=1e300), now=START) is None


def test_an_hour_that_the_clocks_leave_out_is_no_hour() -> None:
    """01:30 in Berlin on the day on which 02:00 becomes 03:00: 120 minutes later it is 04:30."""
    berlin = ZoneInfo("Europe/Berlin")
    began = datetime(2026, 3, 29, 1, 30, tzinfo=berlin)
    due = due_at(replace(state(6, 100, 0), first_since_at=began), RULES, now=began)
    assert due == datetime(2026, 3, 29, 4, 30, tzinfo=berlin)


def test_the_reason_is_a_sentence_with_the_numbers() -> None:
    assert decide(state(21, 900, 5), RULES, now=START).reason == "21 messages since the last fold, of at most 20"
    waiting = decide(state(1, 25, 30), RULES, now=START).reason
    assert waiting.startswith("1 message with 25 tokens in 30 minutes: not yet 20 messages, 2000 tokens or 120 minutes")
