"""``DELETE`` of people, chats, sessions and messages over HTTP; receipts; the scope it needs (B3)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.wiring.forgetting import ForgettingWork
from pkg_pipeline_tests.stages import deleted_words as words

NOW = "2025-03-01T12:00:00+00:00"


@pytest.fixture
def work(database_url: str, tmp_path: Path) -> Iterator[ForgettingWork]:
    exports = tmp_path / "exports"
    with words.opened(database_url, tmp_path, NOW) as memory:
        lines = [words.line(number, sender, text) for number, (sender, text) in enumerate(words.SAID, 1)]
        words.take(memory, lines, written="2025-01-11T00:00:00+00:00", folder=exports)
        memory.sessions.append(words.SESSION, words._turns(words.TALK, "2025-01-25T11:00:00+00:00"))
        words.work(memory)
        yield memory.forgetting


@pytest.fixture
def client(client_of: Callable[..., TestClient], work: ForgettingWork) -> TestClient:
    return client_of(forgetting=work)


def test_a_person_goes_with_a_receipt(client: TestClient) -> None:
    dry = client.delete("/v1/entities/Olga Petrova", params={"dry_run": True}).json()
    assert (dry["dry_run"], dry["counts"]["messages"]) == (True, 6)
    receipt = client.delete("/v1/entities/Olga Petrova").json()
    assert (receipt["kind"], receipt["state"], receipt["counts"]["messages"]) == ("entity", "done", 6)
    assert client.get("/v1/erasures").json() == {"items": [receipt], "next": None}
    assert client.get(f"/v1/erasures/{receipt['id']}").json() == receipt
    assert client.delete("/v1/entities/Olga Petrova").status_code == 404
    assert client.get(f"/v1/erasures/{receipt['id'][:-4]}0000").status_code == 404


def test_messages_chats_and_sessions_go(client: TestClient, work: ForgettingWork) -> None:
    one = client.delete("/v1/messages", params={"message": "jsonl:c1/c1-2"}).json()
    assert (one["kind"], one["counts"]["messages"]) == ("message", 1)
    gone = client.delete("/v1/messages", params={"message": "jsonl:c1/c1-2"})
    assert (gone.status_code, gone.headers["content-type"]) == (404, "application/problem+json")
    assert client.delete("/v1/messages", params={"message": "c1"}).status_code == 422
    assert client.delete("/v1/chats/jsonl%3Ac1").json()["counts"]["messages"] == 5
    assert client.delete("/v1/sessions/agent%3Athread-1").json()["kind"] == "session"
    assert client.delete("/v1/sessions/agent%3Athread-1").status_code == 404
    assert not list(work.store.rows_with(words.IBAN))


def test_it_waits_for_no_import(client: TestClient, database_url: str) -> None:
    with engine.connect(database_url) as holding:
        holding.execute(
            "INSERT INTO import_batches (id, file, format, status)"
            " VALUES ('00000000-0000-0000-0000-000000000001', 'f', 'jsonl', 'running')"
        )
        holding.execute(
            "SELECT pg_advisory_lock(hashtextextended('00000000-0000-0000-0000-000000000001'::uuid::text, 7))"
        )
        holding.commit()
        refused = client.delete("/v1/chats/jsonl%3Ac1")
    assert refused.status_code == 409
    assert "import" in refused.json()["detail"]


def test_it_needs_the_scope_admin(
    client_of: Callable[..., TestClient], work: ForgettingWork, database_url: str
) -> None:
    secrets = {scope: f"secret-{scope}" for scope in ("read", "write", "admin")}
    tokens = ",".join(f"{scope}:{scope}:{hashlib.sha256(one.encode()).hexdigest()}" for scope, one in secrets.items())
    client = client_of(forgetting=work, tokens=parse_tokens(tokens))
    asked = {
        scope: client.delete(
            "/v1/entities/Olga Petrova", params={"dry_run": True}, headers={"Authorization": f"Bearer {one}"}
        ).status_code
        for scope, one in secrets.items()
    }
    assert asked == {"read": 403, "write": 403, "admin": 200}
