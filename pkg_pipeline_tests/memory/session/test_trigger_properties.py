"""What holds for any state and any policy: an answer with its reason, and the very moment at which it changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.session.records import FoldTrigger, Policy, SessionEvent, SessionState
from pkg_pipeline.memory.session.triggers import FoldRules, Load, decide, due_at
from pkg_pipeline_tests.memory.session.session_talk import SESSION, START

TICK = timedelta(microseconds=1)
OWN: dict[str, frozenset[str]] = {
    "hysteresis": frozenset({"tokens", "turns", "time", "topic_shift"}),
    "sliding": frozenset({"window", "hard_limit", "cooldown"}),
    "interval": frozenset({"interval"}),
    "thread_size": frozenset({"thread_size"}),
}

moments = st.one_of(
    st.none(),
    st.integers(-8000, 8000).map(lambda seconds: START + timedelta(seconds=seconds)),
    st.datetimes(timezones=st.just(UTC)),
)
near = st.one_of(st.integers(0, 45), st.integers(0, 10**9))
states = st.builds(
    SessionState,
    id=st.just(SESSION),
    policy=st.sampled_from(get_args(Policy)),
    strategy=st.just("hybrid"),
    summary_interval=st.one_of(st.none(), st.integers(1, 50)),
    message_count=st.integers(-1, 300),
    messages_since_hwm=st.integers(-1, 260),
    tokens_since_hwm=st.one_of(st.integers(0, 3000), near),
    first_since_at=moments,
    last_message_at=moments,
    messages_since_fold=near,
    messages_since_look=near,
    last_fold_at=moments,
    event=st.one_of(st.none(), st.sampled_from(get_args(SessionEvent))),
    is_pending=st.booleans(),
)
all_rules = st.builds(
    FoldRules,
    min_messages=st.integers(1, 30),
    max_messages=st.integers(1, 30),
    min_minutes=st.floats(0, 200),
    max_minutes=st.one_of(st.floats(0, 200), st.floats(0, allow_infinity=True, allow_nan=False)),
    cooldown_messages=st.integers(0, 5),
    tail_keep_size=st.integers(0, 60),
    window_cooldown_seconds=st.one_of(st.floats(0, 4000), st.floats(0, allow_nan=False)),
    thread_messages=st.integers(20, 250),
    summaries_enabled=st.sampled_from([True, True, True, False]),
)
rules = st.one_of(st.just(FoldRules()), all_rules)
drifts = st.sampled_from([None, None, 0.1, 0.6, float("nan")])
sources = st.sampled_from(["", "langgraph"])


@settings(max_examples=500, derandomize=True, deadline=None)
@given(states, rules, drifts, st.booleans(), st.booleans(), sources)
def test_every_answer_is_whole_and_changes_when_it_says(
    state: SessionState, rules: FoldRules, drift: float | None, has_embedder: bool, is_rising: bool, source: str
) -> None:
    def ask(now: datetime):
        load = Load(is_rising=is_rising)
        return decide(state, rules, now=now, drift=drift, has_embedder=has_embedder, load=load, source=source)

    answer = ask(START)
    assert answer.reason
    assert answer.is_fold is (answer.trigger is not None)
    if answer.is_fold:
        assert answer.trigger in get_args(FoldTrigger)
        assert answer.trigger == state.event if state.event else answer.trigger in OWN[state.policy]
        assert 0 <= answer.keep_tail < state.messages_since_hwm
        assert not answer.needs_drift
        return
    if answer.needs_drift:
        assert (state.policy, has_embedder, drift) == ("hysteresis", True, None)
    if answer.due_at is None:
        later = datetime.max.replace(tzinfo=UTC)
        assert (ask(later).is_fold, ask(later).needs_drift) == (False, answer.needs_drift)
        return
    assert answer.due_at > START
    before, then = ask(answer.due_at - TICK), ask(answer.due_at)
    assert (before.is_fold, before.needs_drift, before.due_at) == (False, answer.needs_drift, answer.due_at)
    assert then.is_fold or then.needs_drift


@settings(max_examples=300, derandomize=True, deadline=None)
@given(states, rules, st.booleans(), sources)
def test_due_at_is_when_to_ask(state: SessionState, rules: FoldRules, has_embedder: bool, source: str) -> None:
    answer = decide(state, rules, now=START, has_embedder=has_embedder, source=source)
    expected = START if answer.is_fold or answer.needs_drift else answer.due_at
    assert due_at(state, rules, now=START, has_embedder=has_embedder, source=source) == expected


@settings(max_examples=300, derandomize=True, deadline=None)
@given(states, rules, sources)
def test_a_rising_load_only_ever_holds_back(state: SessionState, rules: FoldRules, source: str) -> None:
    """H6: whoever folds under a rising load would have folded without it."""
    hard = decide(state, rules, now=START, load=Load(is_rising=True), source=source)
    if hard.is_fold:
        assert decide(state, rules, now=START, source=source).is_fold
