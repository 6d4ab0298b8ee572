"""``/v1/items``: lists, one item with its history, wrong requests as problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
from pkg_pipeline.adapters.postgres.items.verdicts import PostgresVerdictStore
from pkg_pipeline.api import items as models
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.stages.items.deciding import decide
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.reads.context_memory import NOW
from pkg_pipeline_tests.stages.reads.item_rows import item, reading


@pytest.fixture
def made(build: MemoryBuilder) -> dict[str, UUID]:
    build.connection.execute("DELETE FROM items")
    (talk,) = build.connection.execute("SELECT id FROM interactions ORDER BY started_at LIMIT 1").fetchone() or ()
    at = NOW - timedelta(days=3)
    done = {"at": NOW, "event": "done", "status": "done", "message_ids": ["m2"]}
    made = {
        "soon": item(build, talk, "soon", about=["Anna Petrova"], at=at, due=(NOW + timedelta(days=2)).date()),
        "over": item(build, talk, "over", about=["Anna Petrova"], at=at, due=(NOW - timedelta(days=1)).date()),
        "kept": item(build, talk, "kept", done, about=["Boris"], at=at),
        "price": item(build, talk, "price", about=["Boris"], at=at, kind="decision"),
    }
    reading(build, talk)
    return made


@pytest.fixture
def ports(database_url: str, pool: ConnectionPool) -> Iterator[models.ItemPorts]:
    """Reads over read-only connections, verdicts over others."""
    writing = engine.pool(database_url, size=1)
    yield models.ItemPorts(
        reads=PostgresItemReads(pool, zone=ZoneInfo("UTC")),
        decide=lambda item_id, wanted: decide(PostgresVerdictStore(writing), item_id, wanted, now=NOW),
    )
    writing.close()


@pytest.fixture
def client(client_of: Callable[..., TestClient], ports: models.ItemPorts, made: dict[str, UUID]) -> TestClient:
    return client_of(items=ports)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["over", "soon", "kept"]),
        ({"kind": "decision"}, ["price"]),
        ({"open": "true"}, ["over", "soon"]),
        ({"overdue": "true"}, ["over"]),
        ({"person": "Boris"}, ["kept"]),
        ({"status": ["done", "lapsed"]}, ["kept"]),
        ({"person": "Boris", "open": "true"}, []),
    ],
)
def test_lists_under_filters(client: TestClient, query: dict[str, Any], expected: list[str]) -> None:
    answer = client.get("/v1/items", params=query)
    assert answer.status_code == 200, answer.text
    models.ItemList.model_validate(answer.json())
    assert [one["text"] for one in answer.json()["items"]] == expected


def test_pages(client: TestClient) -> None:
    first = client.get("/v1/items", params={"limit": 2}).json()
    second = client.get("/v1/items", params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["text"] for page in (first, second) for one in page["items"]] == ["over", "soon", "kept"]
    assert second["next"] is None


def test_one_item_has_its_history(client: TestClient, made: dict[str, UUID]) -> None:
    for asked in (str(made["kept"]), str(made["kept"])[:8]):
        answer = client.get(f"/v1/items/{asked}")
        assert answer.status_code == 200
        found = models.Item.model_validate(answer.json())
        assert [state.event for state in found.history] == ["opened", "done"]
        assert found.closed_by == ["telegram:direct%3AAnna%20Petrova/m2"]


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/v1/items/00000000-0000-0000-0000-000000000000", 404, "item-not-found"),
        ("/v1/items/abc", 404, "item-not-found"),
        ("/v1/items?person=Nobody", 404, "entity-not-found"),
        ("/v1/items?person=Anna", 409, "entity-ambiguous"),
        ("/v1/items?status=closed", 422, "invalid-request"),
        ("/v1/items?kind=task", 422, "invalid-request"),
        ("/v1/items?open=true&status=done", 422, "invalid-request"),
        ("/v1/items?cursor=x", 422, "invalid-request"),
        ("/v1/items?limit=0", 422, "invalid-request"),
        ("/v1/items?late=true", 422, "invalid-request"),
    ],
)
def test_what_is_wrong_is_said(client: TestClient, path: str, status: int, kind: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    assert answer.json()["type"] == f"urn:pkg-pipeline:problem:{kind}"


def test_a_person_closes_reopens_and_edits(client: TestClient, made: dict[str, UUID]) -> None:
    path = f"/v1/items/{made['over']}"
    steps: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"status": "done"}, {"status": "done", "decided_by": "person", "overdue": False}),
        ({"status": "done"}, {"status": "done"}),
        ({"status": "open"}, {"status": "open", "overdue": True}),
        ({"text": "over there", "due_date": "2026-03-20"}, {"text": "over there", "due_date": "2026-03-20"}),
        ({"due_date": None, "owner": "self"}, {"due_date": None, "owner": "self", "text": "over there"}),
        ({"status": "cancelled"}, {"status": "cancelled", "closed_by": []}),
    ]
    for body, expected in steps:
        answer = client.patch(path, json=body)
        assert answer.status_code == 200, answer.text
        models.Item.model_validate(answer.json())
        assert {name: answer.json()[name] for name in expected} == expected
        assert client.get(path).json() == answer.json()
    events = [state["event"] for state in client.get(path).json()["history"]]
    assert events == ["opened", "closed", "reopened", "edited", "edited", "closed"]
    assert client.patch(f"/v1/items/{made['price']}", json={"status": "cancelled"}).json()["status"] == "cancelled"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "status"),
        ({"status": "lapsed"}, "status"),
        ({"status": None}, "status"),
        ({"text": "  "}, "text"),
        ({"due_date": "soon"}, "due_date"),
        ({"owner": "Anna"}, "owner"),
        ({"importance": "high"}, "importance"),
    ],
)
def test_a_change_that_makes_no_sense_names_its_field(
    client: TestClient, made: dict[str, UUID], body: dict[str, Any], field: str
) -> None:
    answer = client.patch(f"/v1/items/{made['over']}", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), answer.text
    assert [(error["in"], error["field"]) for error in answer.json()["errors"]] == [("body", field)]


def test_a_decision_is_not_done_and_what_is_not_there_cannot_be_changed(
    client: TestClient, made: dict[str, UUID], build: MemoryBuilder
) -> None:
    assert client.patch(f"/v1/items/{made['price']}", json={"status": "done"}).status_code == 422
    assert client.patch("/v1/items/00000000", json={"status": "done"}).status_code == 404
    form = client.patch(f"/v1/items/{made['over']}", content=b"{}", headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    assert build.connection.execute("SELECT count(*) FROM item_verdicts").fetchone() == (0,)


def test_a_change_needs_the_scope_write(
    client_of: Callable[..., TestClient], ports: models.ItemPorts, made: dict[str, UUID]
) -> None:
    tokens = parse_tokens(
        ",".join(f"{scope}:{scope}:{hashlib.sha256(scope.encode()).hexdigest()}" for scope in ("read", "write"))
    )
    client, path = client_of(items=ports, tokens=tokens), f"/v1/items/{made['over']}"
    for secret, status in (("read", 403), ("write", 200)):
        headers = {"Authorization": f"Bearer {secret}"}
        assert client.patch(path, json={"status": "done"}, headers=headers).status_code == status
        assert client.get(path, headers=headers).status_code == 200


def test_the_description_has_examples(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    for name in ("ItemList", "Item"):
        getattr(models, name).model_validate(described["components"]["schemas"][name]["example"])
    for path in ("/v1/items", "/v1/items/{item}"):
        operation = described["paths"][path]["get"]
        assert operation["summary"]
        assert operation["description"]
        assert operation["x-required-scope"] == "read"
    change = described["paths"]["/v1/items/{item}"]["patch"]
    assert set(change["responses"]) == {"200", "401", "403", "404", "413", "415", "421", "422", "503"}
    assert change["x-required-scope"] == "write"
    assert models.ItemChanges.model_validate(described["components"]["schemas"]["ItemChanges"]["example"])
