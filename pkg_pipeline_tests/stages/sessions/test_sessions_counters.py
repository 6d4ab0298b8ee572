"""The counters of a session after anything that can happen to its messages, and when its policy is asked next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.memory.records import ParsedChat, ParsedMessage
from pkg_pipeline.memory.session.records import SessionState
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, ItemsExport, line
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, SessionRig, counted, said, turns

OTHER_LINE = {"chat_id": "talk", "sender_id": "user", "sent_at": START.isoformat()}


@pytest.fixture
def rig(database_url: str) -> Iterator[SessionRig]:
    rig = SessionRig(database_url)
    yield rig
    rig.close()


def assert_exact(rig: SessionRig, session: str = CHAT) -> SessionState:
    state = rig.state(session)
    assert counted(state) == rig.recount(state.id)
    return state


def leased(rig: SessionRig, session_id: UUID, *, seconds: int) -> None:
    rig.run("DELETE FROM leases")
    rig.run(
        "INSERT INTO leases (kind, subject_id, token, holder, expires_at)"
        " VALUES ('session', %s, 1, 'w', clock_timestamp() + make_interval(secs => %s))",
        session_id,
        seconds,
    )


def test_an_import_into_a_session_counts_what_is_new_edited_and_deleted(rig: SessionRig) -> None:
    rig.append(*turns(range(6)))
    rig.fold(4)
    later = NOW + timedelta(minutes=5)
    rig.take(
        [
            {**OTHER_LINE, "message_id": "new", "text": "from elsewhere"},
            {**OTHER_LINE, "message_id": "1", "text": "a longer text than there was before it"},
            {**OTHER_LINE, "message_id": "5", "text": "short"},
            {**OTHER_LINE, "message_id": "4", "text": "gone", "deleted": True},
            line("other", 1),
        ],
        exported_at=later,
    )
    state = assert_exact(rig)
    assert (state.message_count, state.messages_since_hwm, state.dirty_folds) == (6, 2, 1)
    assert state.messages_since_fold == 1
    assert rig.value("SELECT count(*) FROM conversation_sessions") == 1


def test_what_becomes_a_service_entry_counts_no_more(rig: SessionRig) -> None:
    rig.append(*turns(range(3)))
    chat = ParsedChat("jsonl", "talk", "thread")
    gone = ParsedMessage("talk", "2", START, "user says 2", "user", kind="service")
    added = ParsedMessage("talk", "s", START, "joined", None, kind="service")
    rig.take_export(ItemsExport([chat, gone, added], exported_at=NOW + timedelta(days=1)))
    state = assert_exact(rig)
    assert (state.message_count, state.last_message_id) == (
        2,
        rig.value("SELECT id FROM messages WHERE external_id = '1'"),
    )
    back = ParsedMessage("talk", "2", START, "user says 2", "user")
    rig.take_export(ItemsExport([chat, back], exported_at=NOW + timedelta(days=2)))
    assert assert_exact(rig).message_count == 3


def test_a_session_made_late_is_counted_once(rig: SessionRig) -> None:
    rig.take([line("talk", n, minute=n) for n in range(5)] + [line("talk", 9, minute=9, deleted=True)])
    made = rig.sessions.ensure(CHAT, policy="interval", strategy="rolling")
    assert (made.policy, made.strategy, made.message_count) == ("interval", "rolling", 5)
    assert assert_exact(rig) == made
    assert rig.sessions.ensure(CHAT, policy="sliding") == made


def test_folds_over_edited_and_deleted_messages_are_dirty_and_due_at_once(rig: SessionRig) -> None:
    rig.append(*turns(range(9)))
    rig.fold(3)
    rig.fold(6, start=4)
    rig.now += timedelta(hours=1)

    def reasons() -> list[tuple[Any, ...]]:
        return rig.rows("SELECT status, dirty_reason FROM session_summaries ORDER BY from_message_id")

    rig.append(said(8, "behind the mark"))
    assert reasons() == [("completed", None)] * 2
    rig.append(said(1, "said otherwise", role="assistant"))
    assert reasons() == [("dirty", "edited"), ("completed", None)]
    assert (rig.due(), assert_exact(rig).dirty_folds) == (rig.now, 1)
    rig.append(said(2, deleted=True), said(3, "another text", role="assistant"))
    assert reasons() == [("dirty", "deleted"), ("dirty", "edited")]
    rig.append(said(0, "edited after the deletion"))
    assert reasons()[0] == ("dirty", "deleted")
    rig.run("UPDATE conversation_sessions SET next_due_at = NULL")
    rig.append(said(10))
    assert (rig.due(), assert_exact(rig).dirty_folds) == (rig.now, 2)


def test_a_fold_that_became_dirty_is_searched_for_anew(rig: SessionRig) -> None:
    rig.append(*turns(range(3)))
    rig.build()
    rig.fold(3)
    rig.run("DELETE FROM dirty_partitions")
    rig.append(said(1, deleted=True, role="assistant"))
    assert "fold dirty" in [
        row[0] for row in rig.rows("SELECT reason FROM dirty_partitions WHERE asset = 'memory_chunks'")
    ]


def test_the_policy_is_asked_when_it_says(rig: SessionRig) -> None:
    assert rig.append(said(0)).next_due_at == rig.due()
    report = rig.append(*turns(range(1, 31)))
    assert report.next_due_at == rig.now
    assert rig.sessions.set(CHAT, policy="sliding")["policy"] == "sliding"
    assert rig.due() is None
    rig.sessions.event(CHAT, "manual")
    assert (rig.due(), rig.state().event) == (rig.now, "manual")


@pytest.mark.parametrize(
    ("role", "text", "asks"),
    [
        ("user", "/summary", True),
        ("user", " /Summary\n", True),
        ("user", "what does /summary do?", False),
        ("assistant", "/summary", False),
        ("tool", "/summary", False),
    ],
)
def test_a_person_who_says_summary_asks_for_a_fold(rig: SessionRig, role: str, text: str, *, asks: bool) -> None:
    rig.append(said(0))
    report = rig.append({"id": "asked", "role": role, "text": text})
    assert report.state == rig.state()
    assert rig.state().event == ("manual" if asks else None)
    assert (rig.due() == rig.now) is asks
    assert not asks or report.next_due_at == rig.now
    rig.append({"id": "asked", "role": role, "text": text})
    assert rig.state().event == ("manual" if asks else None)


def test_during_a_fold_one_more_look_is_asked_for(rig: SessionRig) -> None:
    state = rig.append(said(0)).state
    assert state is not None
    before = rig.due()
    leased(rig, state.id, seconds=600)
    after = rig.append(said(1))
    assert after.state is not None
    assert after.state.is_pending
    assert rig.state() == after.state
    assert (rig.due(), rig.append(said(2)).state) == (before, rig.state())
    rig.run("UPDATE conversation_sessions SET is_pending = false")
    rig.append(said(0, "edited"))
    assert rig.state().is_pending
    rig.run("UPDATE conversation_sessions SET is_pending = false")
    assert rig.sessions.event(CHAT, "handoff")["pending"]
    rig.run("UPDATE conversation_sessions SET is_pending = false, event = NULL")
    leased(rig, state.id, seconds=-1)
    rig.append(said(3))
    assert not rig.state().is_pending


def test_publishing_between_two_appends_is_seen(rig: SessionRig) -> None:
    rig.append(*turns(range(3)))
    rig.append(*turns(range(3, 9)))
    rig.fold(8)
    report = rig.append(said(9, role="assistant"))
    assert report.state == assert_exact(rig)
    assert rig.state().messages_since_hwm == 2


def test_many_at_once_are_counted_exactly(rig: SessionRig) -> None:
    failed: list[BaseException] = []
    processes = [rig.process() for _ in range(2)]

    def work(worker: int) -> None:
        try:
            for call in range(5):
                numbers = (
                    range(call * 6, call * 6 + 9)
                    if worker % 2
                    else range(worker * 1000 + call, worker * 1000 + call + 4)
                )
                if worker == 3:
                    rig.take([{**OTHER_LINE, "message_id": str(n), "text": f"import {n}"} for n in numbers])
                else:
                    rig.append(*turns(numbers), sessions=processes[worker % 2])
        except BaseException as error:  # noqa: BLE001 - told to the test
            failed.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert assert_exact(rig).message_count == 33 + 8  # those of one worker lie among the others'
    assert rig.due() == rig.now
