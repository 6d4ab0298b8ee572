"""Figures, queue and metrics over HTTP: the documented shapes, pages that add up, a page that Prometheus can read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore
from pkg_pipeline.api.metrics import ServerCounts
from pkg_pipeline.api.monitoring import models as models
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.security import parse_tokens
from pkg_pipeline.stages.monitoring.stage import CallsCap, MonitoringParams
from pkg_pipeline.wiring.process import Space
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.reads.context_memory import NOW

P30 = [
    "total_interactions", "summarized_interactions", "summarization_coverage", "pending_in_queue",
    "oldest_unsummarized", "avg_summarization_time_ms", "avg_compression_ratio", "total_cost_today",
    "total_cost_month", "avg_cost_per_summary", "avg_key_points_per_summary", "avg_decisions_per_summary",
    "total_open_action_items",
]  # fmt: skip
PARAMS = MonitoringParams(
    minimum_messages=1,
    due_after_seconds=7 * 86_400,
    gap_seconds=6 * 3_600,
    prompts=frozenset({"p"}),
    model="offline",
    schema_version=1,
    usd_caps={"live": 1.0, "backfill": 5.0},
    calls_caps=(CallsCap("interaction_summary", 2, "day"), CallsCap("entity_profile", 50, "week")),
)
CALL = """INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens, output_tokens,
    cost_usd, duration_seconds) VALUES ('h', 'interaction_summary', 'm', 'p', 'live', %s, 100, 20, 0.25, 0.5)"""


@pytest.fixture
def watched(client_of: Callable[..., TestClient], pool: ConnectionPool) -> Callable[..., TestClient]:
    def make(**changes: Any) -> TestClient:
        store = PostgresMonitoringStore(pool, zone=ZoneInfo("UTC"))
        return client_of(
            monitoring=MonitoringPorts(
                store=store, params=PARAMS, server=ServerCounts(receipts_lost=lambda: 3, window_holes=lambda: 80)
            ),
            **changes,
        )

    return make


@pytest.fixture
def busy(build: MemoryBuilder) -> MemoryBuilder:
    """Beside the two summarised talks and the young one: one failed, one leased, one put off, eight that wait."""
    talks = [
        build.conversation("Boris", NOW - timedelta(days=60 + ago), [Said("Boris", "secret words")])
        for ago in range(11)
    ]
    attempt = {"input_hash": "h", "prompt_version": "p", "model_version": "m", "attempts": 2, "last_error": "too\nlong"}
    build.insert("summary_attempts", interaction_id=talks[0], state="failed", **attempt)
    build.insert("summary_attempts", interaction_id=talks[1], state="waiting", retry_at="2100-01-01T00:00Z", **attempt)
    build.insert("leases", kind="summary", subject_id=talks[2], token=1, holder="me:1", expires_at="2100-01-01T00:00Z")
    for outcome in ("ok", "quarantined", "timeout"):
        build.connection.execute(CALL, (outcome,))
    build.connection.execute(
        "INSERT INTO budgets (day, lane, task, calls, spent_usd)"
        " VALUES ((clock_timestamp() AT TIME ZONE 'UTC')::date, 'live', 'interaction_summary', 2, 0.75)"
    )
    build.insert(
        "partition_states", asset="interaction_summaries", partition_key="2026-01-05", processed_version=1, pending=4,
        resume_at="2100-01-01T00:00Z",
    )  # fmt: skip
    build.connection.execute(
        "INSERT INTO backfills (id, asset, request, forecast, requested_by) VALUES (%s, 'interaction_summaries',"
        """ '{"limit": 100}', '{"interactions": 2, "usd": 0.1}', 'cli')""",
        (talks[0],),
    )
    build.insert("backfill_interactions", backfill_id=talks[0], interaction_id=talks[4], day="2026-01-05")
    return build


def test_stats_have_the_promised_names_and_say_what_is_there(watched, busy: MemoryBuilder) -> None:
    answer = watched().get("/v1/summarization/stats")
    body = answer.json()
    models.Stats.model_validate(body)
    assert list(body)[: len(P30)] == P30
    assert (body["total_interactions"], body["eligible_interactions"]) == (14, 14)
    assert (body["summarized_interactions"], body["pending_in_queue"], body["failed_interactions"]) == (2, 11, 1)
    assert body["summarization_coverage"] == round(2 / 14, 6)
    assert body["oldest_unsummarized"] == (NOW - timedelta(days=70)).isoformat().replace("+00:00", "Z")
    assert (body["avg_summarization_time_ms"], body["avg_key_points_per_summary"]) == (100.0, 1.0)
    assert body["total_cost_today"] == body["total_cost_month"] == 0.75
    live, backfill = body["budget"]
    assert (live["usd_taken"], live["usd_cap"], live["is_used_up"]) == (0.75, 1.0, True)
    assert [(one["task"], one["calls"], one["calls_cap"]) for one in live["tasks"]] == [
        ("entity_profile", 0, 50),
        ("interaction_summary", 2, 2),
    ]
    assert (backfill["usd_taken"], backfill["is_used_up"], backfill["tasks"]) == (0.0, False, [])
    assert body["put_off"] == {"rows": 4, "until": "2100-01-01T00:00:00Z"}


def test_the_queue_tells_counts_and_the_first_of_each_list(watched, busy: MemoryBuilder) -> None:
    answer = watched().get("/v1/summarization/queue?limit=3")
    body = answer.json()
    models.Queue.model_validate(body)
    assert "secret words" not in answer.text
    assert (body["waiting"], body["active"], body["failed"]) == (10, 1, 1)
    assert (body["partitions"], body["backfills"]) == (1, 1)
    lists = body["lists"]
    assert [len(lists[name]["items"]) for name in lists] == [3, 1, 1, 1, 1]
    assert lists["active"]["items"][0]["holder"] == "me:1"
    assert lists["failed"]["items"][0]["reason"] == "too / long"
    assert lists["partitions"]["items"][0]["partition"] == "2026-01-05"
    assert lists["backfills"]["items"][0]["left"] == 1


def test_pages_of_the_waiting_hold_every_one_once_oldest_first(watched, busy: MemoryBuilder) -> None:
    client, path, seen = watched(), "/v1/summarization/queue/waiting?limit=3", []
    cursor = ""
    while cursor is not None:
        body = client.get(path + cursor).json()
        models.QueueList.model_validate(body)
        seen += body["items"]
        cursor = body["next"] and f"&cursor={body['next']}"
    assert len(seen) == len({one["interaction_id"] for one in seen}) == 10
    assert [one["ended_at"] for one in seen] == sorted(one["ended_at"] for one in seen)
    assert seen[0]["reason"] == "due"
    assert [one["reason"] for one in seen if one["retry_at"]] == ["put off: too / long"]
    assert seen[-1]["reason"] == "too young"


@pytest.mark.parametrize("cursor", ["x", "WyJhIiwgImIiXQ", "WyIyMDI2LTAxLTAxIDIwMjYiLCAiYSJd"])
@pytest.mark.parametrize("state", ["waiting", "active", "failed", "backfills"])
def test_a_cursor_of_nowhere_is_refused(watched, state: str, cursor: str) -> None:
    assert watched().get(f"/v1/summarization/queue/{state}?cursor={cursor}").status_code == 422


def test_prometheus_reads_the_page(watched, busy: MemoryBuilder) -> None:
    client = watched()
    client.get("/v1/summarization/stats")
    client.get("/nowhere")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    families = {one.name: one for one in text_string_to_metric_families(answer.text)}
    values = {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for one in families.values()
        for sample in one.samples
    }

    def value(name: str, *labels: str) -> float:
        return values[f"pkg_{name}", frozenset(labels)]

    assert {f"pkg_{name}" for name in P30 if name != "oldest_unsummarized"} <= set(families)
    assert value("pending_in_queue") == 11
    assert value("oldest_unsummarized_timestamp_seconds") == (NOW - timedelta(days=70)).timestamp()
    assert value("queue", "waiting") == 10
    assert value("partitions_pending", "interaction_summaries") == 1
    assert value("budget_usd", "live") == 0.75
    assert value("budget_calls_cap", "live", "entity_profile", "week") == 50
    sort = ("live", "interaction_summary", "m")
    assert value("llm_calls_total", *sort, "answered") == 2
    assert value("llm_calls_total", *sort, "timeout") == 1
    assert value("llm_refused_answers_total", *sort) == 1
    assert value("llm_tokens_total", *sort, "answered", "input") == 200
    assert value("llm_cost_usd_total", *sort, "timeout") == 0.25
    assert value("context_receipts_lost_total") == 3
    assert value("window_unsummarised_messages_total") == 80
    assert value("api_request_seconds_count", "/v1/summarization/stats", "GET", "200") == 1
    assert value("api_request_seconds_count", "unmatched", "any", "404") == 1


def test_two_applications_count_for_themselves(watched, busy: MemoryBuilder) -> None:
    first, second = watched(), watched()
    first.get("/health")
    assert '"/health"' in first.get("/metrics").text
    assert '"/health"' not in second.get("/metrics").text


@pytest.mark.parametrize("path", ["/metrics", "/v1/summarization/stats", "/v1/summarization/queue"])
def test_who_shows_no_token_gets_no_figure(watched, path: str) -> None:
    client = watched(tokens=parse_tokens(f"a:read:{'0' * 64}"))
    assert client.get(path).status_code == 401


def test_openapi_documents_the_routes(watched) -> None:
    paths = watched().get("/openapi.json").json()["paths"]
    assert {"/v1/summarization/stats", "/v1/summarization/queue", "/v1/summarization/queue/{state}", "/metrics"} <= set(
        paths
    )


def test_room_on_the_disk_is_in_health_and_metrics(watched) -> None:
    room = Space(Path("/home/of/the/memory"), free_bytes=7, minimum_bytes=9)
    client = watched(disk=lambda: room)
    assert client.get("/health").json()["disk"] == {"free_bytes": 7, "minimum_bytes": 9, "is_low": True}
    said = client.get("/metrics").text
    assert "pkg_disk_free_bytes 7.0" in said
    assert "pkg_disk_minimum_bytes 9.0" in said
    assert watched().get("/health").json()["disk"] is None
