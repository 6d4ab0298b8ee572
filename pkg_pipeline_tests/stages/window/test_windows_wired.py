"""Windows as the program wires them: an imported chat, recall by its chunks, usage that comes with an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.rows import scalar_row

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.text.remembered_counts import RememberedCounts
from pkg_pipeline.memory.hashing import chat_id_of
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline.wiring.recall import recall_parts
from pkg_pipeline_tests.stages.recall.recall_memory import fill, opened
from pkg_pipeline_tests.stages.window.window_rig import WordCounter

CHAT = "jsonl:talk"
TALK = ["The notary of Zug is called Hansen.", *(f"Something else, number {number}." for number in range(30))]


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with opened(database_url, tmp_path) as memory:
        rows = [
            {"chat_id": "talk", "message_id": str(number), "sender_id": role, "sender_name": role.title(), "text": text,
             "sent_at": f"2026-01-05T10:{number:02d}:00Z", "role": role}
            for number, text in enumerate(TALK) for role in (["user", "assistant"][number % 2],)
        ]  # fmt: skip
        fill(memory, tmp_path, rows)
        yield memory


def asked(memory: Memory, statement: str, *given: Any) -> Any:
    with memory.connections.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
        cursor.execute(statement, given)  # type: ignore[arg-type]
        return cursor.fetchone() if cursor.description else None


def folded(memory: Memory, up_to: str) -> UUID:
    """The session of the chat, folded up to a message."""
    session = memory.sessions.ensure(CHAT).id
    asked(
        memory,
        "UPDATE conversation_sessions SET running_summary = 'They talked.', hwm_message_id ="
        " (SELECT id FROM messages WHERE external_id = %s), messages_since_hwm = message_count - %s - 1 WHERE id = %s",
        up_to,
        int(up_to),
        session,
    )
    return session


def test_any_chat_is_a_session_when_it_is_asked_for(memory: Memory) -> None:
    found = memory.windows.window(chat_id_of(CHAT), model_window=8_000)
    assert [one["role"] for one in found.messages[:2]] == ["user", "assistant"]
    assert found.hypothetical_tokens == found.window.tokens == asked(memory, "SELECT sum(token_count) FROM messages")
    assert found.window.budget.available == 5_200
    with pytest.raises(SessionUnknown):
        memory.windows.window(chat_id_of("jsonl:nobody"))


@pytest.mark.parametrize("embedder", ["offline", "none"])
def test_what_is_folded_is_recalled(memory: Memory, database_url: str, tmp_path: Path, embedder: str) -> None:
    """L10: without an embedder by keywords, and it says so."""
    session = folded(memory, "20")
    with opened(database_url, tmp_path, embedder=embedder) as other:
        found = other.windows.window(session, query="What is the notary called?")
        assert "[Relevant Memory]\n- 2026-01-05, User: The notary of Zug is called Hansen." in found.window.summary
        assert bool(found.warnings) == (embedder == "none")
        assert all("keywords" in warning for warning in found.warnings)
        assert len(found.recalled) <= 5
        shown = {key for tier in found.window.tiers for key in tier.messages}
        assert f"{CHAT}/0" not in shown


def test_usage_of_an_appended_answer_goes_to_its_window(memory: Memory) -> None:
    session = memory.sessions.ensure(CHAT).id
    window = memory.windows.window(session, model="claude-haiku-5-5")
    usage = {"input_tokens": 900, "output_tokens": 100}
    memory.sessions.append(CHAT, [("answer", {"id": "x", "role": "assistant", "text": "Hansen.", "usage": usage})])
    assert asked(memory, "SELECT (reported_prompt_tokens, completion_tokens, cost_usd)::text FROM served_windows") == (
        "(900,100,0.000140)"
    )
    assert window.receipt_id == asked(memory, "SELECT id FROM served_windows")


def test_a_server_records_behind_its_answers(memory: Memory) -> None:
    with engine.pool(memory.url, size=2, readonly=True) as reads:
        memory.windows.serving(reads, recall_parts(memory.settings, reads, memory.counter))
        given = {memory.windows.window(chat_id_of(CHAT)).receipt_id for _ in range(3)}
        assert memory.windows.record_usage(chat_id_of(CHAT), input_tokens=1, output_tokens=1), "it waits for the record"
        memory.windows.close()
        assert memory.windows.window(chat_id_of(CHAT)).receipt_id not in given
    assert set(asked(memory, "SELECT array_agg(id) FROM served_windows")) == given
    assert memory.windows.lost == 1, "what comes after the end is counted"


def test_counts_are_remembered_not_texts() -> None:
    class Watched(WordCounter):
        def __init__(self) -> None:
            self.asked: list[str] = []

        def count_many(self, texts: Any) -> list[int]:
            self.asked += texts
            return super().count_many(texts)

    inner = Watched()
    counter = RememberedCounts(inner, size=2)
    assert counter.count_many(["a b", "c", "a b", ""]) == [2, 1, 2, 0]
    assert inner.asked == ["a b", "c", ""]
    assert counter.count_many(["", "c"]) == [0, 1]
    assert inner.asked == ["a b", "c", ""]
    assert counter.count("a b") == 2, "the least lately used was forgotten"
    assert inner.asked == ["a b", "c", "", "a b"]
    assert counter.name == "words"
