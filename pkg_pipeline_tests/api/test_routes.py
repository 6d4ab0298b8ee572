"""What each route answers, held to the models that OpenAPI documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from pkg_pipeline.api import models
from pkg_pipeline.stages.reads.stores import Receipt
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.reads.context_memory import check, exact_tokens

ANNA = quote("Anna Petrova")


def got(client: TestClient, path: str, model: type[BaseModel]) -> dict[str, Any]:
    """The body of a 200 that is exactly of ``model``."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    model.model_validate(answer.json())
    return answer.json()


def test_a_context_has_the_promised_shape_and_size(client: TestClient, build: MemoryBuilder) -> None:
    identity = build.people["Anna Petrova"]
    body = got(client, f"/v1/entities/{identity}/context?max_tokens=200", models.Context)
    check(body)
    assert body["entity"] == {"id": str(identity), "name": "Anna Petrova", "type": "person"}
    assert body["max_tokens"] == 200
    assert exact_tokens(body["text"]) <= 200
    assert body["receipt_id"] is None
    assert list(body) == [
        "receipt_id",
        "entity",
        "card",
        "as_of",
        "known_as_of",
        "text",
        "tokens",
        "max_tokens",
        "hypothetical_tokens",
        "tiers",
        "left_out",
        "brief",
        "brief_parts",
    ]


def test_a_context_by_name_and_as_of(client: TestClient) -> None:
    body = got(client, f"/v1/entities/{ANNA.lower()}/context?as_of=2026-02-10", models.Context)
    assert body["as_of"] == "2026-02-10T23:59:59.999999Z"
    assert "Talk 40." in body["text"], "over seven days before"
    assert "said 20" not in body["text"]


class KeptReceipts:
    def __init__(self) -> None:
        self.kept: list[Receipt] = []

    def put(self, receipt: Receipt) -> None:
        self.kept.append(receipt)


def test_the_receipt_named_in_the_answer_is_kept(client_of: Callable[..., TestClient], build: MemoryBuilder) -> None:
    sink = KeptReceipts()
    body = got(client_of(receipts=sink), f"/v1/entities/{ANNA}/context", models.Context)
    assert [str(receipt.id) for receipt in sink.kept] == [body["receipt_id"]]


def test_entities_are_listed_and_paged(client: TestClient) -> None:
    first = got(client, "/v1/entities?limit=3", models.EntityList)
    second = got(client, f"/v1/entities?limit=3&cursor={first['next']}", models.EntityList)
    names = [one["name"] for page in (first, second) for one in page["items"]]
    assert names == ["Anna Petrova", "Anna Smirnova", "Boris", "Me"]
    assert second["next"] is None
    assert first["items"][0]["messages"] == 3
    assert first["items"][0]["identities"] == ["telegram:user:Anna Petrova"]
    assert first["items"][0]["last_contact"] == "2026-03-14T12:00:00Z"
    assert [one["name"] for one in got(client, "/v1/entities?query=SMIR", models.EntityList)["items"]] == [
        "Anna Smirnova"
    ]


def test_one_entity_by_id_by_name_and_by_a_part_that_fits_one(client: TestClient, build: MemoryBuilder) -> None:
    for asked in (str(build.people["Boris"]), "boris", "ori"):
        assert got(client, f"/v1/entities/{asked}", models.Entity)["name"] == "Boris"


def test_the_timeline_has_one_line_of_each_summary(client: TestClient) -> None:
    first = got(client, f"/v1/entities/{ANNA}/timeline?limit=2", models.Timeline)
    second = got(client, f"/v1/entities/{ANNA}/timeline?limit=2&cursor={first['next']}", models.Timeline)
    rows = [*first["items"], *second["items"]]
    assert [row["summary"] and row["summary"]["text"] for row in rows] == [None, "Talk 20.", "Talk 40."]
    assert rows[0]["chat"] == "telegram:direct:Anna Petrova"
    assert second["next"] is None


def test_summaries_carry_all_that_was_extracted_with_message_keys(client: TestClient) -> None:
    body = got(client, "/v1/summaries", models.SummaryList)
    newest = body["items"][0]
    assert [one["summary"] for one in body["items"]] == ["Talk 20.", "Talk 40."]
    assert newest["chat"] == "telegram:direct:Anna Petrova"
    assert newest["decisions"][0]["message_ids"] == ["telegram:direct%3AAnna%20Petrova/m1"]
    assert [(one["description"], one["status"], one["owner"]) for one in newest["action_items"]] == [
        ("a 20", "open", "them")
    ]
    assert newest["important_messages"][0]["message_id"] == "telegram:direct%3AAnna%20Petrova/m%2F1"
    assert (newest["key_points"], newest["tone"], newest["revision"]) == (["a point"], "neutral", 1)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("entity=Boris", []),
        (f"entity={ANNA}&limit=1", ["Talk 20."]),
        (f"chat=telegram:direct:{ANNA}&to=2026-02-20", ["Talk 40."]),
        ("from=2026-02-20", ["Talk 20."]),
        ("status=superseded", []),
        ("status=superseded&status=completed", ["Talk 20.", "Talk 40."]),
    ],
)
def test_summaries_under_filters(client: TestClient, query: str, expected: list[str]) -> None:
    body = got(client, f"/v1/summaries?{query}", models.SummaryList)
    assert [one["summary"] for one in body["items"]] == expected


def test_what_rests_on_a_deleted_message_is_withheld_in_lists_too(client: TestClient, build: MemoryBuilder) -> None:
    build.connection.execute("UPDATE interaction_summaries SET status = 'dirty', dirty_reason = 'deleted'")
    listed = got(client, "/v1/summaries", models.SummaryList)["items"]
    assert [(one["summary"], one["key_points"], one["withheld"]) for one in listed] == [(None, [], True)] * 2
    lines = [row["summary"] for row in got(client, f"/v1/entities/{ANNA}/timeline", models.Timeline)["items"]]
    assert [line and line["text"] for line in lines] == [None, None, None]


def test_health_says_whether_reads_work(client: TestClient) -> None:
    assert got(client, "/health", models.Health)["status"] == "ok"


def test_openapi_documents_every_route_with_words_and_problems(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert sorted(schema["paths"]) == [
        "/health",
        "/v1/entities",
        "/v1/entities/{entity}",
        "/v1/entities/{entity}/context",
        "/v1/entities/{entity}/timeline",
        "/v1/summaries",
    ]
    for path, methods in schema["paths"].items():
        operation = methods["get"]
        assert operation["summary"]
        assert operation["description"]
        for status, response in operation["responses"].items():
            if status != "200":
                assert list(response["content"]) == ["application/problem+json"], f"{path} {status}"
    for name in ("Context", "Entity", "Timeline", "SummaryList", "Health", "Problem"):
        example = schema["components"]["schemas"][name]["example"]
        getattr(models, name).model_validate(example)


def test_a_context_in_brief_names_what_each_line_rests_on(client: TestClient) -> None:
    path = "/v1/entities/Anna Petrova/context"
    assert client.get(path).json()["brief"] is None
    body = client.get(path, params={"brief": True}).json()
    brief = body["brief_parts"]
    assert [part["part"] for part in brief["parts"]] == ["state", "current", "open", "facts"]
    told = [one for part in brief["parts"] for one in part["sentences"]]
    assert told
    assert all(one["items"] and one["text"] in body["brief"] for one in told)
    assert (brief["model"], brief["warning"]) == (None, None)
    assert client.get(path, params={"brief": "perhaps"}).status_code == 422
