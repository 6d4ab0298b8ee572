"""Sessions as they are listed, shown, set and read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest

from pkg_pipeline.stages.reads.paging import BadCursor, cursor_of
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline_tests.stages.ingest.import_rig import START, line
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, SessionRig, said, turns


@pytest.fixture
def rig(database_url: str) -> Iterator[SessionRig]:
    rig = SessionRig(database_url)
    yield rig
    rig.close()


def test_the_list_goes_by_activity_and_ends_with_those_that_have_none(rig: SessionRig) -> None:
    for number in range(4):
        minute = (START + timedelta(minutes=number // 2)).isoformat()
        rig.append(said(1, sent_at=minute), session=f"jsonl:s{number}")
    for number in range(3):
        rig.sessions.ensure(f"jsonl:empty{number}")
    whole = [item["id"] for item in rig.sessions.list(limit=50).items]
    assert len(set(whole)) == 7
    names = [item["session"] for item in rig.sessions.list(limit=50).items]
    assert [set(names[:2]), set(names[2:4])] == [{"jsonl:s2", "jsonl:s3"}, {"jsonl:s0", "jsonl:s1"}]
    for limit in (1, 2, 3, 5):
        found, cursor, pages = list[str](), None, 0
        while pages == 0 or cursor is not None:
            page = rig.sessions.list(limit=limit, cursor=cursor)
            found += [item["id"] for item in page.items]
            cursor, pages = page.next, pages + 1
        assert found == whole


def test_messages_are_read_backwards_page_by_page(rig: SessionRig) -> None:
    rig.append(*turns(range(7)))
    rig.append(said(2, deleted=True))
    rig.fold(3)
    page = rig.sessions.messages(CHAT, limit=3)
    assert [item["text"] for item in page.items] == ["user says 6", "assistant says 5", "user says 4"]
    assert [item["folded"] for item in page.items] == [False] * 3
    last = rig.sessions.messages(CHAT, limit=3, cursor=page.next)
    assert [item["text"] for item in last.items] == ["assistant says 3", "assistant says 1", "user says 0"]
    assert [item["folded"] for item in last.items] == [False, True, True]
    assert last.next is None
    assert (last.items[0]["key"], last.items[0]["role"], last.items[0]["sender"]) == (
        "jsonl:talk/3",
        "assistant",
        "Assistant",
    )
    for wrong in ("x", cursor_of("a", uuid4()), cursor_of("1", "x"), cursor_of("9" * 30, uuid4())):
        with pytest.raises(BadCursor):
            rig.sessions.messages(CHAT, cursor=wrong)


def test_any_chat_can_be_read_but_is_a_session_only_once_it_is_made(rig: SessionRig) -> None:
    rig.take([line("talk", 1)])
    assert len(rig.sessions.messages(CHAT).items) == 1
    assert rig.sessions.state(CHAT) is None
    with pytest.raises(SessionUnknown):
        rig.sessions.show(CHAT)
    rig.sessions.event(CHAT, "scheduled")
    assert rig.sessions.show(CHAT)["event"] == "scheduled"
    for unknown in ("jsonl:nowhere", str(uuid4())):
        for call in (rig.sessions.show, rig.sessions.messages, rig.sessions.state):
            with pytest.raises(SessionUnknown):
                call(unknown)
    with pytest.raises(SessionUnknown):
        rig.sessions.event("jsonl:nowhere", "manual")


def test_a_session_is_shown_with_its_last_twelve(rig: SessionRig) -> None:
    rig.append(*turns(range(20)))
    shown = rig.sessions.show(CHAT)
    assert [one["text"] for one in shown["recent"]] == [one["text"] for one in turns(range(8, 20))]
    assert (shown["messages"], shown["unfolded"]) == (20, 20)
    plan = "\n".join(
        row[0]
        for row in rig.rows(
            "EXPLAIN SELECT id FROM messages WHERE chat_id = %s AND kind = 'message' AND deleted_at IS NULL"
            " ORDER BY id DESC LIMIT 12",
            rig.state().id,
        )
    )
    assert "Seq Scan" not in plan


def test_what_is_set_stays_and_can_be_taken_back(rig: SessionRig) -> None:
    made = rig.sessions.set("jsonl:new", policy="interval", summary_interval=9, label=" My talk\x00 ")
    settings = ("policy", "strategy", "summary_interval", "label")
    assert [made[name] for name in settings] == ["interval", "hybrid", 9, "My talk\ufffd"]
    assert rig.value("SELECT kind FROM chats") == "thread"
    assert rig.sessions.set("jsonl:new", strategy="rolling")["summary_interval"] == 9
    back = rig.sessions.set("jsonl:new", summary_interval=0, label="")
    assert [back[name] for name in settings] == ["interval", "rolling", None, None]
    for field, value in (("policy", "never"), ("strategy", "x"), ("summary_interval", 1), ("summary_interval", -3)):
        with pytest.raises(BadRequest) as wrong:
            rig.sessions.set("jsonl:new", **{field: value})  # type: ignore[arg-type]
        assert wrong.value.field == field


def test_a_fold_leads_to_its_messages_deleted_ones_too(rig: SessionRig) -> None:
    rig.append(*turns(range(4)))
    fold = rig.fold(3)
    rig.append(said(1, deleted=True, role="assistant"))
    sources = rig.sessions.sources(CHAT, fold)
    assert sources is not None
    assert [(one["key"], one["deleted"]) for one in sources] == [
        ("jsonl:talk/0", False),
        ("jsonl:talk/1", True),
        ("jsonl:talk/2", False),
    ]
    assert rig.sessions.sources(CHAT, uuid4()) is None
