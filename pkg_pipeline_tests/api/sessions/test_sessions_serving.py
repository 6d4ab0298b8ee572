"""Sessions as ``serve`` wires them: connections of their own, broken ones replaced, windows recorded meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.sessions.parsing import listed
from pkg_pipeline.wiring import Memory
from pkg_pipeline.wiring.recall import recall_parts
from pkg_pipeline.wiring.sessions import SessionWork
from pkg_pipeline_tests.stages.reads.context_memory import NOW

CLIENTS, REQUESTS, MESSAGES = 8, 4, 25


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    given = {"home": tmp_path, "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none"}
    with wiring.open_memory(Settings.model_validate(given)) as opened:
        yield opened


@pytest.fixture
def desk(memory: Memory, pool: ConnectionPool) -> Iterator[SessionWork]:
    questions = recall_parts(memory.settings, pool, memory.counter)
    with memory.serving_sessions(reads=pool, recall=questions, wait_seconds=1.0) as made:
        yield made


def turns(first: int, count: int = 2) -> list[dict[str, Any]]:
    said = ("user", "assistant")
    return [
        {"id": number, "role": said[number % 2], "text": f"said {number}", "sent_at": "2026-03-15T11:00:00Z"}
        for number in range(first, first + count)
    ]


def one(url: str, statement: str) -> Any:
    with engine.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
    return None if row is None else row[0]


def test_broken_connections_are_replaced_and_nothing_is_doubled(desk: SessionWork, database_url: str) -> None:
    assert desk.append("agent:1", listed(turns(0))).to_json()["new"] == 2
    assert desk.window("agent:1")["messages"]
    one(
        database_url,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    again = desk.append("agent:1", listed(turns(1))).to_json()
    assert (again["new"], again["unchanged"], again["counters"]["messages"]) == (1, 1, 3)
    assert len(desk.window("agent:1")["messages"]) == 3


def test_a_database_that_stays_away_is_an_error(desk: SessionWork, database_url: str) -> None:
    desk.append("agent:1", listed(turns(0)))
    name = database_url.rpartition("/")[2].partition("?")[0]
    elsewhere = engine.with_database(database_url, "postgres")
    with engine.connect(elsewhere, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")  # type: ignore[arg-type]
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        with pytest.raises(psycopg.OperationalError):
            desk.append("agent:1", listed(turns(2)))
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")  # type: ignore[arg-type]


def test_many_clients_at_once_lose_and_double_nothing(desk: SessionWork, database_url: str) -> None:
    def client(number: int) -> int:
        new = 0
        for request in range(REQUESTS):
            sent = turns((number // 2 * REQUESTS + request) * MESSAGES, MESSAGES)  # two clients send the same
            new += desk.append(f"agent:{number % 4 // 2}", listed(sent)).to_json()["new"]
        return new

    with ThreadPoolExecutor(CLIENTS) as threads:
        counted = sum(threads.map(client, range(CLIENTS)))
    stored = one(database_url, "SELECT count(*) FROM messages")
    assert counted == stored == CLIENTS // 2 * REQUESTS * MESSAGES
    assert one(database_url, "SELECT sum(message_count) FROM conversation_sessions") == stored


def test_windows_are_recorded_behind_the_answer(memory: Memory, desk: SessionWork, database_url: str) -> None:
    desk.append("agent:1", listed(turns(0)))
    told = desk.window("agent:1", model="some-model")
    answer = {"id": 9, "role": "assistant", "text": "so", "usage": {"input_tokens": 12, "output_tokens": 3}}
    memory.windows.close()
    desk.append("agent:1", listed([answer]))
    assert memory.windows.lost == 0
    kept = "SELECT id::text || ' ' || model || ' ' || reported_prompt_tokens FROM served_windows"
    assert one(database_url, kept) == f"{told['receipt_id']} some-model 12"


def test_a_chat_that_nobody_followed_becomes_a_session(client_of: Any, desk: SessionWork, build: Any) -> None:
    client: TestClient = client_of(sessions=desk)
    chat = str(build.chats["Anna Petrova"][0])
    assert client.get(f"/v1/sessions/{chat}").status_code == 404
    window = client.get(f"/v1/sessions/{chat}/window").json()
    assert "said 1" in str(window["messages"])
    shown = client.get(f"/v1/sessions/{chat}").json()
    assert (shown["session"], shown["messages"]) == ("telegram:direct:Anna Petrova", 3)
    assert client.post(f"/v1/sessions/{chat}/fold", json={}).status_code == 200


def test_what_was_appended_is_found_without_a_run(memory: Memory, pool: ConnectionPool, database_url: str) -> None:
    questions = recall_parts(memory.settings, pool, memory.counter)
    said = [{"id": 0, "role": "user", "text": "The gate code is 4711 now", "sent_at": "2026-03-15T11:00:00Z"}]
    with memory.serving_sessions(reads=pool, recall=questions) as desk:  # its end waits for what is queued
        desk.append("agent:1", listed(said))
        desk.append("agent:2", listed(turns(0)))
    assert [line.text for line in memory.recall.search("gate code").block.lines] == ["me: The gate code is 4711 now"]
    assert one(database_url, "SELECT count(*) FROM dirty_partitions WHERE asset = 'interactions'") == 0
    looked_at = "SELECT min(due_at) FROM dirty_partitions WHERE asset = 'memory_chunks'"
    assert one(database_url, looked_at) > NOW, "its day is only looked at later"


def test_what_cannot_be_made_at_once_is_left_to_the_next_run(
    memory: Memory, pool: ConnectionPool, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise psycopg.OperationalError("the server went away")

    questions = recall_parts(memory.settings, pool, memory.counter)
    with monkeypatch.context() as broken, memory.serving_sessions(reads=pool, recall=questions) as desk:
        broken.setattr(Memory, "make_searchable", fails)
        assert desk.append("agent:1", listed(turns(0))).to_json()["new"] == 2
        memory.sessions.show("agent:1")
    marked = "SELECT count(*) FROM dirty_partitions WHERE asset = 'interactions'"
    assert one(database_url, marked) == 1
    memory.make_searchable()
    assert one(database_url, marked) == 0
    assert memory.recall.search("said 1").block.lines
