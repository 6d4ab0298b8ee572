"""What is forgotten on request is nowhere any more, stays out, and the rest is made anew (B3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.adapters.postgres.archive.forgetting import PostgresForgetting
from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.archive.forgetting import NotForgotten
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline_tests.stages import deleted_words as words

NOW = "2025-03-01T12:00:00+00:00"
CHAT = hashing.chat_id("jsonl", "c1")
SESSION = hashing.chat_id("agent", "thread-1")
OLGA = hashing.entity_id("jsonl", words.OTHER.casefold())


@pytest.fixture
def memory(copy_of: Callable[[str], str], server_url: str, tmp_path: Path) -> Iterator[wiring.Memory]:
    with words.opened(copy_of(words.made(server_url)), tmp_path, NOW) as memory:
        yield memory


def said(memory: wiring.Memory, asked: str, *given: object) -> list[Any]:
    with memory.connections.connection() as connection:
        return connection.execute(asked.encode(), given or None).fetchall()


def tables(memory: wiring.Memory) -> dict[str, int]:
    """Tables with the text, and in how many rows."""
    found = words.texts(memory.url, schema="pkg", kind="BASE TABLE")
    return {name: count for name, count in found.items() if count}


def again(memory: wiring.Memory, folder: Path, lines: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The export of the beginning, imported once more."""
    file = folder / "again.jsonl"
    lines = lines or [words.line(number, sender, text) for number, (sender, text) in enumerate(words.SAID, 1)]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return memory.import_path(file).to_json()


def test_a_forgotten_message_leaves_no_word_and_the_rest_is_made_anew(memory: wiring.Memory, tmp_path: Path) -> None:
    before = tables(memory)
    assert {"messages", "message_revisions", "interaction_summaries", "memory_chunks"} <= before.keys()
    one = memory.forgetting.message(CHAT, words.GONE)
    assert one.counts["messages"] == 1
    assert one.counts["revisions"] >= 1
    receipt = memory.forgetting.forget(one, by="test")
    two = memory.forgetting.forget(memory.forgetting.message(SESSION, words.GONE_IN_SESSION), by="test")
    assert tables(memory) == {}
    assert (receipt.state, receipt.kind, two.state) == ("done", "message", "done")
    assert words.IBAN not in json.dumps(receipt.to_json())
    words.work(memory)
    memory.folding.fold_session(SESSION)
    assert tables(memory) == {}
    assert said(memory, "SELECT external_id FROM messages WHERE chat_id = %s ORDER BY 1", CHAT) == [
        (f"c1-{number}",) for number in (1, 3, 4, 5, 6)
    ]
    told = "SELECT count(*) FROM live_summaries JOIN interactions i ON i.id = interaction_id WHERE chat_id = %s"
    assert said(memory, told, CHAT) == [(1,)]
    assert said(memory, "SELECT count(*) FROM memory_chunks WHERE chat_id = %s", CHAT)[0][0] > 0
    done = again(memory, tmp_path)
    assert (done["messages_new"], done["messages_forgotten"], done["rejected"]) == (0, 1, [])
    assert tables(memory) == {}


def test_an_agent_that_sends_its_thread_again_brings_no_forgotten_message_back(memory: wiring.Memory) -> None:
    memory.forgetting.forget(memory.forgetting.message(SESSION, words.GONE_IN_SESSION), by="test")
    turns = words._turns(words.TALK, "2025-01-25T11:00:00+00:00")
    for _ in range(2):
        report = memory.sessions.append(words.SESSION, turns)
        assert [one.reason for one in report.rejected] == ["it was forgotten on request"]
        assert said(memory, "SELECT count(*) FROM messages WHERE chat_id = %s AND external_id = '2'", SESSION) == [(0,)]
    counted = said(
        memory,
        "SELECT s.message_count, (SELECT count(*) FROM messages m WHERE m.chat_id = s.id) FROM conversation_sessions s",
    )
    assert counted == [(7, 7)]


