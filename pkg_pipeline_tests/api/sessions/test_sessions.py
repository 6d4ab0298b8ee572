"""/v1/sessions over HTTP: the shapes that OpenAPI promises, what goes in and what is refused, who may write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import psycopg
import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from pkg_pipeline import wiring
from pkg_pipeline.api.bodies import MOST_APPENDED_BYTES
from pkg_pipeline.api.models import Problem
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.api.sessions import models as models
from pkg_pipeline.api.sessions.input import MOST_MESSAGES
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests.stages.reads.context_memory import NOW

Client = Callable[..., TestClient]
KEY = "agent:thread/1 ü%2F"
PATH = f"/v1/sessions/{quote(KEY, safe='')}"
TURNS: list[dict[str, Any]] = [
    {"id": 1, "role": "user", "text": "Which port does the old server use?", "sent_at": "2026-03-15T11:00:00Z"},
    {
        "id": 2,
        "role": "assistant",
        "text": "Port 8321, unless --port says otherwise.",
        "sent_at": "2026-03-15T11:00:05Z",
    },
]


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    given = {"home": tmp_path, "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none"}
    with wiring.open_memory(Settings.model_validate(given)) as opened:
        yield opened


@pytest.fixture
def client(client_of: Client, memory: Memory) -> TestClient:
    return client_of(sessions=memory.sessions)


def of(model: type[BaseModel], answer: Any, status: int = 200) -> dict[str, Any]:
    """The body of an answer that is exactly of ``model``."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    model.model_validate(answer.json())
    return answer.json()


