"""Rules that statements share: what they say, that each is said once, and that their plans are ranges of indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine, queries
from pkg_pipeline.adapters.postgres.schema import generate
from pkg_pipeline.stages.interactions.records import ChatInfo
from pkg_pipeline_tests.adapters.postgres.recall.test_recall_plans import nodes

CHAT, SESSION = UUID(int=1), UUID(int=2)
MEMORY = f"""
INSERT INTO chats (id, source, external_id, kind, title_at) VALUES ('{CHAT}', 'jsonl', 'c', 'group', now()),
    ('{SESSION}', 'jsonl', 's', 'thread', now());
INSERT INTO chats (id, source, external_id, kind, title_at)
SELECT gen_random_uuid(), 'jsonl', 'other ' || n, 'direct', now() FROM generate_series(1, 2000) n;
INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, important_count,
                          language, first_external_id, input_hash)
SELECT md5(n::text)::uuid, CASE n % 2 WHEN 0 THEN '{CHAT}' ELSE '{SESSION}' END::uuid, '2020-01-01'::date + n / 10, at,
       at + interval '2 hours', 'completed', 5, 50, 0, 'en', n, 'h'
FROM generate_series(1, 8000) n, LATERAL (SELECT '2020-01-01Z'::timestamptz + n * interval '144 minutes' AS at) t;
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
    summary, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds)
SELECT gen_random_uuid(), i.id, g.status, 'h', 'p', 'm', 'en', 's', '{{}}', 5, 50, 5, 10, 0, 0
FROM interactions i, unnest('{{completed,superseded}}'::text[]) AS g (status) WHERE chat_id = '{CHAT}';
INSERT INTO messages (id, chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing, external_id,
                      content, content_hash)