def test_a_forgotten_chat_is_gone_and_stays_out(memory: wiring.Memory, tmp_path: Path) -> None:
    for found in (memory.forgetting.chat(CHAT), memory.forgetting.session(SESSION)):
        receipt = memory.forgetting.forget(found, by="test")
        assert receipt.state == "done"
        assert receipt.counts["chats"] == 1
        assert receipt.counts["messages"] > 0
    assert tables(memory) == {}
    for table in ("messages", "chats", "interactions", "interaction_summaries", "items", "memory_chunks", "entities"):
        assert said(memory, f"SELECT count(*) FROM {table}") == [(0,)], table
    done = again(memory, tmp_path)
    assert (done["messages_new"], done["messages_forgotten"], done["chats"]) == (0, 6, 0)
    assert said(memory, "SELECT count(*) FROM chats") == [(0,)]
    with pytest.raises(SessionUnknown, match="forgotten"):
        memory.sessions.append(words.SESSION, words._turns(words.TALK, "2025-03-01T11:00:00+00:00"))
    with pytest.raises(SessionUnknown, match="forgotten"):
        memory.sessions.ensure(words.SESSION)


def test_what_is_lifted_may_come_in_again(memory: wiring.Memory, tmp_path: Path) -> None:
    receipt = memory.forgetting.forget(memory.forgetting.chat(CHAT), by="test")
    assert memory.forgetting.store.lift(receipt.id) == 1
    assert again(memory, tmp_path)["messages_new"] == 6


def test_a_range_is_gone_with_what_a_later_export_knows_of_it(memory: wiring.Memory, tmp_path: Path) -> None:
    at = [datetime.fromisoformat(f"2025-01-10T10:{minute:02}:00+00:00") for minute in (2, 4)]
    receipt = memory.forgetting.forget(memory.forgetting.range(CHAT, *at), by="test")
    assert receipt.counts["messages"] == 3
    lines = [words.line(number, sender, text) for number, (sender, text) in enumerate(words.SAID, 1)]
    lines.append({**words.line(9, "Me", "Something nobody knew"), "sent_at": "2025-01-10T10:03:30+00:00"})
    lines.append({**words.line(10, "Me", "Something after it"), "sent_at": "2025-01-10T10:08:30+00:00"})
    done = again(memory, tmp_path, lines)
    assert (done["messages_new"], done["messages_forgotten"]) == (1, 4)


def test_somebody_forgotten_is_in_no_table_and_is_not_let_in_again(memory: wiring.Memory, tmp_path: Path) -> None:
    talk = (
        ("Me", "Who brings the rope?"),
        (words.OTHER, "I will bring the rope on Friday."),
        ("Boris", "And I the oars."),
        ("Boris", "Olga Petrova knows the way."),
        ("Me", "Great, Friday at 10 then."),
    )
    group = [
        {**words.line(number, sender, text), "chat_id": "g1", "chat_kind": "group", "message_id": f"g1-{number}"}
        for number, (sender, text) in enumerate(talk, 1)
    ]
    again(memory, tmp_path, group)
    words.work(memory)
    found = memory.forgetting.person(OLGA)
    assert (found.counts["chats"], found.counts["people"], found.mentions) == (1, 1, 1)
    receipt = memory.forgetting.forget(found, by="test")
    assert receipt.counts["messages"] == 7
    words.work(memory)
    left = {one.place for one in memory.forgetting.store.rows_with("olga petrova")}
    assert left <= {"pkg.messages", "pkg.memory_chunks", "pkg.interaction_summaries", "pkg.interaction_readings"}, (
        "only what Boris says of her"
    )
    in_group = "SELECT external_id FROM messages WHERE external_id LIKE 'g1%' ORDER BY 1"
    assert said(memory, in_group) == [("g1-1",), ("g1-3",), ("g1-4",), ("g1-5",)]
    done = again(memory, tmp_path, group)
    assert (done["messages_new"], done["messages_forgotten"]) == (0, 1)
    assert said(memory, "SELECT count(*) FROM entities WHERE name ILIKE '%olga%'") == [(0,)]


def test_with_mentions_what_others_say_of_somebody_goes_too(memory: wiring.Memory, tmp_path: Path) -> None:
    line = {**words.line(1, "Boris", "Olga Petrova knows the way."), "chat_id": "b1", "message_id": "b1-1"}
    more = {**words.line(2, "Me", "Then we ask somebody else."), "chat_id": "b1", "message_id": "b1-2"}
    again(memory, tmp_path, [line, more])
    words.work(memory)
    memory.forgetting.forget(memory.forgetting.person(OLGA, with_mentions=True), by="test")
    words.work(memory)
    assert [one.place for one in memory.forgetting.store.rows_with("olga petrova")] == []
    assert said(memory, "SELECT external_id FROM messages WHERE external_id LIKE 'b1%'") == [("b1-2",)]