def refused(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    Problem.model_validate(answer.json())
    return answer.json()


def append(client: TestClient, messages: Any, path: str = PATH, status: int = 200) -> dict[str, Any]:
    return of(models.Appended, client.post(f"{path}/messages", json=messages), status)


def counts(answer: dict[str, Any]) -> tuple[int, ...]:
    return tuple(answer[name] for name in ("new", "updated", "unchanged", "deleted", "rejected_count"))


def test_messages_go_in_once_and_edits_are_noticed(client: TestClient) -> None:
    first = append(client, {"messages": TURNS})
    assert (first["session"], counts(first)) == (KEY, (2, 0, 0, 0, 0))
    assert (first["counters"]["messages"], first["counters"]["messages_since_hwm"]) == (2, 2)
    assert counts(append(client, TURNS)) == (0, 0, 2, 0, 0), "a bare list will do, and nothing is doubled"
    edited = {**TURNS[1], "text": "Port 9000.", "edited_at": "2026-03-15T11:01:00Z"}
    again = append(client, [edited], path=f"/v1/sessions/{first['id']}")
    assert (again["session"], counts(again)) == (KEY, (0, 1, 0, 0, 0))
    assert counts(append(client, [{**edited, "deleted": True}])) == (0, 0, 0, 1, 0)
    assert append(client, [])["counters"]["messages"] == 1


def test_a_body_sent_again_later_gets_the_answer_of_one_that_is_known(client_of: Client, memory: Memory) -> None:
    """Messages without a time: the first answer got lost, then a part of the body is new."""
    body = [{name: one[name] for name in ("id", "role", "text")} for one in TURNS]
    append(client_of(sessions=memory.sessions), body)
    listed = client_of(sessions=memory.sessions).get(f"{PATH}/messages").json()
    later = memory.settings.model_copy(update={"now": NOW + timedelta(days=40)})
    with wiring.open_memory(later) as other:
        client = client_of(sessions=other.sessions)
        for _ in range(2):
            answer = append(client, body)
            assert [answer[name] for name in ("new", "updated", "unchanged", "deleted")] == [0, 0, 2, 0]
        assert client.get(f"{PATH}/messages").json() == listed
        partly = append(client, [*body, {**body[0], "id": 3}])
        assert (partly["new"], partly["unchanged"]) == (1, 2)
        assert client.get(f"{PATH}/messages").json()["items"][1:] == listed["items"]


def test_a_wrong_message_is_named_and_the_others_go_in(client: TestClient) -> None:
    messages = [TURNS[0], "no object", {"id": 3, "text": "whose?"}, {**TURNS[1], "role": "boss"}, TURNS[1]]
    answer = append(client, {"messages": messages})
    assert counts(answer) == (2, 0, 0, 0, 3)
    assert [one["where"] for one in answer["rejected"]] == ["messages[1]", "messages[2]", "messages[3]"]
    body = refused(client.post(f"{PATH}/messages", json=messages[1:4]), 422)
    assert [one["field"] for one in body["errors"]] == ["messages[0]", "messages[1]", "messages[2]"]
    assert "whose?" not in json.dumps(body)
    other = refused(client.post("/v1/sessions/agent%3Aother/messages", json=[{"text": "x"}]), 422)
    assert other["errors"][0]["field"] == "messages[0]"
    assert len(of(models.SessionList, client.get("/v1/sessions"))["items"]) == 1, "nothing read makes no session"


WRONG_BODIES: list[tuple[bytes, str]] = [
    (b"", ""),
    (b"[1,", ""),
    (b'"text"', "messages"),
    (b"7", "messages"),
    (b"{}", "messages"),
    (b'{"messages": {}}', "messages"),
    (b"[" * 100_000, ""),
    (json.dumps([{"id": 1}] * (MOST_MESSAGES + 1)).encode(), "messages"),
]


def test_a_body_that_is_none(client: TestClient) -> None:
    for body, field in WRONG_BODIES:
        answer = client.post(f"{PATH}/messages", content=body, headers={"Content-Type": "application/json"})
        assert [(one["in"], one["field"]) for one in refused(answer, 422)["errors"]] == [("body", field)], body[:20]


def test_a_body_too_long_and_of_another_type(client: TestClient) -> None:
    json_type = {"Content-Type": "application/json"}

    def pieces() -> Iterator[bytes]:
        for _ in range(MOST_APPENDED_BYTES // 1_000_000 + 1):
            yield b" " * 1_000_000

    for content in (b" " * (MOST_APPENDED_BYTES + 1), pieces()):
        refused(client.post(f"{PATH}/messages", content=content, headers=json_type), 413)
    for path in ("messages", "events", "fold"):
        refused(client.post(f"{PATH}/{path}", content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    refused(client.patch(PATH, content=b"{}", headers={"Content-Type": "text/plain"}), 415)


def test_a_number_is_a_number(client: TestClient) -> None:
    append(client, TURNS[:1])
    for wrong in (False, "5", 5.0):
        body = refused(client.patch(PATH, json={"summary_interval": wrong}), 422)
        assert [one["field"] for one in body["errors"]] == ["summary_interval"]


def test_what_cleaning_can_mend_goes_in(client: TestClient) -> None:
    odd = b'[{"id": 1, "role": "user", "text": "lone \\ud800, nul \\u0000, raw \x01 and \xff"}]'
    answer = client.post(f"{PATH}/messages", content=odd, headers={"Content-Type": "application/json"})
    assert counts(of(models.Appended, answer)) == (1, 0, 0, 0, 0)
    (message,) = of(models.SessionMessageList, client.get(f"{PATH}/messages"))["items"]
    assert message["text"].startswith("lone \ufffd")


KEYS = ("agent:1", "agent:a/window", "agent:a/messages", "agent:%2F?#[]@ +", "агент:нить", "a:b:c")


def test_any_key_can_stand_in_a_path(client: TestClient) -> None:
    for key in KEYS:
        path = f"/v1/sessions/{quote(key, safe='')}"
        assert append(client, TURNS, path=path)["session"] == key
        assert of(models.ShownSession, client.get(path))["session"] == key
        assert len(of(models.SessionMessageList, client.get(f"{path}/messages"))["items"]) == 2
        assert of(models.Window, client.get(f"{path}/window?model_window=8000"))["messages"]


def test_what_is_no_session(client: TestClient) -> None:
    for session in ("agent%3Anone", str(UUID(int=7))):
        for path in ("", "/messages", "/window"):
            body = refused(client.get(f"/v1/sessions/{session}{path}"), 404)
            assert body["type"].endswith("session-not-found")
        refused(client.post(f"/v1/sessions/{session}/events", json={"event": "manual"}), 404)
        refused(client.post(f"/v1/sessions/{session}/fold", json={}), 404)
    refused(client.post(f"/v1/sessions/{UUID(int=7)}/messages", json=TURNS), 404)
    refused(client.patch(f"/v1/sessions/{UUID(int=7)}", json={"label": "x"}), 404)
    for wrong in ("nocolon", "%FF", "agent%3A", "%00"):
        body = refused(client.get(f"/v1/sessions/{wrong}"), 422)
        assert [(one["in"], one["field"]) for one in body["errors"]] == [("path", "session")]
    refused(client.get("/v1/sessions/agent:a/b/c"), 404)


def test_sessions_are_listed_and_paged(client: TestClient) -> None:
    for number in range(3):
        append(client, TURNS, path=f"/v1/sessions/agent%3A{number}")
    first = of(models.SessionList, client.get("/v1/sessions?limit=2"))
    second = of(models.SessionList, client.get(f"/v1/sessions?limit=2&cursor={first['next']}"))
    rows = [*first["items"], *second["items"]]
    assert sorted(row["session"] for row in rows) == ["agent:0", "agent:1", "agent:2"]
    assert second["next"] is None
    assert {(row["messages"], row["folded"], row["unfolded"], row["hwm"]) for row in rows} == {(2, 0, 2, 0)}
    assert {row["last_message_at"] for row in rows} == {"2026-03-15T11:00:05Z"}
    refused(client.get("/v1/sessions?cursor=nonsense"), 422)
    newest = of(models.SessionMessageList, client.get("/v1/sessions/agent%3A0/messages?limit=1"))
    older = of(models.SessionMessageList, client.get(f"/v1/sessions/agent%3A0/messages?cursor={newest['next']}"))
    assert [one["key"] for page in (newest, older) for one in page["items"]] == ["agent:0/2", "agent:0/1"]


def test_a_session_is_changed(client: TestClient) -> None:
    changed = of(models.Session, client.patch(PATH, json={"policy": "interval", "summary_interval": 4, "label": "me"}))
    assert (changed["session"], changed["policy"], changed["summary_interval"], changed["label"]) == (
        KEY,
        "interval",
        4,
        "me",
    )
    again = of(models.Session, client.patch(PATH, json={"strategy": "rolling", "summary_interval": 0, "label": ""}))
    assert (again["policy"], again["strategy"], again["summary_interval"]) == ("interval", "rolling", None)
    for wrong, field in (
        ({"policy": "thread_size"}, "policy"),
        ({"strategy": "none"}, "strategy"),
        ({"summary_interval": 1}, "summary_interval"),
        ({"summary_interval": -1}, "summary_interval"),
        ({"colour": "red"}, "colour"),
    ):
        body = refused(client.patch(PATH, json=wrong), 422)
        assert [(one["in"], one["field"]) for one in body["errors"]] == [("body", field)]


def test_an_event_makes_the_fold_due_and_fold_makes_it(client: TestClient) -> None:
    talk = [
        {**TURNS[number % 2], "id": number, "text": f"{TURNS[number % 2]['text']} ({number})"} for number in range(8)
    ]
    append(client, talk)
    told = of(models.Session, client.post(f"{PATH}/events", json={"event": "handoff"}), 202)
    assert (told["event"], told["next_due_at"]) == ("handoff", "2026-03-15T12:00:00Z")
    refused(client.post(f"{PATH}/events", json={"event": "party"}), 422)
    made = of(models.Folded, client.post(f"{PATH}/fold", json={}))
    assert made["folds"] == 1
    shown = of(models.ShownSession, client.get(PATH))
    assert (shown["messages"], shown["folded"], shown["unfolded"], shown["event"]) == (8, 8, 0, None)
    assert len(shown["recent"]) == 8
    assert of(models.Folded, client.post(f"{PATH}/fold", json={}))["folds"] == 0
    window = of(models.Window, client.get(f"{PATH}/window?strategy=rolling"))
    assert window["session"] == KEY
    assert window["tokens"] <= window["budget"]["available"]


def test_a_window_in_every_form(client: TestClient) -> None:
    append(client, TURNS[:1])
    for form in ("anthropic", "openai", "langchain"):
        body = of(models.Window, client.get(f"{PATH}/window?as={form}&model_window=8000&system_tokens=100&model=m"))
        assert TURNS[0]["text"] in json.dumps(body["messages"])
        assert (body["budget"]["window"], body["budget"]["system"]) == (8000, 100)
    for query, field in (
        ("as=csv", "as"),
        ("strategy=all", "strategy"),
        ("model_window=0", "model_window"),
        ("system_tokens=-1", "system_tokens"),
    ):
        body = refused(client.get(f"{PATH}/window?{query}"), 422)
        assert [one["field"] for one in body["errors"]] == [field]


def test_a_live_turn_that_does_not_fit_is_told_with_both_numbers(client: TestClient) -> None:
    append(client, [{"id": 1, "role": "user", "text": "word " * 3000}])
    body = refused(client.get(f"{PATH}/window?model_window=2000"), 422)
    assert body["type"].endswith("live-turn-too-long")
    assert body["tokens"] > body["available"] > 0
    assert "word word" not in body["detail"]


def test_with_tokens_writing_needs_the_scope(client_of: Client, memory: Memory) -> None:
    said = [f"{name}:{name}:{hashlib.sha256(name.encode()).hexdigest()}" for name in ("read", "write")]
    client = client_of(sessions=memory.sessions, tokens=parse_tokens(",".join(said)))
    reader, writer = ({"Authorization": f"Bearer {name}"} for name in ("read", "write"))
    refused(client.post(f"{PATH}/messages", json=TURNS), 401)
    refused(client.post(f"{PATH}/messages", json=TURNS, headers=reader), 403)
    of(models.Appended, client.post(f"{PATH}/messages", json=TURNS, headers=writer))
    refused(client.patch(PATH, json={}, headers=reader), 403)
    refused(client.post(f"{PATH}/fold", json={}, headers=reader), 403)
    refused(client.get(f"{PATH}/window"), 401)
    of(models.Window, client.get(f"{PATH}/window", headers=reader))


def test_a_database_that_is_away_is_503_and_says_nothing_of_what_was_sent(client_of: Client, memory: Memory) -> None:
    class Away:
        def __getattr__(self, name: str) -> Any:
            def fail(*_: object, **__: object) -> None:
                raise psycopg.OperationalError(f"server closed, {name}, secret words")

            return fail

    client = client_of(sessions=Away())
    for answer in (
        client.post(f"{PATH}/messages", json=TURNS),
        client.get(f"{PATH}/window"),
        client.get("/v1/sessions"),
    ):
        body = refused(answer, 503)
        assert "secret" not in json.dumps(body)
        assert answer.headers["retry-after"]


def test_openapi_documents_every_route(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    found = {path: set(methods) for path, methods in schema["paths"].items() if path.startswith("/v1/sessions")}
    assert found == {
        "/v1/sessions": {"get"},
        "/v1/sessions/{session}": {"get", "patch"},
        "/v1/sessions/{session}/messages": {"get", "post"},
        "/v1/sessions/{session}/window": {"get"},
        "/v1/sessions/{session}/events": {"post"},
        "/v1/sessions/{session}/fold": {"post"},
    }
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            for status, response in operation["responses"].items():
                if not status.startswith("2"):
                    assert list(response["content"]) == ["application/problem+json"], f"{path} {status}"
    post = schema["paths"]["/v1/sessions/{session}/messages"]["post"]
    body = post["requestBody"]["content"]["application/json"]["schema"]
    assert body["anyOf"][1]["items"]["properties"]["role"]
    assert {"413", "415", "422"} < set(post["responses"])
    for name in ("Session", "Appended", "Window", "EventBody", "SessionChanges"):
        getattr(models, name).model_validate(schema["components"]["schemas"][name]["example"])


def test_without_sessions_there_are_no_such_routes(client_of: Client) -> None:
    refused(client_of().get("/v1/sessions"), 404)
