"""``GET /v1/why``: where a served line comes from (B11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads
from pkg_pipeline.api.why import Why
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.reads.item_rows import reading


@pytest.fixture
def client(client_of: Callable[..., TestClient], build: MemoryBuilder, pool: ConnectionPool) -> TestClient:
    for (talk,) in build.connection.execute("SELECT DISTINCT interaction_id FROM items").fetchall():
        reading(build, talk)
    return client_of(why=PostgresWhyReads(pool))


def test_a_line_of_a_context_leads_back(client: TestClient) -> None:
    tiers = client.get("/v1/entities/Anna%20Petrova/context").json()["tiers"]
    lines = [one["id"] for tier in tiers for one in tier["items"] if one["kind"] in ("action_item", "decision")]
    assert lines
    for line in lines:
        answer = client.get(f"/v1/why/{line}")
        assert answer.status_code == 200, answer.text
        found = Why.model_validate(answer.json())
        assert str(found.id) == line
        assert found.reading is not None
        assert (found.reading.model, found.reading.calls) == ("offline", [])


@pytest.mark.parametrize(
    ("line", "status", "kind"),
    [("00000000-0000-0000-0000-000000000000", 404, "line-not-found"), ("x", 422, "invalid-request")],
)
def test_what_is_wrong_is_said(client: TestClient, line: str, status: int, kind: str) -> None:
    answer = client.get(f"/v1/why/{line}")
    assert answer.status_code == status
    assert answer.json()["type"].endswith(kind)


def test_the_description_has_an_example(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    Why.model_validate(described["components"]["schemas"]["Why"]["example"])
    assert described["paths"]["/v1/why/{line}"]["get"]["x-required-scope"] == "read"