def test_a_first_name_counts_where_nobody_else_has_it(memory: wiring.Memory, tmp_path: Path) -> None:
    talk = ((words.OTHER, "I know the way."), ("Boris", "Ask Olga."), ("Me", "Thanks, Olga!"), ("Boris", "At ten."))
    groups = [
        {**words.line(number, sender, text), "chat_id": chat, "chat_kind": "group", "message_id": f"{chat}-{number}"}
        for chat, also in (("g1", ()), ("g2", (("Olga Krylova", "I know it as well."),)))
        for number, (sender, text) in enumerate([*talk, *also], 1)
    ]
    again(memory, tmp_path, groups)
    words.work(memory)
    assert memory.forgetting.person(OLGA).mentions == 2
    memory.forgetting.forget(memory.forgetting.person(OLGA, with_mentions=True), by="test")
    kept = "SELECT external_id FROM messages WHERE external_id LIKE 'g%' ORDER BY 1"
    assert [key for (key,) in said(memory, kept)] == ["g1-4", "g2-2", "g2-3", "g2-4", "g2-5"]


def test_oneself_and_what_is_not_there_cannot_be_forgotten(memory: wiring.Memory) -> None:
    with pytest.raises(NotForgotten, match="oneself"):
        memory.forgetting.person(hashing.entity_id("jsonl", "me"))
    with pytest.raises(NotForgotten, match="no such chat"):
        memory.forgetting.chat(hashing.chat_id("jsonl", "nowhere"))
    nothing = memory.forgetting.message(CHAT, "c1-99")
    with pytest.raises(NotForgotten, match="nothing"):
        memory.forgetting.forget(nothing, by="test")


def test_nothing_is_forgotten_while_an_import_runs(memory: wiring.Memory) -> None:
    with engine.connect(memory.url) as holding:
        holding.execute(
            "INSERT INTO import_batches (id, file, format, status)"
            " VALUES ('00000000-0000-0000-0000-000000000001', 'f', 'jsonl', 'running')"
        )
        holding.execute(
            "SELECT pg_advisory_lock(hashtextextended('00000000-0000-0000-0000-000000000001'::uuid::text, 7))"
        )
        holding.commit()
        with pytest.raises(NotForgotten, match="import"):
            memory.forgetting.forget(memory.forgetting.chat(CHAT), by="test")
    assert said(memory, "SELECT count(*) FROM erasures") == [(0,)]


STEPS = [
    (PostgresForgetting, "begin"),
    (PostgresErasure, "content"),
    (PostgresErasure, "chunks"),
    (PostgresErasure, "chat"),
    (PostgresForgetting, "erase_messages"),
    (PostgresForgetting, "mark_days"),
    (PostgresForgetting, "erase_person"),
    (PostgresForgetting, "sweep"),
]


@pytest.mark.parametrize(("owner", "step"), STEPS, ids=[step for _, step in STEPS])
def test_what_was_killed_goes_on(
    memory: wiring.Memory, owner: type, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = {**words.line(2, words.OTHER, f"Remember {words.IBAN}"), "chat_id": "g", "message_id": "g-2"}
    other = {**words.line(1, "Boris", "What is it?"), "chat_id": "g", "message_id": "g-1"}
    again(memory, tmp_path, [other, group])
    words.work(memory)
    original = getattr(owner, step)

    def dying(*given: Any, **more: Any) -> Any:
        original(*given, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, dying)
        with pytest.raises(KeyboardInterrupt):
            memory.forgetting.forget(memory.forgetting.person(OLGA), by="test")
    assert memory.forgetting.resume() == 1
    (receipt,) = memory.forgetting.store.receipts()
    assert (receipt.state, receipt.counts["messages"]) == ("done", 7)
    assert said(memory, "SELECT plan FROM erasures") == [(None,)]
    memory.forgetting.forget(memory.forgetting.session(SESSION), by="test")
    assert tables(memory) == {}
    assert memory.forgetting.resume() == 0


def test_a_receipt_names_no_id_of_what_is_gone(memory: wiring.Memory) -> None:
    receipt = memory.forgetting.forget(memory.forgetting.person(OLGA), by="test")
    told = json.dumps(said(memory, "SELECT row_to_json(e)::text FROM erasures e"))
    told += json.dumps(said(memory, "SELECT row_to_json(t)::text FROM tombstones t"))
    for word in (str(OLGA), str(CHAT), "olga", "jsonl"):
        assert word not in told.lower()
    assert len(receipt.digest) == 64
