"""``POST /v1/summarization/backfill``: the request is written down and priced; wrong ones are problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.api.summarization import BackfillAnswer
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.wiring.summaries import ReachableBackfills
from pkg_pipeline_tests.stages.summaries.backfill_rig import BackfillRig

PATH = "/v1/summarization/backfill"
Client = Callable[..., TestClient]


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[BackfillRig]:
    made = BackfillRig(database_url, tmp_path)
    made.use()
    made.talk(4)
    yield made
    made.close()


@pytest.fixture
def client(client_of: Client, rig: BackfillRig) -> TestClient:
    return client_of(backfills=ReachableBackfills(rig.memory.backfills))


def test_a_request_is_written_down_with_its_forecast_and_the_same_again_is_the_same(
    client: TestClient, rig: BackfillRig
) -> None:
    answer = client.post(PATH, json={"older_than_days": 7, "limit": 3, "from": "2026-02-03"})
    assert answer.status_code == 202
    said = answer.json()
    BackfillAnswer.model_validate(said)
    assert (said["state"], said["left"], said["is_new"], said["forecast"]["interactions"]) == ("requested", 3, True, 3)
    again = client.post(PATH, json={"older_than_days": 7, "limit": 3, "from": "2026-02-03"}).json()
    assert (again["id"], again["is_new"]) == (said["id"], False)
    assert rig.rows("SELECT id::text, state, requested_by FROM backfills") == [(said["id"], "requested", "API")]
    assert rig.one("SELECT count(*) FROM llm_calls") == 0


def test_a_dry_run_and_a_request_that_fits_nothing_write_nothing(client: TestClient, rig: BackfillRig) -> None:
    dry = client.post(PATH, json={"dry_run": True})
    assert (dry.status_code, dry.json()["id"], dry.json()["forecast"]["interactions"]) == (200, None, 4)
    nothing = client.post(PATH, json={"stale": True})
    assert (nothing.status_code, nothing.json()["id"], nothing.json()["forecast"]["interactions"]) == (200, None, 0)
    assert rig.one("SELECT count(*) FROM backfills") == 0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"limit": 0}, "limit"),
    ({"limit": "many"}, "limit"),
    ({"older_than_days": -1}, "older_than_days"),
    ({"from": "2026-02-02", "to": "2026-02-01"}, "to"),
    ({"from": "soon"}, "from"),
    ({"speed": "high"}, "speed"),
]


@pytest.mark.parametrize(("body", "field"), WRONG)
def test_what_makes_no_sense_is_named(client: TestClient, body: dict[str, Any], field: str) -> None:
    answer = client.post(PATH, json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_form_that_a_page_elsewhere_could_send_is_refused(client: TestClient, rig: BackfillRig) -> None:
    for headers in ({"Content-Type": "text/plain"}, {}):
        answer = client.post(PATH, content=b"{}", headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (415, "application/problem+json")
    assert rig.one("SELECT count(*) FROM backfills") == 0


def test_it_needs_the_scope_write(client_of: Client, rig: BackfillRig) -> None:
    tokens = parse_tokens(
        ",".join(f"{scope}:{scope}:{hashlib.sha256(scope.encode()).hexdigest()}" for scope in ("read", "write"))
    )
    client = client_of(backfills=ReachableBackfills(rig.memory.backfills), tokens=tokens)
    assert client.post(PATH, json={}).status_code == 401
    assert client.post(PATH, json={}, headers={"Authorization": "Bearer read"}).status_code == 403
    assert client.post(PATH, json={}, headers={"Authorization": "Bearer write"}).status_code == 202


def test_no_database_and_no_model_are_said(client: TestClient, rig: BackfillRig) -> None:
    rig.memory.__dict__.pop("llm")
    rig.memory.settings = rig.memory.settings.model_copy(update={"anthropic_api_key": None})
    with pytest.raises(SettingsError):
        _ = rig.memory.llm
    without = client.post(PATH, json={})
    assert (without.status_code, without.json()["type"]) == (503, "urn:pkg-pipeline:problem:model-misconfigured")
    rig.connections.close()
    rig.connections.timeout = 0.1
    gone = client.post(PATH, json={})
    assert (gone.status_code, gone.json()["type"]) == (503, "urn:pkg-pipeline:problem:database-unavailable")


def test_the_description_has_an_example(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    assert BackfillAnswer.model_validate(schemas["BackfillAnswer"]["example"]).forecast.interactions == 200
    operation = described["paths"][PATH]["post"]
    assert set(operation["responses"]) == {"200", "202", "401", "403", "413", "415", "421", "422", "503"}
    assert (operation["security"], operation["x-required-scope"]) == ([{"bearer": []}], "write")
