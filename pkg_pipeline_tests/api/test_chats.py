"""``/v1/chats``: the list, and a person's word on what counts (P34)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.interactions.store import PostgresInteractionStore
from pkg_pipeline.api import chats as models
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder


@pytest.fixture
def client(client_of: Callable[..., TestClient], build: MemoryBuilder, database_url: str) -> Iterator[TestClient]:
    writing = engine.pool(database_url, size=1)
    yield client_of(set_category=PostgresInteractionStore(writing).set_category)
    writing.close()


def all_chats(client: TestClient) -> list[models.Chat]:
    answer = client.get("/v1/chats")
    assert answer.status_code == 200, answer.text
    return models.ChatList.model_validate(answer.json()).items


def test_a_chat_is_set_and_listed_as_what_a_person_says(client: TestClient) -> None:
    first = all_chats(client)[0]
    answer = client.patch(f"/v1/chats/{first.id}", json={"category": "mass"})
    assert answer.status_code == 200, answer.text
    said = models.Chat.model_validate(answer.json())
    assert (said.id, said.category, said.category_source) == (first.id, "mass", "user")
    assert said in all_chats(client)
    assert [one["id"] for one in client.get("/v1/chats?category=mass").json()["items"]] == [str(first.id)]
    assert client.patch(f"/v1/chats/{first.id}", json={"category": None}).json()["category"] is None
    assert client.get("/v1/chats?category=mass").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/chats/jsonl:nowhere", {"category": "work"}, 404),
        ("/v1/chats/jsonl:nowhere", {"category": "boring"}, 422),
        ("/v1/chats/jsonl:nowhere", {}, 422),
        ("/v1/chats/nothing", {"category": "work"}, 422),
    ],
)
def test_refusals(client: TestClient, path: str, body: dict[str, str], status: int) -> None:
    assert client.patch(path, json=body).status_code == status