SELECT n, i.chat_id, i.started_at + k * interval '10 minutes', now(), 1, 0, false, n, 'text', 'h'
FROM interactions i, LATERAL generate_series(0, 4) k, LATERAL (SELECT (i.first_external_id::int * 5 + k) AS n) x;
INSERT INTO conversation_sessions (id, policy, strategy, hwm_message_id)
VALUES ('{SESSION}', 'hysteresis', 'hybrid', 20000);
INSERT INTO leases SELECT 'summary', gen_random_uuid(), n, 'h', now() + interval '1 day'
FROM generate_series(1, 2000) n;
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', gen_random_uuid(), 'r', now(), now() FROM generate_series(1, 5000) n;
VACUUM ANALYZE
"""
LARGE = {"messages", "interactions", "interaction_summaries", "leases", "dirty_partitions", "chats"}
PLANS = {
    "eligible_chats": "SELECT c.id FROM eligible_chats c WHERE c.id = %(chat)s",
    "live_summaries": "SELECT s.id FROM live_summaries s WHERE s.interaction_id = %(one)s",
    "live_messages": "SELECT count(*) FROM live_messages WHERE chat_id = %(chat)s AND sent_at < '2020-01-03Z'",
    "live_texts": "SELECT count(content) FROM live_texts WHERE chat_id = %(chat)s AND sent_at < '2020-01-03Z'",
    "held_leases": "SELECT token FROM held_leases WHERE kind = 'summary' AND subject_id = %(one)s",
    "is_near": """SELECT i.id, EXISTS (SELECT FROM dirty_partitions d
        WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, 60)) FROM interactions i WHERE i.id = %(one)s""",
    "archive_ready": "SELECT * FROM archive_ready('2020-03-01', '2025-01-01Z', '2025-01-01Z')",
}


@pytest.fixture
def memory(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    with engine.connect(database_url, autocommit=True) as connection:
        for statement in MEMORY.split(";\n"):
            connection.execute(statement)  # type: ignore[arg-type]
        yield connection


def test_plans_are_ranges_of_indexes(memory: psycopg.Connection[Any]) -> None:
    given = {"chat": CHAT, "one": UUID(hex="c81e728d9d4c2f636f067f89cc14862c")}  # the second one
    for plans in ("force_generic_plan", "force_custom_plan"):
        memory.execute(f"SET plan_cache_mode = {plans}")  # type: ignore[arg-type]
        for rule, statement in PLANS.items():
            asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + statement
            found = memory.execute(asked, given, prepare=True).fetchone()  # type: ignore[arg-type]
            assert found is not None
            read = list(nodes(found[0][0]["Plan"]))
            assert not [one for one in read if one["Node Type"] in ("Function Scan", "Subquery Scan")], (rule, plans)
            scans = [one for one in read if one.get("Relation Name") in LARGE]
            assert scans, rule
            whole = [one["Relation Name"] for one in scans if one["Node Type"] == "Seq Scan"]
            assert whole == [], (rule, plans)
            growing = [one for one in scans if one["Relation Name"] in ("messages", "interactions")]
            assert sum(one["Actual Rows"] * one["Actual Loops"] for one in growing) <= 400, (rule, plans)


def test_what_is_ready_for_the_archive_is_summarised_or_folded(memory: psycopg.Connection[Any]) -> None:
    ready = "SELECT chat_id, count(*) FROM archive_ready(%s, '2099-01-01Z', '2025-01-01Z') GROUP BY 1 ORDER BY 1"
    assert dict(memory.execute(ready, ["2020-03-01"]).fetchall()) == {CHAT: 155, SESSION: 155}
    assert dict(memory.execute(ready, ["2022-01-01"]).fetchall()) == {CHAT: 155}  # behind what is folded
    memory.execute("UPDATE interaction_summaries SET status = 'dirty' WHERE status = 'completed'")
    assert dict(memory.execute(ready, ["2020-03-01"]).fetchall()) == {SESSION: 155}


@pytest.mark.parametrize("kind", ["direct", "group", "thread", "channel"])
@pytest.mark.parametrize("category", [None, "personal", "work", "mass"])
def test_a_chat_counts_unless_it_is_mass_or_a_channel_without_a_category(
    database_url: str, kind: Any, category: Any
) -> None:
    with engine.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO chats (id, source, external_id, kind, category, title_at)"
            " VALUES (%s, 's', 'c', %s, %s, now())",
            (CHAT, kind, category),
        )
        counts = connection.execute("SELECT count(*) FROM eligible_chats").fetchone() == (1,)
    assert counts == (category in ("personal", "work") or (category is None and kind != "channel"))
    assert ChatInfo(CHAT, "s", "c", kind, category, {}).is_mass == (not counts)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("day_key('2026-03-05')", "2026-03-05"),
        ("month_key('2026-03-05')", "2026-03-01"),
        ("next_month('2026-12-01')::text", "2027-01-01"),
        ("message_number('-17')", -17),
        ("message_number('017')", None),
        ("message_number('9999999999999999999')", None),
        ("text_bytes('né', '[1]')", 6),
        ("text_bytes('né', NULL)", 3),
        ("is_of_age('2026-01-01Z', '2026-01-08Z', 7 * 86400, 3600)", True),
        ("is_of_age('2026-01-01Z', '2026-01-01 01:00Z', 0, 3600)", False),
        ("is_unsummarised(NULL, NULL, 'a')", True),
        ("is_unsummarised('dirty', 'a', 'a')", True),
        ("is_unsummarised('completed', 'b', 'a')", True),
        ("is_unsummarised('completed', 'a', 'a')", False),
        ("is_stale('p1', 'm', 1, '{p1,p2}', 'm', 1)", False),
        ("is_stale('p0', 'm', 1, '{p1,p2}', 'm', 1)", True),
        ("is_stale('p1', 'n', 1, '{p1,p2}', 'm', 1)", True),
        ("is_stale('p1', 'm', 1, '{p1,p2}', 'm', 2)", True),
    ],
)
def test_values_and_conditions(database_url: str, expression: str, value: object) -> None:
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT " + expression).fetchone() == (value,)  # type: ignore[arg-type]


def test_a_lease_is_taken_once_and_again_when_it_ran_out(database_url: str) -> None:
    ids = [UUID(int=2), UUID(int=1)]
    take = "SELECT subject_id, token FROM take_leases('summary', %s, %s, %s)"
    with engine.connect(database_url, autocommit=True) as connection:
        first = dict(connection.execute(take, (ids, "a", 60)).fetchall())
        assert set(first) == set(ids)
        assert connection.execute(take, (ids, "b", 60)).fetchall() == []
        connection.execute("UPDATE leases SET expires_at = now() WHERE subject_id = %s", (ids[0],))
        assert connection.execute("SELECT subject_id FROM held_leases").fetchall() == [(ids[1],)]
        again = connection.execute(take, (ids, "b", 60)).fetchall()
        assert [key for key, _ in again] == [ids[0]]
        assert again[0][1] > first[ids[0]]


WRITTEN_OUT = {
    "live_summaries": r"status IN \('completed', 'dirty'\)",
    "live_messages": r"kind = 'message' AND (\w\.)?deleted_at IS NULL",
    "eligible_chats": r"category IS DISTINCT FROM 'mass'",
    "standing_folds": r"status <> 'superseded'",
    "take_leases": r"INSERT INTO leases",
    "held_leases": r"expires_at > clock_timestamp\(\)",
    "day_key": r"to_char\((\w+\.)?day",
}
KNOWN = {
    ("appending", "count_changed"),  # a message as it was and as it becomes, both in one row
    ("checks", "orphans_of_messages"),  # samples, which are of tables
    ("checks", "orphans_of_summaries"),
    ("known", "of_entity"),  # chats as they were said to be at a moment
}


@pytest.mark.parametrize("rule", WRITTEN_OUT)
def test_no_statement_writes_a_rule_out(rule: str) -> None:
    found = {
        (file, name)
        for file in queries.files()
        for name in queries.names(file)
        if re.search(WRITTEN_OUT[rule], queries.query(file, name))
    }
    assert found - KNOWN == set(), f"use {rule}"


def test_every_view_and_function_of_the_rules_says_what_it_is_and_stands_on_the_page(database_url: str) -> None:
    with engine.connect(database_url) as connection:
        made = connection.execute(
            """
            SELECT relname, obj_description(oid, 'pg_class') FROM pg_class
            WHERE relnamespace = 'pkg'::regnamespace AND relkind = 'v'
            UNION ALL
            SELECT proname || '()', obj_description(oid, 'pg_proc') FROM pg_proc
            WHERE pronamespace = 'pkg'::regnamespace AND prosqlbody IS NOT NULL
            """
        ).fetchall()
    page = generate.PAGE.read_text(encoding="utf-8")
    assert len(made) > 20
    for name, said in made:
        assert f"| `{name}` | {said} |\n" in page, name
