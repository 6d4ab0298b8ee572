"""The plan of the window's statement: ranges of indexes that a LIMIT cuts, whatever is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.reading import numbered
from pkg_pipeline.adapters.postgres.sessions.window import window_parameters
from pkg_pipeline.stages.window.records import WindowQuery
from pkg_pipeline_tests.adapters.postgres.recall.test_recall_plans import explained

MANY = 20_000
LONG, SHORT = UUID(int=1), UUID(int=2)
CROWD = f"""
INSERT INTO chats (id, source, external_id, kind, title_at) VALUES ('{LONG}', 'jsonl', 'long', 'thread', now()),
    ('{SHORT}', 'jsonl', 'short', 'thread', now());
INSERT INTO messages (id, chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing, external_id,
                      content, content_hash, role)
SELECT n, CASE WHEN n % 200 = 0 THEN '{SHORT}' ELSE '{LONG}' END::uuid, '2025-01-01Z'::timestamptz
       + n * interval '1 minute', now(), 1, 0, false, n, 'text', 'h', 'user' FROM generate_series(1, {MANY}) n;
INSERT INTO conversation_sessions (id, policy, strategy, hwm_message_id, dirty_folds)
VALUES ('{LONG}', 'hysteresis', 'hybrid', %s, 1), ('{SHORT}', 'hysteresis', 'hybrid', %s, 0);
INSERT INTO session_summaries (id, session_id, from_message_id, to_message_id, from_at, to_at, status, trigger,
    input_hash, prompt_version, model_version, language, summary, message_ids, message_count, source_token_count,
    summary_token_count, cost_usd, generation_seconds)
SELECT gen_random_uuid(), '{LONG}', n, n, now(), now(), 'completed', 'turns', n, 'p', 'm', 'en', 's', ARRAY[n], 1, 1, 1,
       0, 0 FROM generate_series(1, 2000) n;
INSERT INTO memory_topics SELECT '{LONG}', 'topic ' || n, n % 90, now() FROM generate_series(1, 2000) n;
INSERT INTO served_windows (id, session_id, strategy, model, prompt_tokens, hypothetical_tokens, budget, tiers,
                            reported_prompt_tokens)
SELECT gen_random_uuid(), '{LONG}', 'hybrid', 'm' || n % 2, 10, 10, '{{"system": 1}}', '[]', 10
FROM generate_series(1, 2000) n;
VACUUM ANALYZE
"""
TABLES = {"messages", "session_summaries", "memory_topics", "served_windows"}


@pytest.fixture
def crowd(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    yield from _filled(database_url, hwm=MANY - 30)


def _filled(url: str, *, hwm: int) -> Iterator[psycopg.Connection[Any]]:
    with engine.connect(url, autocommit=True) as connection:
        for statement in CROWD.replace("%s", str(hwm)).split(";\n"):
            connection.execute(statement)  # type: ignore[arg-type]
        yield connection


def test_reads_are_bounded(crowd: psycopg.Connection[Any]) -> None:
    text, names = numbered("windows", "window")
    for hwm in (MANY - 30, 0):  # little since the last fold, and nothing folded yet
        crowd.execute("UPDATE conversation_sessions SET hwm_message_id = %s", (hwm,))
        for session in (LONG, SHORT):
            for plans in ("force_generic_plan", "force_custom_plan"):
                crowd.execute(f"SET plan_cache_mode = {plans}")  # type: ignore[arg-type]
                given = window_parameters(WindowQuery(session, 200, 20, 5, 20, "m1"))
                read = explained(crowd, text, [given[name] for name in names])
                scans = [node for node in read if node.get("Relation Name") in TABLES]
                assert not [node for node in scans if node["Node Type"] == "Seq Scan"], (hwm, session, plans)
                used = {node.get("Index Name") for node in read}
                assert {"messages_chat_order", "memory_topics_rank", "served_windows_reported"} <= used, used
                assert max(node["Actual Rows"] * node["Actual Loops"] for node in scans) <= 220
