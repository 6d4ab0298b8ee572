"""Anything that can happen to the messages of a session, in any order: its counters are those of a recount."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from pkg_pipeline_tests.stages.ingest.import_rig import START
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, SessionRig, counted, said

KEYS = st.integers(0, 14)
TEXTS = st.sampled_from(["yes", "a somewhat longer text", "I agree to pay 40 EUR", ""])
MESSAGES = st.lists(
    st.tuples(KEYS, TEXTS, st.booleans(), st.sampled_from(["user", "assistant"])), min_size=1, max_size=5
)


class SessionMachine(RuleBasedStateMachine):
    rig: ClassVar[SessionRig]

    def __init__(self) -> None:
        super().__init__()
        self.rig.empty()
        self.processes = [self.rig.process(), self.rig.process()]
        self.minutes = 0
        self.arrived = 0
        self.rig.sessions.ensure(CHAT)

    def later(self) -> None:
        self.minutes += 1
        self.rig.now = START + timedelta(days=60, minutes=self.minutes)

    @rule(messages=MESSAGES, process=st.integers(0, 1))
    def append(self, messages: list[tuple[int, str, bool, str]], process: int) -> None:
        self.later()
        given = [said(key, text, deleted=gone and key % 3 == 0, role=role) for key, text, gone, role in messages]
        report = self.rig.append(*given, sessions=self.processes[process])
        assert report.rejected == []
        assert (report.state, report.next_due_at) == (self.rig.state(), self.rig.due())

    @rule(messages=MESSAGES)
    def take(self, messages: list[tuple[int, str, bool, str]]) -> None:
        self.later()
        lines: list[dict[str, Any]] = [
            {
                "chat_id": "talk",
                "message_id": str(key),
                "sender_id": role,
                "role": role,
                "sent_at": (START + timedelta(minutes=key)).isoformat(),
                "text": text,
                "deleted": gone,
            }
            for key, text, gone, role in messages
        ]
        self.rig.take(lines, exported_at=self.rig.now)

    @rule(count=st.integers(1, 4))
    def fold(self, count: int) -> None:
        rows = self.rig.rows(
            "SELECT m.id > s.hwm_message_id FROM messages m JOIN conversation_sessions s ON s.id = m.chat_id"
            " ORDER BY m.id"
        )
        done = sum(not is_since for (is_since,) in rows)
        if done < len(rows):
            self.rig.fold(min(done + count, len(rows)), start=done + 1)

    @invariant()
    def counters_are_those_of_a_recount(self) -> None:
        state = self.rig.state()
        assert counted(state) == self.rig.recount(state.id)

    @invariant()
    def dirty_folds_are_due(self) -> None:
        state = self.rig.state()
        if state.dirty_folds:
            assert self.rig.due() is not None


def test_counters_hold_after_anything(database_url: str) -> None:
    rig = SessionMachine.rig = SessionRig(database_url)
    try:
        run_state_machine_as_test(  # type: ignore[no-untyped-call]
            SessionMachine,
            settings=settings(
                max_examples=12,
                stateful_step_count=10,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
                database=None,
                derandomize=True,
            ),
        )
    finally:
        rig.close()
