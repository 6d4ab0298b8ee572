"""``/v1/entities/…``: who is who over HTTP, wrong requests as problems (B20)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.api import people as models
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OTHER_RITA, RITA, People, people

RITAS = f"/v1/entities/{RITA}"


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        made.memory.build_interactions()
        yield made


@pytest.fixture
def client(client_of: Callable[..., TestClient], rig: People) -> TestClient:
    store = PostgresReadStore(rig.memory.connections, zone=rig.memory.settings.zone)
    return client_of(people=rig.work, reads=store)


def done(client: TestClient, path: str, body: Any, *, method: str = "POST") -> dict[str, Any]:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_from_a_suggestion_to_a_person_and_back(client: TestClient) -> None:
    (found,) = client.get("/v1/entities/suggestions").json()["items"]
    assert {one["id"] for one in found["people"]} == {str(RITA), str(OTHER_RITA)}
    assert found["evidence"] == [{"kind": "name", "value": "Rita Hoffmann"}]
    ambiguous = client.get("/v1/entities/Rita Hoffmann")
    assert ambiguous.status_code == 409
    assert all(one["last_contact"] for one in ambiguous.json()["candidates"])
    merged = done(client, f"{RITAS}/merge", {"other": "mail:rg"})
    assert merged["decision"]["kind"] == "merge"
    assert merged["entity"]["identities"] == ["chat:rita", "mail:rg"]
    assert client.get("/v1/entities/Rita Hoffmann").json()["id"] == str(RITA)
    assert client.get(f"/v1/entities/{OTHER_RITA}/context").json()["entity"]["id"] == str(RITA)
    assert client.get(f"/v1/entities/{OTHER_RITA}").json()["id"] == str(RITA)
    assert client.get("/v1/entities/suggestions").json()["items"] == []
    assert done(client, f"{RITAS}/merge", {"other": "mail:rg"})["decision"] is None
    named = done(client, f"{RITAS}/aliases", {"names": ["Ritka", "Margarita"]})["entity"]
    assert named["aliases"] == ["Margarita", "Ritka"]
    assert done(client, f"{RITAS}/aliases", {"names": ["Ritka"], "remove": True})["entity"]["aliases"] == ["Margarita"]
    assert done(client, RITAS, {"name": "Rita H."}, method="PATCH")["entity"]["name"] == "Rita H."
    decisions = client.get("/v1/entities/decisions", params={"entity": "rita hoffmann"}).json()["items"]
    assert [one["kind"] for one in decisions] == ["rename", "unalias", "alias", "merge"]
    apart = done(client, f"{RITAS}/split", {"identities": ["mail:rg"]})
    assert apart["entity"]["identities"] == ["chat:rita"]
    undone = done(client, f"/v1/entities/decisions/{apart['decision']['id'][:8]}/undo", {})
    assert undone["decision"]["undone_at"]
    assert client.get(f"/v1/entities/{OTHER_RITA}").json()["id"] == str(RITA)
    assert done(client, f"/v1/entities/decisions/{apart['decision']['id']}/undo", {})["decision"] is None


def test_a_dismissed_suggestion_stays_dismissed(client: TestClient) -> None:
    assert done(client, f"{RITAS}/dismiss", {"other": str(OTHER_RITA)})["decision"]["kind"] == "dismiss"
    assert client.get("/v1/entities/suggestions").json()["items"] == []
    assert done(client, f"/v1/entities/{OTHER_RITA}/dismiss", {"other": str(RITA)})["decision"] is None


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", f"{RITAS}/merge", {"other": "chat:me"}, 422),
        ("POST", f"{RITAS}/merge", {"other": "Nobody"}, 404),
        ("POST", f"{RITAS}/merge", {"other": "Rita Hoffmann"}, 409),
        ("POST", f"{RITAS}/merge", {}, 422),
        ("POST", f"{RITAS}/split", {"identities": ["mail:nobody"]}, 422),
        ("POST", f"{RITAS}/split", {"identities": []}, 422),
        ("POST", f"{RITAS}/aliases", {"names": ["x"], "remove": True}, 422),
        ("POST", f"{RITAS}/aliases", {"names": [" "]}, 422),
        ("PATCH", RITAS, {"name": " "}, 422),
        ("PATCH", RITAS, {"name": "x", "more": 1}, 422),
        ("POST", "/v1/entities/decisions/00000000/undo", {}, 404),
        ("POST", "/v1/entities/decisions/nonsense/undo", {}, 404),
    ],
)
def test_what_is_wrong_is_a_problem(client: TestClient, method: str, path: str, body: Any, status: int) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert client.get("/v1/entities/decisions").json()["items"] == []


def test_deciding_needs_the_scope_write(client_of: Callable[..., TestClient], rig: People) -> None:
    digest = hashlib.sha256(b"secret").hexdigest()
    client = client_of(people=rig.work, tokens=parse_tokens(f"reader:read:{digest}"))
    client.headers["Authorization"] = "Bearer secret"
    assert client.get("/v1/entities/suggestions").status_code == 200
    assert client.post(f"{RITAS}/merge", json={"other": "mail:rg"}).status_code == 403
    assert client.patch(RITAS, json={"name": "x"}).status_code == 403


def test_the_description_has_examples(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("Person", "Decision", "DecisionList", "Decided", "Undone", "SuggestionList", "OtherBody", "SplitBody",
                 "AliasBody", "NameBody"):  # fmt: skip
        getattr(models, name).model_validate(schemas[name]["example"])
