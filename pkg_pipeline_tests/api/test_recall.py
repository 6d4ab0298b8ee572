"""/v1/recall and a context's hint over HTTP: the shape that OpenAPI promises, problem documents, who may ask."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.api.app import create_app
from pkg_pipeline.api.models import Context, Problem
from pkg_pipeline.api.recall import Recall
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.stages.ports import EmbedderUnavailable
from pkg_pipeline.stages.reads.stores import StoreUnavailable
from pkg_pipeline.wiring.recall import relevant_by
from pkg_pipeline_tests.api.conftest import StandingClock
from pkg_pipeline_tests.stages.reads.context_memory import check, counter, exact_tokens, settings
from pkg_pipeline_tests.stages.recall.recall_memory import ANNA, MODEL, TALKS, Asked, FixedEmbedder, chat, key, recalled

BOAT = quote("Who bought the old boat?")
NOBODY = UUID(int=7)
Client = Callable[..., TestClient]


@pytest.fixture(scope="session")
def asked(server_url: str) -> Iterator[Asked]:
    """A memory in three languages that is only read."""
    with recalled(server_url) as memory:
        yield memory


@pytest.fixture
def client_over(asked: Asked) -> Client:
    """A client of the application over that memory, with some of its ports changed."""

    def make(**changes: Any) -> TestClient:
        store = PostgresReadStore(asked.reads, zone=ZoneInfo("UTC"))
        base_url = changes.pop("base_url", "http://127.0.0.1:8321")
        ports: dict[str, Any] = {
            "reads": store,
            "counter": counter(),
            "clock": StandingClock(),
            "settings": settings(),
            "expected_revision": migrate.head(),
            "recall": asked.parts,
            "relevant": relevant_by(asked.parts, max_tokens=4000),
        }
        return TestClient(create_app(ApiDependencies(**{**ports, **changes})), base_url=base_url)

    return make


@pytest.fixture
def client(client_over: Client) -> TestClient:
    return client_over()


def got(client: TestClient, query: str) -> dict[str, Any]:
    """The body of a 200 that is exactly of the model, after the checks that hold for every answer."""
    answer = client.get(f"/v1/recall?{query}")
    assert answer.status_code == 200, answer.text
    body = answer.json()
    Recall.model_validate(body)
    assert exact_tokens(body["text"]) == body["tokens"]
    assert all(f"- {one['text']}\n" in body["text"] for one in body["results"])
    return body


def refused(client: TestClient, path: str, status: int, **more: Any) -> dict[str, Any]:
    answer = client.get(path, **more)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    Problem.model_validate(answer.json())
    return answer.json()


def keys(body: dict[str, Any]) -> list[str]:
    return [one for result in body["results"] for one in result["message_ids"]]


def test_a_question_is_answered_in_the_promised_shape(client: TestClient) -> None:
    body = got(client, f"query={BOAT}")
    assert (body["query"], body["mode"], body["embedding_model"]) == ("Who bought the old boat?", "hybrid", MODEL)
    assert body["as_of"] == "2026-03-15T12:00:00Z"
    assert body["warnings"] == []
    assert len(body["results"]) > 5
    assert body["tokens"] <= 1_000
    assert body["results"][0]["message_ids"] == [key(1)]
    assert body["results"][0]["text"] == f"Anna Petrova: {TALKS[0][3]}"


def test_how_much_is_asked_for(client: TestClient) -> None:
    assert len(got(client, f"query={BOAT}&top_k=2")["results"]) == 2
    assert 0 < got(client, f"query={BOAT}&max_tokens=50")["tokens"] <= 50
    assert len(got(client, f"query={BOAT}&max_tokens=5000")["results"]) > 5


@pytest.mark.parametrize(
    ("scope", "chats"),
    [
        ("entity=masha%20none", None),
        (f"entity={quote('Anna Petrova')}", {"jsonl:anna", "jsonl:yard"}),
        ("chat=jsonl:yard", {"jsonl:yard"}),
        ("session=jsonl:yard", {"jsonl:yard"}),
        (f"session={chat('wei')}", {"jsonl:wei"}),
        ("topic=money&topic=other", {"jsonl:anna", "jsonl:yard"}),
        ("topic=other", set()),
        ("topic=mo%00ney", {"jsonl:anna", "jsonl:yard"}),
        ("as_of=2026-01-12", {"jsonl:anna"}),
        ("as_of=2025-01-12", set()),
    ],
)
def test_scopes(client: TestClient, scope: str, chats: set[str] | None) -> None:
    if chats is None:
        refused(client, f"/v1/recall?query={BOAT}&{scope}", 404)
        return
    assert {one["chat"] for one in got(client, f"query={BOAT}&top_k=200&{scope}")["results"]} == chats


@pytest.mark.parametrize("query", ["%00boat%00", "%F0%9F%98%80", "%ED%A0%80%20boat", "%25%27%22%5C", "x" * 2000])
def test_odd_questions_are_answered(client: TestClient, query: str) -> None:
    got(client, f"query={query}")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "query"),
        ("query=", "query"),
        ("query=%20", "query"),
        ("query=%00", "query"),
        (f"query={'x' * 2001}", "query"),
        (f"query={BOAT}&top_k=0", "top_k"),
        (f"query={BOAT}&top_k=201", "top_k"),
        (f"query={BOAT}&max_tokens=0", "max_tokens"),
        (f"query={BOAT}&max_tokens=some", "max_tokens"),
        (f"query={BOAT}&as_of=soon", "as_of"),
        (f"query={BOAT}&as_of=2999-01-01", "as_of"),
        (f"query={BOAT}&chat=nocolon", "chat"),
        (f"query={BOAT}&session=%00", "session"),
        (f"query={BOAT}&session=jsonl:yard&chat=jsonl:yard", "session"),
    ],
)
def test_a_wrong_parameter_is_named(client: TestClient, query: str, field: str) -> None:
    body = refused(client, f"/v1/recall?{query}", 422)
    assert [one["field"] for one in body["errors"]] == [field]


def test_what_does_not_exist_is_404_and_what_fits_several_409(client: TestClient) -> None:
    for scope in ("chat=jsonl:gone", f"session={NOBODY}", "session=jsonl:gone"):
        body = refused(client, f"/v1/recall?query={BOAT}&{scope}", 404)
        assert body["type"].endswith("chat-not-found")
    assert refused(client, f"/v1/recall?query={BOAT}&entity={NOBODY}", 404)["type"].endswith("entity-not-found")
    assert refused(client, f"/v1/recall?query={BOAT}&entity=Borys", 404)["type"].endswith("entity-not-found")
    assert refused(client, f"/v1/recall?query={BOAT}&entity=e", 409)["candidates"]


def test_an_embedder_that_is_away_leaves_the_words(client_over: Client, asked: Asked) -> None:
    away = FixedEmbedder(error=EmbedderUnavailable("the service does not answer"))
    body = got(client_over(recall=asked.by(away)), f"query={BOAT}")
    assert (body["mode"], body["embedding_model"]) == ("keyword", None)
    assert body["warnings"] == ["the embedder failed (the service does not answer): keywords only"]
    assert body["results"][0]["message_ids"] == [key(1)]


class Broken:
    def __getattr__(self, name: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise StoreUnavailable("the database does not answer")

        return fail


def test_a_database_that_is_down_is_503(client_over: Client, asked: Asked) -> None:
    broken: Any = Broken()
    refused(client_over(recall=replace(asked.parts, store=broken)), f"/v1/recall?query={BOAT}", 503)


def test_with_tokens_a_question_needs_one(client_over: Client) -> None:
    tokens = parse_tokens(f"reader:read:{hashlib.sha256(b'reader').hexdigest()}")
    guarded = client_over(tokens=tokens)
    refused(guarded, f"/v1/recall?query={BOAT}", 401)
    allowed = guarded.get(f"/v1/recall?query={BOAT}", headers={"Authorization": "Bearer reader"})
    assert allowed.status_code == 200


def test_without_recall_there_is_no_such_route(client_over: Client) -> None:
    refused(client_over(recall=None), f"/v1/recall?query={BOAT}", 404)


def test_openapi_documents_the_route_with_words_and_problems(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    operation = schema["paths"]["/v1/recall"]["get"]
    assert operation["summary"]
    assert operation["description"]
    names = [one["name"] for one in operation["parameters"]]
    assert names == ["query", "entity", "session", "chat", "topic", "top_k", "max_tokens", "as_of", "known_as_of"]
    assert set(operation["responses"]) == {"200", "401", "403", "404", "409", "421", "422", "503"}
    for status, response in operation["responses"].items():
        assert status == "200" or list(response["content"]) == ["application/problem+json"]
    Recall.model_validate(schema["components"]["schemas"]["Recall"]["example"])


def test_a_context_with_a_hint(client: TestClient, asked: Asked) -> None:
    anna = asked.person(ANNA)
    answer = client.get(f"/v1/entities/{anna}/context?hint={BOAT}&max_tokens=400")
    body = answer.json()
    Context.model_validate(body)
    check(body)
    assert body["text"].count(TALKS[0][3]) == 1
    for wrong in ("%20", "%00", "x" * 2001):
        found = refused(client, f"/v1/entities/{anna}/context?hint={wrong}", 422)
        assert [one["field"] for one in found["errors"]] == ["hint"]
