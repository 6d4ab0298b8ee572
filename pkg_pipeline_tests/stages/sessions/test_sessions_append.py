"""Appending to a session: what goes in, in which order, what it counts; that it is what an import would have stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START
from pkg_pipeline_tests.stages.sessions.session_rig import SessionRig, counted, said, turns

PARTS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "which file could it be"},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.txt", "lines": 3}},
]


@pytest.fixture
def rig(database_url: str) -> Iterator[SessionRig]:
    rig = SessionRig(database_url)
    yield rig
    rig.close()


def test_appending_counts_and_may_be_repeated(rig: SessionRig) -> None:
    report = rig.append(*turns(range(4)))
    assert report.to_json()["new"] == 4
    assert counted(rig.state()) == rig.recount(rig.state().id)
    again = rig.append(*turns(range(6)))
    assert (again.counts.new, again.counts.unchanged) == (2, 4)
    assert (again.state, again.next_due_at) == (rig.state(), rig.due())
    third = rig.append(*turns(range(6, 8)))
    assert (third.state, third.next_due_at) == (rig.state(), rig.due())
    assert counted(rig.state()) == rig.recount(rig.state().id)
    assert rig.append().counts.new == 0


def test_arrival_is_the_order_given_whatever_times_and_ids_say(rig: SessionRig) -> None:
    late, early = (START + timedelta(days=1)).isoformat(), START.isoformat()
    rig.append(said("z", sent_at=late), said("a", sent_at=early), said("mm"))
    rig.append(said("y"), said("b"), said("c", sent_at=early))
    stored = [row[0] for row in rig.rows("SELECT external_id FROM messages ORDER BY id")]
    assert stored == ["z", "a", "mm", "y", "b", "c"]
    assert rig.state().first_since_at == START + timedelta(days=1)


def test_what_is_appended_is_what_an_import_of_the_same_lines_stores(rig: SessionRig) -> None:
    given = [
        said(1, "We agree to meet on 3 May at 5 pm and pay 200 EUR", sent_at=START.isoformat()),
        said(2, role="assistant", sent_at=(START + timedelta(minutes=1)).isoformat(), text="I look.", parts=PARTS),
        said(3, "Zoë\x00 \ud800", role="tool", sent_at=(START + timedelta(minutes=2)).timestamp(), metadata={"a": [1]}),
        said(4, sender_id="ann", sender_name="Ann", role=None, reply_to="1", sent_at=START.isoformat()),
        said(5, deleted=True, edited_at=START.isoformat(), sent_at=START.isoformat()),
        said(6, "10^30", metadata={"big": 10**30}, sent_at=START.isoformat()),
    ]
    for one in given:
        rig.append(one)
    rig.build()
    with rig.connection() as connection:
        appended = tables(connection)
    rig.empty()
    names = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
    report = rig.take(
        {
            "chat_id": "talk",
            "chat_kind": "thread",
            **{name: value for name, value in one.items() if name != "id" and value is not None},
            "message_id": one["id"],
            "sender_id": one.get("sender_id") or one["role"],
            "sender_name": one.get("sender_name") or names[one["role"]],
            **({"is_self": True} if one["role"] == "user" else {}),
        }
        for one in given
    )
    assert report.rejected == []
    rig.build()
    with rig.connection() as connection:
        imported = tables(connection)
    assert imported == appended


def test_tokens_are_those_of_all_parts(rig: SessionRig) -> None:
    rig.append(said(1, role="assistant", parts=PARTS))
    shown = 'which file could it be\nI look.\nread_file {"path": "a.txt", "lines": 3}'
    assert rig.rows("SELECT content, token_count FROM messages") == [("I look.", rig.counter.count(shown))]


def test_an_edit_and_a_deletion_are_taken_from_the_counters(rig: SessionRig) -> None:
    rig.append(*turns(range(4)))
    later = rig.now + timedelta(minutes=1)
    rig.now = later
    report = rig.append(said(1, "something else altogether", role="assistant"), said(2, deleted=True), said(9))
    assert (report.counts.new, report.counts.updated, report.counts.deleted) == (1, 1, 1)
    assert report.state == rig.state()
    assert counted(rig.state()) == rig.recount(rig.state().id)
    assert rig.state().message_count == 4
    assert rig.rows("SELECT content FROM message_revisions ORDER BY 1") == [("assistant says 1",), ("user says 2",)]


def test_one_id_twice_in_a_call_is_one_message(rig: SessionRig) -> None:
    rig.append(said(0))
    report = rig.append(said(1, "first"), said(1, "second"), said(2))
    assert report.counts.new == 2
    assert rig.state().message_count == 3
    assert counted(rig.state()) == rig.recount(rig.state().id)


def test_other_processes_see_each_other(rig: SessionRig) -> None:
    others = [rig.sessions, rig.process(), rig.process()]
    for number in range(9):
        rig.append(*turns(range(number * 3, number * 3 + 3)), sessions=others[number % 3])
    rig.append(*turns(range(5)), sessions=others[1])
    assert rig.state().message_count == 27
    assert counted(rig.state()) == rig.recount(rig.state().id)


def test_a_chat_that_was_removed_meanwhile_is_made_anew(rig: SessionRig) -> None:
    rig.append(*turns(range(3)))
    rig.run("DELETE FROM messages")
    rig.run("DELETE FROM conversation_sessions")
    rig.run("DELETE FROM chat_members")
    rig.run("DELETE FROM chats")
    assert rig.append(said(7)).counts.new == 1
    assert rig.value("SELECT count(*) FROM chat_members") == 1
    assert counted(rig.state()) == rig.recount(rig.state().id)


def test_a_sender_that_was_removed_meanwhile_is_made_anew(rig: SessionRig) -> None:
    rig.append(*turns(range(2)))
    rig.run("DELETE FROM chat_members WHERE entity_id IN (SELECT id FROM entities WHERE name = 'Assistant')")
    assert rig.append(*turns(range(2, 4))).counts.new == 2
    assert rig.value("SELECT count(*) FROM chat_members") == 2
    assert rig.state().message_count == 4


def test_senders_bear_their_latest_name_and_may_turn_out_to_be_me(rig: SessionRig) -> None:
    def named(number: int, name: str | None, minute: int, **more: Any) -> None:
        at = (START + timedelta(minutes=minute)).isoformat()
        rig.append(said(number, sender_id="u7", sender_name=name, sent_at=at, **more))

    named(1, "Bob", 10)
    named(2, "Robert", 5)
    assert rig.value("SELECT name FROM entities") == "Bob"
    named(3, "Robert", 20)
    named(4, None, 30)
    assert rig.rows("SELECT name, is_self FROM entities") == [("Robert", False)]
    named(5, "Robert", 40, is_self=True)
    named(6, "Robert", 41)
    assert rig.rows("SELECT bool_and(is_outgoing), count(*) FROM messages") == [(True, 6)]


def test_a_session_is_named_by_its_id_too(rig: SessionRig) -> None:
    report = rig.append(said(1))
    by_id = str(report.chat.id)
    assert rig.append(said(2), session=by_id).counts.new == 1
    assert rig.append(said(3), session=by_id, sessions=rig.process()).state == rig.state(by_id)
    for unknown in (str(UUID(int=5)), "talk", "", ":x", "a:", "jsonl:\ud800", "jsonl:" + "x" * 600):
        with pytest.raises(SessionUnknown):
            rig.append(said(4), session=unknown)
    assert rig.value("SELECT count(*) FROM chats") == 1


def test_an_existing_chat_keeps_its_kind_and_is_counted_once(rig: SessionRig) -> None:
    rig.take(
        {
            "chat_id": "talk",
            "message_id": str(n),
            "sender_id": "bo",
            "sent_at": START.isoformat(),
            "text": "hello",
            "chat_kind": "direct",
        }
        for n in range(5)
    )
    report = rig.append(said(9))
    assert report.state is not None
    assert report.state.message_count == 6
    assert counted(rig.state()) == rig.recount(rig.state().id)
    assert rig.value("SELECT kind FROM chats") == "direct"


def test_reported_usage_is_passed_on_once(rig: SessionRig) -> None:
    told: list[tuple[UUID, Usage]] = []
    rig.sessions.record_usage = lambda session_id, usage: told.append((session_id, usage))
    usage = {"input_tokens": 120, "output_tokens": 7, "cache_read_input_tokens": 1000}
    report = rig.append(said(1), said(2, role="assistant", usage=usage))
    rig.append(said(2, role="assistant", usage=usage), said(3))
    assert told == [(report.chat.id, Usage(120, 7, cache_read_tokens=1000))]


def test_what_is_refused_says_where_and_holds_back_nothing_else(rig: SessionRig) -> None:
    report = rig.append(
        said(1),
        said("x" * 600),
        said(3, role="king"),
        said(4, "y" * 2_000_001),
        said(5, parts=[{"type": "tool_use", "id": "t"}]),
        said(6, sent_at=(NOW + timedelta(days=400)).isoformat()),
        said(7, sent_at="1850-01-01T00:00:00Z"),
        said("n\x00"),
        said(9, "nul \x00 inside"),
        {"id": "10", "role": "user"},
    )
    assert report.counts.new == 2
    assert [one.where for one in report.rejected] == [f"messages[{n}]" for n in (1, 2, 4, 5, 7, 9, 3, 6)]
    assert report.replaced_characters == 1
    assert all("yyy" not in one.reason for one in report.rejected)
    assert rig.state().message_count == 2
