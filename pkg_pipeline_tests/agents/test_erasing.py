"""A deleted thread leaves no word in any table, and takes nothing of another chat along (L8); DeltaChannel threads."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from psycopg import sql
from typing_extensions import TypedDict

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.stages.ingest.threads import chat_of
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests.agents.rig import filled, opened, place, saver_at
from pkg_pipeline_tests.cli.processes import Program

MARK = "zanzibarium"

LONG_AGO = """
UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{ts}',
    to_jsonb(to_char((checkpoint->>'ts')::timestamptz - interval '3 days', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')))
"""


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with opened(database_url, tmp_path, summary_min_age_days=0, gap_hours=1) as memory:
        yield memory


@pytest.fixture
def saver(database_url: str) -> Iterator[Any]:
    with saver_at(database_url) as saver:
        yield saver


def columns(connection: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    """Every column that can hold words or ids, of tables, in all schemas of ours and the saver's."""
    return connection.execute(
        "SELECT c.table_schema, c.table_name, c.column_name FROM information_schema.columns c"
        " JOIN information_schema.tables t USING (table_schema, table_name)"
        " WHERE c.table_schema IN ('pkg', 'public') AND t.table_type = 'BASE TABLE'"
        " AND c.data_type IN ('text', 'jsonb', 'json', 'ARRAY', 'uuid', 'bytea', 'character varying')"
    ).fetchall()


def holding(connection: psycopg.Connection[Any], words: str) -> set[str]:
    found: set[str] = set()
    for schema, table, column in columns(connection):
        asked = sql.SQL("SELECT count(*) FROM {}.{} WHERE {}::text ILIKE %s OR {}::text ILIKE %s").format(
            *(sql.Identifier(one) for one in (schema, table, column, column))
        )
        counted = connection.execute(asked, [f"%{words}%", f"%{words.encode().hex()}%"]).fetchone()
        if counted is not None and counted[0]:
            found.add(f"{table}.{column}")
    return found


def worked_off(memory: Memory) -> None:
    """All that is ever made of a chat: summaries, profiles, folds, chunks, an archive, replies in the ledger."""
    memory.build_interactions()
    today = datetime.now(UTC).date()
    days = (today - timedelta(days=4), today + timedelta(days=1))
    memory.summarize(days, Billing("backfill"))
    memory.chunks.build(days)


def other_rows(connection: psycopg.Connection[Any], chat: uuid.UUID) -> dict[str, int]:
    counted: dict[str, int] = {}
    for table, column in (
        ("messages", "chat_id"), ("interactions", "chat_id"), ("memory_chunks", "chat_id"), ("chat_members", "chat_id"),
        ("conversation_sessions", "id"), ("session_summaries", "session_id"), ("memory_topics", "session_id"),
    ):  # fmt: skip
        asked = sql.SQL("SELECT count(*) FROM {} WHERE {} = %s").format(sql.Identifier(table), sql.Identifier(column))
        counted[table] = connection.execute(asked, [chat]).fetchone()[0]  # type: ignore[index]
    asked = (
        "SELECT count(*) FROM interaction_summaries s JOIN interactions i ON i.id = interaction_id WHERE chat_id = %s"
    )
    counted["interaction_summaries"] = connection.execute(asked, [chat]).fetchone()[0]  # type: ignore[index]
    return counted


def test_a_deleted_thread_is_nowhere_any_more(memory: Memory, saver: Any) -> None:
    filled(saver, "gone", 30, word=MARK)
    filled(saver, "kept", 30)
    with memory.connections.connection() as connection:
        connection.execute(LONG_AGO)
    memory.threads.take_in(["gone", "kept"])
    worked_off(memory)
    for thread in ("gone", "kept"):
        memory.folding.fold_session(chat_of(thread))
    memory.sessions.set("langgraph:gone", label=f"about {MARK}")
    memory.windows.window(chat_of("gone"), model_window=3000)
    worked_off(memory)
    with memory.connections.connection() as connection:
        # what a paid model would leave: a reply under the session and one under an interaction
        for kind, query in (
            ("session", "SELECT id FROM conversation_sessions WHERE id = %s"),
            ("interaction", "SELECT id FROM interactions WHERE chat_id = %s LIMIT 1"),
        ):
            subject = connection.execute(query, [chat_of("gone")]).fetchone()[0]  # type: ignore[index]
            call = connection.execute(
                "INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens,"
                " output_tokens, cost_usd, duration_seconds, reply)"
                " VALUES ('h', 't', 'm', 'v', 'live', 'ok', 1, 1, 0.5, 1, %s) RETURNING id",
                [f"a reply on {MARK}"],
            ).fetchone()[0]  # type: ignore[index]
            connection.execute("INSERT INTO llm_call_subjects VALUES (%s, %s, %s)", [call, kind, subject])
        # a version of before, a text in the archive
        connection.execute(
            "INSERT INTO message_revisions SELECT id, 'x', '2025-01-01Z', false, %s FROM messages"
            " WHERE chat_id = %s LIMIT 1",
            [MARK, chat_of("gone")],
        )
        before = holding(connection, MARK)
        assert {"messages.content", "interaction_summaries.summary", "session_summaries.summary", "llm_calls.reply",
                "memory_chunks.content", "checkpoint_blobs.blob", "message_revisions.content"} <= before  # fmt: skip
        kept = other_rows(connection, chat_of("kept"))
        assert all(kept.values())
        spent = connection.execute("SELECT sum(cost_usd) FROM llm_calls").fetchone()

    was_there, report = memory.threads.delete("gone")
    assert was_there
    assert report.messages == 72
    assert report.summaries > 0
    assert report.chunks > 0
    assert report.people == 0, "the other thread has the same user and assistant"
    with memory.connections.connection() as connection:
        assert holding(connection, MARK) == set()
        assert holding(connection, "gone-h1") == set()
        assert holding(connection, str(chat_of("gone"))) == set()
        assert other_rows(connection, chat_of("kept")) == kept
        assert connection.execute("SELECT sum(cost_usd) FROM llm_calls").fetchone() == spent
        terms = connection.execute(
            "SELECT (SELECT chunks FROM chunk_terms WHERE term = 0), (SELECT count(*) FROM memory_chunks)"
        )
        assert len(set(terms.fetchone() or ())) == 1
    again = memory.threads.delete("gone")
    assert not again[0]
    assert not any(again[1].to_json().values())

    memory.threads.delete("kept")
    with memory.connections.connection() as connection:
        for table in ("entities", "entity_identities", "chats", "messages", "interactions", "memory_chunks",
                      "chunk_states", "interaction_summaries", "llm_call_subjects"):  # fmt: skip
            counted = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
            assert counted == (0,), table


@pytest.mark.parametrize("step", ["content", "chunks"])
def test_a_killed_erasure_goes_on(memory: Memory, saver: Any, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(saver, "half", 10, word=MARK)
    memory.threads.take_in(["half"])
    worked_off(memory)
    original = getattr(PostgresErasure, step)

    def dying(*given: Any) -> Any:
        original(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(PostgresErasure, step, dying)
        with pytest.raises(KeyboardInterrupt):
            memory.threads.delete("half")
    memory.threads.delete("half")
    with memory.connections.connection() as connection:
        assert holding(connection, MARK) == set()
        assert holding(connection, str(chat_of("half"))) == set()


# ── DeltaChannel ─────────────────────────────────────────────────────────────────────────────


def test_threads_of_differences_are_read_and_never_pruned(memory: Memory, saver: Any) -> None:
    from langgraph.channels.delta import DeltaChannel
    from langgraph.graph.message import _messages_delta_reducer

    State = TypedDict("State", {"messages": Annotated[list[Any], DeltaChannel(_messages_delta_reducer)]})  # noqa: UP013
    graph = StateGraph(State)
    graph.add_node(
        "talk", lambda state: {"messages": [AIMessage(f"Reply {len(state['messages'])}", id=str(uuid.uuid4()))]}
    )
    graph.add_edge(START, "talk")
    agent = graph.compile(checkpointer=saver)
    for number in range(3):
        agent.invoke({"messages": [HumanMessage(f"Question {number}", id=f"h{number}")]}, place("delta"))
    done = memory.threads.take_in(["delta"])
    assert done.passed_over == []
    assert done.report.counts.new == 6
    assert memory.threads.take_in(["delta"]).report.counts.unchanged == 6
    with memory.connections.connection() as connection:
        said = connection.execute("SELECT content, sent_at FROM messages ORDER BY id").fetchall()
    assert [row[0] for row in said] == ["Question 0", "Reply 1", "Question 1", "Reply 3", "Question 2", "Reply 5"]
    assert len({row[1] for row in said}) == 6
    state = memory.threads.source.state("delta")
    assert "DeltaChannel" in (state.refusal or "")


# ── command line ─────────────────────────────────────────────────────────────────────────────


def test_threads_on_the_command_line(given: Program, database_url: str) -> None:
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none", "PKG_NOW": ""}
    given("threads", "list").failed("PKG_LANGGRAPH_URL")
    given.variables["PKG_LANGGRAPH_URL"] = database_url
    given("threads", "list").failed("no checkpoints of LangGraph")
    with saver_at(database_url) as saver:
        filled(saver, "long", 104, every=1000)
        filled(saver, "short", 2)
        assert [one["thread"] for one in given.ok("threads", "list", "--json").json["items"]] == ["short", "long"]
        given("threads", "import").refused("THREAD")
        done = given.ok("threads", "import", "--all", "--json").json
        assert (done["threads"], done["messages_new"], done["passed_over"]) == (2, 216, [])
        assert "0 new" in given.ok("threads", "import", "short").out
        dry = given.ok("threads", "prune", "--all", "--dry-run", "--json").json
        assert {one["thread"]: one["would_remove"] for one in dry["threads"]} == {"long": 30, "short": 0}
        assert "30 messages of 210 taken out" in given.ok("threads", "prune", "long").out
        assert len(saver.get_tuple(place("long")).checkpoint["channel_values"]["messages"]) == 180
        given("threads", "delete", "short").failed("--yes")
        assert json.loads(given.ok("threads", "delete", "short", "--yes", "--json").out)["messages"] == 6
        given("threads", "delete", "short", "--yes").failed("no thread 'short'")
