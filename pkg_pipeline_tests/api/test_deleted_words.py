"""No route serves what rests on a deleted message: every GET of OpenAPI with each status, strategy and moment."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads
from pkg_pipeline.api.app import create_app
from pkg_pipeline.api.items import ItemPorts
from pkg_pipeline.api.metrics import ServerCounts
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline.wiring import Memory
from pkg_pipeline.wiring.contexts import context_settings
from pkg_pipeline.wiring.recall import recall_parts, relevant_by
from pkg_pipeline_tests.stages import deleted_words as words

MOMENTS = ("2025-01-11", "2025-01-29T00:00:00Z", "2025-02-21", "2025-03-02", "2025-03-15T12:00:00Z")
ASKED: Mapping[str, tuple[Any, ...]] = {
    "entity": (words.OTHER,),
    "session": (words.SESSION,),
    "chat": (words.CHAT, words.SESSION),
    "query": ("which account takes the transfer for the boat",),
    "brief": ("true",),
    "hint": ("which account takes the transfer for the boat",),
    "topic": ("account", "boat"),
    "as_of": MOMENTS,
    "known_as_of": MOMENTS,
    "from": ("2025-01-01",),
    "to": ("2025-12-31",),
    "limit": (100,),
    "top_k": (50,),
    "max_tokens": (20_000,),
    "person": (words.OTHER,),
    "open": ("true",),
    "overdue": ("true",),
    "item": ("aaaaaaaa",),
    "line": ("aaaaaaaa-0000-0000-0000-000000000000", "dddddddd-0000-0000-0000-000000000000"),
    "model_window": (200_000,),
    "system_tokens": (10,),
    "model": ("some-model",),
}
"""What is asked of each parameter that has no list of values in the schema; a new one has to be put here."""

LEAKING = {
    "/v1/entities/{entity}/context",
    "/v1/entities/{entity}/timeline",
    "/v1/summaries",
    "/v1/items",
    "/v1/items/{item}",
    "/v1/recall",
    "/v1/why/{line}",
    "/v1/sessions/{session}",
    "/v1/sessions/{session}/messages",
    "/v1/sessions/{session}/window",
}
"""The routes that serve words of messages, and so the text as long as nothing is deleted."""


def client_over(memory: Memory) -> TestClient:
    """The application with all its routes."""
    settings, reads = memory.settings, memory.connections
    store = PostgresReadStore(reads, zone=settings.zone)
    questions = recall_parts(settings, reads, memory.counter)
    memory.windows.serving(reads, questions)
    ports = ApiDependencies(
        reads=store,
        counter=memory.counter,
        clock=memory.clock,
        settings=context_settings(settings),
        expected_revision=migrate.head(),
        recall=questions,
        relevant=relevant_by(questions, max_tokens=settings.context_tokens),
        backfills=memory.backfills,
        items=ItemPorts(reads=memory.item_reads, decide=memory.decide_item),
        why=PostgresWhyReads(reads),
        sessions=memory.sessions,
        monitoring=MonitoringPorts(
            store=PostgresMonitoringStore(reads, zone=settings.zone),
            params=memory.monitoring.params,
            server=ServerCounts(receipts_lost=lambda: 0),
        ),
    )
    return TestClient(create_app(ports), base_url="http://127.0.0.1:8321")


def values(parameter: Mapping[str, Any], more: Mapping[str, tuple[Any, ...]] | None = None) -> tuple[Any, ...]:
    """What to ask for: the values that the schema lists, or those above, or ``more``."""
    schema = parameter.get("schema", {})
    for one in (schema, *schema.get("anyOf", ())):
        for listed in (one, one.get("items", {})):
            if "enum" in listed:
                return tuple(listed["enum"])
    known = {**ASKED, **(more or {})}
    assert parameter["name"] in known, f"say in ASKED what to ask of {parameter['name']}"
    return known[parameter["name"]]


def questions(
    client: TestClient, further: Mapping[str, tuple[Any, ...]] | None = None, *, most: int = 2
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every GET route as (route, path, query): with each value of each ``most`` of its parameters."""

    def each(parameter: Mapping[str, Any]) -> tuple[Any, ...]:
        return values(parameter, further)

    for route, methods in client.get("/openapi.json").json()["paths"].items():
        given = [one for one in methods.get("get", {}).get("parameters", ()) if one["name"] not in ("cursor", "accept")]
        if "get" not in methods:
            continue
        placed = [one for one in given if one["in"] == "path"]
        needed = [one for one in given if one["in"] == "query" and one.get("required")]
        others = [one for one in given if one["in"] == "query" and not one.get("required")]
        for path_values in itertools.product(*map(each, placed)):
            path = route
            for one, value in zip(placed, path_values, strict=True):
                path = path.replace("{" + one["name"] + "}", quote(str(value), safe=""))
            for base in itertools.product(*map(each, needed)):
                always = {one["name"]: value for one, value in zip(needed, base, strict=True)}
                for count in range(most + 1):
                    for chosen in itertools.combinations(others, count):
                        for more in itertools.product(*map(each, chosen)):
                            named = {one["name"]: value for one, value in zip(chosen, more, strict=True)}
                            yield route, path, {**always, **named}


def serving_it(memory: Memory) -> set[str]:
    """The routes that serve the text; every question is answered."""
    found = set[str]()
    with client_over(memory) as client:
        for route, path, query in questions(client):
            answer = client.get(path, params=query)
            assert answer.status_code in (200, 404, 422), (route, query, answer.text)
            if words.IBAN.casefold() in answer.text.casefold():
                found.add(route)
    return found


@pytest.fixture
def filled(database_url: str, tmp_path: Path) -> tuple[str, Path]:
    words.fill(database_url, tmp_path)
    return database_url, tmp_path


def test_no_route_serves_what_rests_on_a_deleted_message(filled: tuple[str, Path]) -> None:
    with words.opened(*filled, words.NOW) as memory:
        assert serving_it(memory) == LEAKING, "else the test would find nothing where there is something"
    words.delete(*filled)
    with words.opened(*filled, words.NOW) as memory:
        assert serving_it(memory) == set()
        for chunks in (False, True):
            words.work(memory, chunks=chunks)
            assert serving_it(memory) == set(), "also of what was made before it was made anew"
            assert words.shown_by_views(filled[0]) == {0}


def test_every_status_of_a_summary_is_withheld_and_says_so(filled: tuple[str, Path]) -> None:
    words.delete(*filled)
    with words.opened(*filled, words.NOW) as memory, client_over(memory) as client:
        statuses = ["candidate", "completed", "dirty", "superseded", "quarantined"]
        for chat in (words.CHAT, words.SESSION):
            found = client.get("/v1/summaries", params={"chat": chat, "status": statuses}).json()["items"]
            assert {one["status"] for one in found} >= {"candidate", "dirty", "quarantined"}
            for one in found:
                assert (one["withheld"], one["summary"], one["key_points"]) == (True, None, [])
                if one["status"] != "dirty":
                    assert (one["decisions"], one["action_items"], one["extracted_facts"]) == ([], [], [])
        words.work(memory)
        (made,) = client.get("/v1/summaries", params={"chat": words.CHAT}).json()["items"]
        assert (made["status"], made["withheld"]) == ("completed", False)
        assert "contract" in made["summary"]
