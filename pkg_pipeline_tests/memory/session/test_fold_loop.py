"""The whole loop in one process: messages come, time passes, the policy is asked, what it lets go is folded.

The state is counted anew from the messages at every turn, so that only the rules are on trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.message import turns
from pkg_pipeline.memory.session import folding
from pkg_pipeline.memory.session.records import (
    FoldDecision,
    FoldTrigger,
    Policy,
    SessionEvent,
    SessionMessage,
    SessionState,
)
from pkg_pipeline.memory.session.triggers import FoldRules, Load, decide, due_at
from pkg_pipeline_tests.memory.session.session_talk import SESSION, START, talk

EVENTS = frozenset[str](get_args(SessionEvent))
TICK = timedelta(microseconds=1)
RULES = FoldRules(
    min_messages=4,
    min_tokens=300,
    max_messages=8,
    max_tokens=900,
    short_max_messages=11,
    tail_keep_size=5,
    window_size=4,
    hard_limit=9,
    interval=6,
    thread_messages=20,
    thread_buffer=4,
)
"""Small, so that few messages reach them; time, drift and cooldown as they are by default."""

TURNS = ["u a", "u a", "u c1 r1 a", "u c12 r1 r2 a", "p p p", "u c1 a", "r1", "s", "v", "u"]
"""What comes at once: mostly whole turns, now and then half of one."""


@dataclass(frozen=True)
class Fold:
    trigger: FoldTrigger
    at: datetime
    arrived: int  # messages that had come when it was made
    ids: tuple[int, ...]


@dataclass
class World:
    """One session: live messages, folds, and the two counters that are no count of messages."""

    policy: Policy = "hysteresis"
    rules: FoldRules = RULES
    now: datetime = START
    messages: list[SessionMessage] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    hwm: int = 0
    next_id: int = 1
    arrived: int = 0
    since_look: int = 0
    event: SessionEvent | None = None
    has_embedder: bool = False
    distance: float = 0.0
    is_rising: bool = False

    def rest(self) -> list[SessionMessage]:
        return [message for message in self.messages if message.id > self.hwm]

    def state(self) -> SessionState:
        live = [message for message in self.messages if message.kind == "message"]
        since = [message for message in live if message.id > self.hwm]
        return SessionState(
            id=SESSION,
            policy=self.policy,
            strategy="hybrid",
            hwm_message_id=self.hwm,
            last_message_id=self.next_id - 1,
            message_count=len(live),
            token_count=sum(message.token_count for message in live),
            messages_since_hwm=len(since),
            tokens_since_hwm=sum(message.token_count for message in since),
            first_since_at=since[0].sent_at if since else None,
            last_message_at=live[-1].sent_at if live else None,
            messages_since_fold=self.arrived - self.folds[-1].arrived if self.folds else self.arrived,
            messages_since_look=self.since_look,
            last_fold_at=self.folds[-1].at if self.folds else None,
            event=self.event,
        )

    def append(self, word: str, tokens: int) -> None:
        (message,) = talk(word)
        self.messages.append(replace(message, id=self.next_id, sent_at=self.now, token_count=tokens))
        self.next_id += 1
        if message.kind == "message":
            self.arrived += 1
            self.since_look += 1

    def ask(self, *, drift: float | None = None, at: datetime | None = None) -> FoldDecision:
        now = at or self.now
        return decide(
            self.state(),
            self.rules,
            now=now,
            drift=drift,
            has_embedder=self.has_embedder,
            load=Load(is_rising=self.is_rising),
        )

    def work(self) -> FoldDecision:
        """What a worker does: ask, look where it is told to, fold up to the cutoff in steps."""
        answer = self.ask()
        if answer.needs_drift:
            self.since_look = 0
            answer = self.ask(drift=self.distance)
            assert not answer.needs_drift
        if answer.is_fold:
            assert answer.trigger
            rest = self.rest()
            taken = rest[: turns.cutoff(rest, keep_tail=answer.keep_tail)]
            start = 0
            ends = folding.steps(taken, most_messages=7, most_tokens=900)
            for end in ends:
                step = taken[start:end]
                assert step
                assert step[0].id > self.hwm
                self.hwm = step[-1].id
                start = end
            if taken:
                ids = tuple(message.id for message in taken)
                self.folds.append(Fold(answer.trigger, self.now, self.arrived, ids))
                self.event = None
        else:
            self.event = None
        return answer


class Loop:
    """Anything may happen to a session, in any order; what must always hold is looked at after each."""

    def __init__(self, policy: Policy, *, distance: float | None) -> None:
        self.world = World(policy=policy, has_embedder=distance is not None, distance=distance or 0.0)
        self.last_hwm = 0

    def come(self, said: list[str], tokens: int, seconds: int, is_watched: bool) -> None:
        for word in " ".join(said).split():
            self.world.append(word, tokens)
            self.world.now += timedelta(seconds=seconds)
            if is_watched:
                self.work()

    def wait(self, seconds: int) -> None:
        self.world.now += timedelta(seconds=seconds)

    def wait_until_due(self) -> None:
        due = due_at(self.world.state(), self.world.rules, now=self.world.now, has_embedder=self.world.has_embedder)
        if due is not None:
            self.world.now = max(self.world.now, due)
            self.work()

    def happen(self, event: SessionEvent) -> None:
        self.world.event = event

    def weather(self, distance: float, is_rising: bool) -> None:
        self.world.distance, self.world.is_rising = distance, is_rising

    def change(self, at: int, tokens: int | None) -> None:
        """An edit, or without tokens a deletion, of any message, folded or not."""
        messages = self.world.messages
        if messages:
            at %= len(messages)
            messages[at : at + 1] = [] if tokens is None else [replace(messages[at], token_count=tokens)]

    def choose(self, policy: Policy) -> None:
        self.world.policy = policy

    def work(self) -> None:
        world = self.world
        rest, count = world.rest(), len(world.folds)
        answer = world.work()
        if len(world.folds) == count:
            return
        fold = world.folds[-1]
        assert fold.trigger == answer.trigger
        assert fold.ids == tuple(message.id for message in rest[: len(fold.ids)])  # nothing skipped, nothing twice
        left = [message for message in rest[len(fold.ids) :] if message.kind == "message"]
        assert len(left) >= answer.keep_tail
        if world.policy == "hysteresis" and fold.trigger not in EVENTS and count:
            before = world.folds[-2]
            assert fold.at - before.at >= timedelta(seconds=90)
            assert fold.arrived - before.arrived >= 3

    def look(self) -> None:
        world = self.world
        assert world.hwm >= self.last_hwm
        self.last_hwm = world.hwm
        covered = [number for fold in world.folds for number in fold.ids]
        assert covered == sorted(set(covered))
        assert {message.id for message in world.messages if message.id <= world.hwm} <= set(covered)
        assert all(number <= world.hwm for number in covered)
        answer = world.ask()
        if answer.is_fold or answer.needs_drift:
            return
        if answer.due_at is None:
            late = world.ask(at=world.now + timedelta(days=3650))
            assert (late.is_fold, late.needs_drift) == (False, False)
            return
        assert answer.due_at > world.now
        before, then = world.ask(at=answer.due_at - TICK), world.ask(at=answer.due_at)
        assert (before.is_fold, before.needs_drift) == (False, False)
        assert then.is_fold or then.needs_drift


def _action(name: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just(name), *values)


coming = _action(
    "come",
    st.lists(st.sampled_from(TURNS), min_size=1, max_size=7),
    st.sampled_from([5, 40, 110, 700]),
    st.sampled_from([0, 1, 30, 200]),
    st.booleans(),
)
actions = st.one_of(
    coming,
    coming,
    coming,
    coming,
    _action("wait", st.sampled_from([1, 60, 90, 900, 3600, 7200])),
    _action("wait_until_due"),
    _action("wait_until_due"),
    _action("happen", st.sampled_from(get_args(SessionEvent))),
    _action("weather", st.sampled_from([0.0, 0.59, 0.6, 1.4]), st.booleans()),
    _action("change", st.integers(0, 200), st.one_of(st.none(), st.integers(1, 900))),
    _action("choose", st.sampled_from(get_args(Policy))),
    _action("work"),
)


@pytest.mark.parametrize("policy", get_args(Policy))
@settings(max_examples=120, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(distance=st.sampled_from([None, 0.0, 0.6]), history=st.lists(actions, min_size=15, max_size=30))
def test_whatever_happens(policy: Policy, distance: float | None, history: list[tuple[Any, ...]]) -> None:
    """No message is folded twice or skipped, the tail stays, no storm, the mark only grows, due_at is exact."""
    loop = Loop(policy, distance=distance)
    for name, *values in history:
        getattr(loop, name)(*values)
        loop.look()


arrivals = st.lists(
    st.tuples(st.sampled_from([1, 15, 60, 250, 1200]), st.sampled_from([1, 20, 240, 1500])), min_size=60, max_size=160
)


@pytest.mark.parametrize("policy", get_args(Policy))
@pytest.mark.parametrize("script", ["p", "u a", "u c1 r1 a"])
@settings(max_examples=5, derandomize=True, deadline=None)
@given(arrivals=arrivals)
def test_folds_are_no_more_than_the_policy_promises(
    policy: Policy, script: str, arrivals: Sequence[tuple[int, int]]
) -> None:
    """A worker that looks after every message and at every moment at which it is due, without drift or events."""
    world = World(policy=policy, rules=FoldRules(thread_messages=30, thread_buffer=5))
    words = script.split()
    for number, (tokens, seconds) in enumerate(arrivals):
        world.append(words[number % len(words)], tokens)
        world.work()
        due = due_at(world.state(), world.rules, now=world.now)
        following = world.now + timedelta(seconds=seconds)
        if due is not None and world.now < due <= following:
            world.now = due
            world.work()
        world.now = following
    count, tokens = len(arrivals), sum(tokens for tokens, _ in arrivals)
    seconds = (world.now - START).total_seconds()
    promised = {
        # each one takes 20 messages, 2000 tokens or 120 minutes
        "hysteresis": count // 20 + tokens // 2000 + seconds // 7200,
        "sliding": count // 12 + seconds // 900,
        "interval": count // 20,
        "thread_size": count // 6,  # each one takes the oldest 31 - 30 + 5
    }
    if len(words) == 1:
        assert len(world.folds) <= promised[policy]
    # in turns what the live one holds back counts again, but never sooner than the cooldown lets it
    assert len(world.folds) <= count / 3 + 1
    for one, other in pairwise(world.folds):
        if policy == "hysteresis":
            assert other.at - one.at >= timedelta(seconds=90)
            assert other.arrived - one.arrived >= 3
    assert [number for fold in world.folds for number in fold.ids] == list(range(1, world.hwm + 1))


@pytest.mark.parametrize("policy", ["hysteresis", "interval", "sliding"])
def test_a_thousand_turns_leave_little_unfolded(policy: Policy) -> None:
    """100 messages an hour in pairs of 40 tokens: what waits stays near what the policy lets wait."""
    world = World(policy=policy, rules=FoldRules())
    for number in range(2000):
        world.append("ua"[number % 2], 40)
        world.now += timedelta(seconds=36)
        world.work()
        assert len(world.rest()) <= {"hysteresis": 21, "interval": 21, "sliding": 52}[policy]
    # by turns every 20 messages; the window by its cooldown at 41 (41 * 36 s > 900 s), then every 12, in 432 s
    assert len(world.folds) == {"hysteresis": 100, "interval": 100, "sliding": 1 + (2000 - 41) // 12}[policy]
