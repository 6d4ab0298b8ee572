"""``/v1/facts``: lists, review, additions, wrong requests as problems (B2)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.items.fact_listing import PostgresFactReads
from pkg_pipeline.adapters.postgres.items.fact_verdicts import PostgresFactVerdictStore
from pkg_pipeline.api import facts as models
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.stages.items.fact_deciding import add_fact, decide_fact
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.reads.context_memory import NOW

AT = NOW - timedelta(days=3)


@pytest.fixture
def made(build: MemoryBuilder) -> dict[str, UUID]:
    build.connection.execute("DELETE FROM entity_facts")
    (talk,) = build.connection.execute("SELECT id FROM interactions ORDER BY started_at LIMIT 1").fetchone() or ()
    given: dict[str, Any] = {"interaction_id": talk, "message_ids": ["m1"]}
    return {
        "phone": build.fact("Anna Petrova", "phone", "+4930123456", valid_from=AT, **given),
        "job": build.fact("Anna Petrova", "position", "Engineer", valid_from=AT - timedelta(days=9), **given),
        "born": build.fact(
            "Boris", "birthday", "03-14", status="candidate", valid_from=AT - timedelta(days=1), **given
        ),
    }


@pytest.fixture
def ports(database_url: str, pool: ConnectionPool) -> Iterator[models.FactPorts]:
    """Reads over read-only connections, verdicts over others."""
    writing = engine.pool(database_url, size=1)
    store = PostgresFactVerdictStore(writing)
    yield models.FactPorts(
        reads=PostgresFactReads(pool),
        decide=lambda fact_id, wanted: decide_fact(store, fact_id, wanted, now=NOW),
        add=lambda wanted: add_fact(store, wanted, now=NOW),
    )
    writing.close()


@pytest.fixture
def client(client_of: Callable[..., TestClient], ports: models.FactPorts, made: dict[str, UUID]) -> TestClient:
    return client_of(facts=ports)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["+4930123456", "03-14", "Engineer"]),
        ({"entity": "Boris"}, ["03-14"]),
        ({"status": ["candidate", "closed"]}, ["03-14"]),
        ({"type": "Phone"}, ["+4930123456"]),
        ({"entity": "Boris", "status": "confirmed"}, []),
    ],
)
def test_lists_under_filters(client: TestClient, query: dict[str, Any], expected: list[str]) -> None:
    answer = client.get("/v1/facts", params=query)
    assert answer.status_code == 200, answer.text
    models.FactList.model_validate(answer.json())
    assert [one["value"] for one in answer.json()["items"]] == expected


def test_pages(client: TestClient) -> None:
    first = client.get("/v1/facts", params={"limit": 2}).json()
    second = client.get("/v1/facts", params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["value"] for page in (first, second) for one in page["items"]] == ["+4930123456", "03-14", "Engineer"]
    assert second["next"] is None


def test_a_person_confirms_rejects_corrects_and_adds(client: TestClient, made: dict[str, UUID]) -> None:
    born = f"/v1/facts/{made['born']}"
    steps: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        ("POST", f"{born}/confirm", {}, {"status": "confirmed", "decided_by": "person", "display": "14 March"}),
        ("PATCH", born, {"value": "1990-03-15"}, {"value": "1990-03-15", "read_value": "03-14", "status": "confirmed"}),
        ("POST", f"{born}/reject", {}, {"status": "rejected"}),
        ("PATCH", born, {"status": "confirmed"}, {"status": "confirmed", "known_to": None, "value": "1990-03-15"}),
    ]
    for method, path, body, expected in steps:
        answer = client.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        models.Fact.model_validate(answer.json())
        assert {name: answer.json()[name] for name in expected} == expected
        assert client.get(born).json() == answer.json()
    given = {"entity": "Anna Petrova", "type": "position", "value": "Director"}
    answer = client.post("/v1/facts", json=given)
    assert answer.status_code == 201, answer.text
    assert models.Fact.model_validate(answer.json()).message_ids == []
    assert client.get(f"/v1/facts/{str(made['job'])[:8]}").json()["status"] == "closed"
    early = (AT - timedelta(days=30)).isoformat()
    before = client.post("/v1/facts", json={**given, "value": "Student", "from": early}).json()
    assert before["status"] == "closed"


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/v1/facts/00000000-0000-0000-0000-000000000000", 404, "fact-not-found"),
        ("/v1/facts/abc", 404, "fact-not-found"),
        ("/v1/facts?entity=Nobody", 404, "entity-not-found"),
        ("/v1/facts?entity=Anna", 409, "entity-ambiguous"),
        ("/v1/facts?status=open", 422, "invalid-request"),
        ("/v1/facts?cursor=x", 422, "invalid-request"),
        ("/v1/facts?person=Anna", 422, "invalid-request"),
    ],
)
def test_what_is_wrong_is_said(client: TestClient, path: str, status: int, kind: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    assert answer.json()["type"] == f"urn:pkg-pipeline:problem:{kind}"


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "status"), ({"status": "candidate"}, "status"), ({"value": "14 March by the way"}, "value"), ({"x": 1}, "x")],
)
def test_a_change_that_makes_no_sense_names_its_field(
    client: TestClient, made: dict[str, UUID], body: dict[str, Any], field: str
) -> None:
    answer = client.patch(f"/v1/facts/{made['born']}", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), answer.text
    assert [(error["in"], error["field"]) for error in answer.json()["errors"]] == [("body", field)]


def test_a_review_needs_json_and_the_scope_write(
    client_of: Callable[..., TestClient], ports: models.FactPorts, made: dict[str, UUID]
) -> None:
    tokens = parse_tokens(
        ",".join(f"{scope}:{scope}:{hashlib.sha256(scope.encode()).hexdigest()}" for scope in ("read", "write"))
    )
    client, path = client_of(facts=ports, tokens=tokens), f"/v1/facts/{made['born']}"
    for secret, status in (("read", 403), ("write", 200)):
        headers = {"Authorization": f"Bearer {secret}"}
        assert client.patch(path, json={"status": "confirmed"}, headers=headers).status_code == status
        assert client.post(f"{path}/reject", json={}, headers=headers).status_code == status
        assert client.get(path, headers=headers).status_code == 200
    headers = {"Authorization": "Bearer write", "Content-Type": "text/plain"}
    assert client.post(f"{path}/confirm", content=b"{}", headers=headers).status_code == 415


def test_the_description_has_examples(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    for name in ("FactList", "Fact", "FactChanges", "FactBody"):
        getattr(models, name).model_validate(described["components"]["schemas"][name]["example"])
    assert described["paths"]["/v1/facts"]["get"]["x-required-scope"] == "read"
    assert described["paths"]["/v1/facts"]["post"]["x-required-scope"] == "write"
    assert described["paths"]["/v1/facts/{fact}/reject"]["post"]["x-required-scope"] == "write"
