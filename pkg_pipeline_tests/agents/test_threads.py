"""Threads of a real saver: into the memory, out of their state once they are safe there, out of everything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from pkg_pipeline.adapters.langgraph.checkpoints import connected, saver_on
from pkg_pipeline.adapters.langgraph.threads import PostgresThreads
from pkg_pipeline.agents.middleware import MemoryMiddleware
from pkg_pipeline.memory.records import ParsedMessage
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ingest import threads as stage
from pkg_pipeline.stages.ingest.threads import chat_of
from pkg_pipeline.stages.ports import LlmUnavailable
from pkg_pipeline.wiring import Memory
from pkg_pipeline.wiring.threads import ThreadWork
from pkg_pipeline_tests.agents.rig import (
    ScriptedModel,
    agent_of,
    filled,
    opened,
    pairs_are_whole,
    place,
    saver_at,
    say,
)


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with opened(database_url, tmp_path) as memory:
        yield memory


@pytest.fixture
def saver(database_url: str) -> Iterator[Any]:
    with saver_at(database_url) as saver:
        yield saver


def rows(memory: Memory, statement: str, **given: Any) -> list[Any]:
    with memory.connections.connection() as connection:
        return connection.execute(statement, given or None).fetchall()


def stored(memory: Memory, thread: str) -> list[Any]:
    return rows(
        memory,
        "SELECT external_id, role, content, sent_at, edited_at FROM messages WHERE chat_id = %(chat)s ORDER BY id",
        chat=chat_of(thread),
    )


# ── import ───────────────────────────────────────────────────────────────────────────────────


def test_a_thread_comes_in_with_its_past_and_only_once(memory: Memory, saver: Any) -> None:
    agent = agent_of(saver, ScriptedModel())
    say(agent, "t1", "Please look up invoice 7")
    before = stored(memory, "t1")
    assert before == []
    done = memory.threads.take_in(["t1"])
    assert done.report.counts.new == 4
    assert done.passed_over == []
    said = stored(memory, "t1")
    assert [row[1] for row in said] == ["user", "assistant", "tool", "assistant"]
    assert [row[3] for row in said] == sorted(row[3] for row in said)
    assert len({row[3] for row in said}) == 4
    state = memory.sessions.state("langgraph:t1")
    assert state is not None
    assert (state.policy, state.message_count) == ("thread_size", 4)
    parts = rows(
        memory, "SELECT parts FROM messages WHERE chat_id = %(c)s AND parts IS NOT NULL ORDER BY id", c=chat_of("t1")
    )
    assert [part["type"] for (found,) in parts for part in found] == ["tool_use", "tool_result"]

    again = memory.threads.take_in(["t1"])
    assert (again.report.counts.new, again.report.counts.updated, again.report.counts.unchanged) == (0, 0, 4)
    # something is said, something is edited, something is taken out by the graph itself
    first = saver.get_tuple(place("t1")).checkpoint["channel_values"]["messages"]
    agent.update_state(
        place("t1"), {"messages": [HumanMessage("Please look up invoice 8", id=first[0].id)]}, as_node="model"
    )
    say(agent, "t1", "Thank you")
    agent.update_state(place("t1"), {"messages": [RemoveMessage(id=first[3].id)]}, as_node="model")
    done = memory.threads.take_in(["t1"])
    assert (done.report.counts.new, done.report.counts.updated) == (2, 1)
    now = stored(memory, "t1")
    assert now[0][2] == "Please look up invoice 8"
    assert now[0][4] is not None
    assert [row[3] for row in now[:4]] == [row[3] for row in said], "a time that is known stays"
    assert now[3][0] == first[3].id, "what the graph took out stays in the memory"
    again = memory.threads.take_in(["t1"])
    assert again.report.counts.unchanged == 5, "what lies before the checkpoint that was read last is not read again"
    assert len(stored(memory, "t1")) == 6


def test_an_import_from_nothing_says_the_same_as_one_by_one(
    memory: Memory, saver: Any, database_url: str, server_url: str, tmp_path: Path
) -> None:
    agent = agent_of(saver, ScriptedModel())
    for number in range(3):
        messages = say(agent, "t2", f"Please look up invoice {number}")
        memory.threads.take_in(["t2"])
    agent.update_state(place("t2"), {"messages": [AIMessage("Said anew", id=messages[-1].id)]}, as_node="model")
    memory.threads.take_in(["t2"])
    one_by_one = stored(memory, "t2")
    memory.threads.forget("t2")
    assert stored(memory, "t2") == []
    memory.threads.take_in(["t2"])
    assert stored(memory, "t2") == one_by_one


def test_what_cannot_be_read_is_told_and_holds_up_nothing(memory: Memory, saver: Any, database_url: str) -> None:
    filled(saver, "good", 3)
    for name, kind in (("pickled", "pickle"), ("secret", "msgpack+aes")):
        filled(saver, name, 1)
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                "UPDATE checkpoint_blobs SET type = %s WHERE thread_id = %s AND channel = 'messages'", [kind, name]
            )
    filled(saver, "other", 1)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE checkpoints SET checkpoint = checkpoint #- '{channel_versions,messages}' WHERE thread_id = 'other'"
        )
        before = connection.execute("SELECT count(*) FROM checkpoint_migrations").fetchone()
    done = memory.threads.take_in(memory.threads.names())
    assert done.report.files == 1
    reasons = dict(done.passed_over)
    assert "pickled data" in reasons["pickled"]
    assert "encrypted (aes)" in reasons["secret"]
    assert "no channel 'messages'" in reasons["other"]
    assert memory.threads.take_in(["nowhere"]).passed_over == [("nowhere", "there is no thread 'nowhere'")]
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoint_migrations").fetchone() == before
    listed = {one["thread"]: one for one in memory.threads.list()}
    assert set(listed) == {"good", "pickled", "secret", "other"}
    assert listed["good"]["imported_messages"] == 8
    assert listed["good"]["last_activity_at"] is not None


# ── pruning ──────────────────────────────────────────────────────────────────────────────────


def state_of(saver: Any, thread: str) -> list[Any]:
    return saver.get_tuple(place(thread)).checkpoint["channel_values"]["messages"]


def test_a_long_thread_is_pruned_and_its_agent_goes_on(memory: Memory, saver: Any) -> None:
    agent = filled(saver, "long", 110)
    before = state_of(saver, "long")
    count = len(before)
    assert count == 2 * 110 + 2 * 22
    dry = memory.threads.prune("long", dry_run=True)
    assert (dry.would_remove, dry.removed) == (count - 200 + 20, 0)
    assert state_of(saver, "long") == before
    assert stored(memory, "long") == []

    result = memory.threads.prune("long")
    after = state_of(saver, "long")
    assert result.reason == ""
    assert result.removed == dry.would_remove
    assert after == before[result.removed :]
    assert pairs_are_whole(after)
    folds = rows(
        memory, "SELECT trigger, summary, topics FROM session_summaries WHERE session_id = %(c)s", c=chat_of("long")
    )
    assert {fold[0] for fold in folds} == {"thread_size"}
    assert all(fold[1] for fold in folds)
    assert len(stored(memory, "long")) == count
    chunks = rows(memory, "SELECT count(*), count(*) FILTER (WHERE source = 'session_fold') FROM memory_chunks")
    assert chunks[0][0] >= result.removed // 2
    assert chunks[0][1] > 0

    again = memory.threads.prune("long")
    assert (again.removed, again.is_refused) == (0, False)
    said = say(agent, "long", "And now?")
    assert len(said) == len(after) + 2
    assert [one.id for one in said[: len(after)]] == [one.id for one in after]
    assert agent.get_state(place("long")).next == ()
    memory.threads.take_in(["long"])
    assert len(stored(memory, "long")) == count + 2

    model = ScriptedModel(words=2)
    roomy = agent_of(saver, model, middleware=[MemoryMiddleware(memory, model_window=200_000)])
    say(roomy, "long", "What do you know of it all?")
    shown = model.shown[-1][1:]
    assert str(shown[0].content).startswith("[Conversation Summary]"), "it stands for what was taken out"
    assert len(shown) == 1 + len(after) + 3, "and everything that is left is there besides"


class Killed(BaseException):
    """A worker that is gone."""


@pytest.mark.parametrize("step", ["_take_in", "_fold", "_make_chunks", "remove"])
def test_a_killed_prune_ends_the_same_when_it_is_run_again(
    memory: Memory, saver: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(saver, "killed", 104, every=1000)
    before = state_of(saver, "killed")
    owner: Any = PostgresThreads if step == "remove" else ThreadWork
    original = getattr(owner, step)

    def dying(*given: Any, **named: Any) -> Any:
        original(*given, **named)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, dying)
        with pytest.raises(Killed):
            memory.threads.prune("killed")
    result = memory.threads.prune("killed")
    assert not result.is_refused, result.reason
    assert state_of(saver, "killed") == before[len(before) - 180 :]
    assert len(stored(memory, "killed")) == len(before)
    covered = rows(memory, "SELECT sum(message_count) FROM session_summaries WHERE status <> 'superseded'")
    assert covered[0][0] == len(before) - 180
    memory.threads.take_in(["killed"])
    assert len(stored(memory, "killed")) == len(before)


def test_nothing_is_taken_out_without_a_model_or_of_what_is_refused(
    memory: Memory, saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(saver, "down", 104, every=1000)
    before = state_of(saver, "down")

    def down(*_: Any, **__: Any) -> Any:
        raise LlmUnavailable("the model does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(memory.llm, "complete", down)
        result = memory.threads.prune("down")
    assert result.is_refused
    assert "no summary yet" in result.reason
    assert state_of(saver, "down") == before

    saver.put_writes(saver.get_tuple(place("down")).config, [("messages", [])], "task")
    assert "pending writes" in memory.threads.prune("down").reason
    assert state_of(saver, "down") == before


def test_a_thread_that_moved_on_is_looked_at_again(memory: Memory, saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = filled(saver, "moving", 104, every=1000)
    make, told = ThreadWork._make_chunks, list[int]()

    def talking(self: Any, days: Any) -> Any:
        told.append(len(told))
        if len(told) == 1:
            say(agent, "moving", "One more thing")
        return make(self, days)

    monkeypatch.setattr(ThreadWork, "_make_chunks", talking)
    result = memory.threads.prune("moving")
    assert len(told) == 2
    assert not result.is_refused, result.reason
    after = state_of(saver, "moving")
    assert len(after) == 180
    assert after[-2].content == "One more thing"


def test_a_run_that_saves_after_a_look_wins(saver: Any, database_url: str) -> None:
    agent = filled(saver, "race", 3, every=1000)
    source = PostgresThreads(database_url)
    seen = source.state("race")
    say(agent, "race", "Something new")
    assert not source.remove(seen, [seen.messages[0].external_id])
    assert len(state_of(saver, "race")) == 10
    # and one that began before the new checkpoint, and saves after it, stands too: its id is later
    head = saver.get_tuple(place("race"))
    newer = source.state("race")
    with connected(database_url, readonly=False) as connection:
        assert source.remove(newer, [newer.messages[0].external_id])
        say(agent, "race", "More")
        assert saver_on(connection).get_tuple(place("race")).checkpoint["id"] > head.checkpoint["id"]
    assert len(state_of(saver, "race")) == 11


def test_without_the_extra_one_line_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pkg_pipeline.adapters.langgraph.threads", None)
    with pytest.raises(SettingsError, match=r"pkg-pipeline\[langgraph\]"):
        memory.threads.names()


def test_safe_cuts() -> None:
    def one(role: Any, *parts: dict[str, Any]) -> ParsedMessage:
        return ParsedMessage("t", "x", datetime(2025, 1, 1, tzinfo=UTC), "", role=role, parts=[*parts] or None)

    call = {"type": "tool_use", "id": "c", "name": "n", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": ""}
    talk = [one("user"), one("assistant", call), one("tool", result), one("assistant"), one("user"), one("assistant")]
    assert [stage.safe_cut(talk, wanted) for wanted in (1, 2, 3, 4, 5)] == [1, 1, 3, 4, 5]
    assert stage.safe_cut([one("user"), one("user")], 2) == 1
