"""``/v1/items``: lists, one item with its history, wrong requests as problems."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
from pkg_pipeline.api import items as models
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.reads.context_memory import NOW
from pkg_pipeline_tests.stages.reads.item_rows import item


@pytest.fixture
def made(build: MemoryBuilder) -> dict[str, UUID]:
    (talk,) = build.connection.execute("SELECT id FROM interactions ORDER BY started_at LIMIT 1").fetchone() or ()
    at = NOW - timedelta(days=3)
    done = {"at": NOW, "event": "done", "status": "done", "message_ids": ["m2"]}
    return {
        "soon": item(build, talk, "soon", about=["Anna Petrova"], at=at, due=(NOW + timedelta(days=2)).date()),
        "over": item(build, talk, "over", about=["Anna Petrova"], at=at, due=(NOW - timedelta(days=1)).date()),
        "kept": item(build, talk, "kept", done, about=["Boris"], at=at),
        "price": item(build, talk, "price", about=["Boris"], at=at, kind="decision"),
    }


@pytest.fixture
def client(client_of: Callable[..., TestClient], pool: ConnectionPool, made: dict[str, UUID]) -> TestClient:
    return client_of(items=models.ItemPorts(reads=PostgresItemReads(pool, zone=ZoneInfo("UTC"))))


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


def test_the_description_has_examples(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    for name in ("ItemList", "Item"):
        getattr(models, name).model_validate(described["components"]["schemas"][name]["example"])
    for path in ("/v1/items", "/v1/items/{item}"):
        operation = described["paths"][path]["get"]
        assert operation["summary"]
        assert operation["description"]
        assert operation["x-required-scope"] == "read"
