"""The plans of recall's statements: each way reads its index, and no table is read whole, however it is narrowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall.store import Limits, facts_statement, search_statement
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.stages.recall.records import QuestionFacts, ScopeFacts, SearchQuery, Space
from pkg_pipeline_tests.adapters.postgres.recall.recall_rig import NOW, START

WORD = {7: 1.0}
VECTOR = np.array([1, 0, 0], np.float32)
MANY = 12_000
BIG, SMALL, CHAT = UUID(int=1), UUID(int=2), UUID(int=3)
CROWD = f"""
INSERT INTO chats (id, source, external_id, kind, title_at) VALUES ('{CHAT}', 'telegram', 'c', 'group', now());
INSERT INTO messages (id, chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing, external_id,
                      content, content_hash)
SELECT n, '{CHAT}', '2025-01-01Z'::timestamptz + n * interval '1 minute', now(), 1, 0, false, n, 'text', 'h'
FROM generate_series(1, {MANY}) n;
INSERT INTO memory_chunks (id, source, chat_id, at, scopes, message_ids, topics, content_hash, index_hash, terms,
                           lexical)
SELECT gen_random_uuid(), 'message', chat_id, sent_at,
       ARRAY[CASE WHEN id % 10 = 0 THEN '{SMALL}' ELSE '{BIG}' END::uuid, '{CHAT}'], ARRAY[id],
       ARRAY['topic ' || id % 300], 'h', 'h', ARRAY[id % 500 + 1], ('{{' || id % 500 + 1 || ':1}}/536870912')::sparsevec
FROM messages ORDER BY id;
INSERT INTO chunk_embeddings SELECT no, 1, scopes, at, 'h', ('[' || sin(no) || ',' || cos(no) || ',1]')::halfvec
FROM memory_chunks;
INSERT INTO chunk_codes SELECT 1, s, no, at, (no::bit(64)::text || repeat('0', 960))::bit(1024)
FROM memory_chunks, unnest(scopes || '{EVERYTHING}'::uuid) s;
INSERT INTO chunk_scopes SELECT 1, scope, count(*), 'there' FROM chunk_codes GROUP BY scope;
INSERT INTO chunk_terms SELECT n, 20 FROM generate_series(0, {MANY}) n;
CREATE INDEX graph_all ON chunk_embeddings USING hnsw ((embedding::halfvec(3)) halfvec_ip_ops) WHERE space_id = 1;
CREATE INDEX graph_big ON chunk_embeddings USING hnsw ((embedding::halfvec(3)) halfvec_ip_ops)
    WHERE space_id = 1 AND scopes @> ARRAY['{BIG}']::uuid[];
VACUUM ANALYZE
"""


def searches() -> Iterator[tuple[str, SearchQuery, Limits, str]]:
    """Label, search, limits, and the index of its vectors."""
    sizes = {EVERYTHING: MANY, BIG: MANY * 9 // 10, SMALL: MANY // 10, CHAT: MANY}
    graph, scan = Limits(scanned=2_000, scanned_time=2_000), Limits()
    for scopes, limits, index in (
        ((EVERYTHING,), graph, "graph_all"),
        ((BIG,), graph, "graph_big"),
        ((SMALL,), graph, "chunk_codes_scan"),
        ((SMALL, CHAT), graph, "chunk_codes_scan"),
        ((BIG, CHAT), graph, "graph_big"),
        ((BIG,), scan, "chunk_codes_scan"),
    ):
        facts = tuple(ScopeFacts(scope, sizes[scope], is_indexed=scope != CHAT) for scope in scopes)
        query = SearchQuery(
            facts=QuestionFacts(None, Space(1, "m", 3, "active"), facts, MANY, {}, ()),
            as_of=NOW, words=WORD, fetch_terms=(7, 9), vector=VECTOR, code=b"\0" * 128, limit=20,
            entity_id=scopes[0] if scopes[0] != EVERYTHING else None, chat_id=scopes[1] if len(scopes) > 1 else None,
        )  # fmt: skip
        for label, one in (
            ("", query),
            ("timed", replace(query, at_from=START + timedelta(hours=1), at_to=START + timedelta(days=9))),
            ("of a topic", replace(query, topics=("topic 5",))),
            ("of a source", replace(query, sources=frozenset({"message"}))),
        ):
            yield f"{scopes} {limits} {label}", one, limits, index
    narrow = replace(query, facts=replace(query.facts, scopes=(ScopeFacts(EVERYTHING, MANY, True, in_range=60),)))
    narrow = replace(narrow, entity_id=None, at_from=START + timedelta(hours=1), at_to=START + timedelta(hours=2))
    yield "a short time of everything", narrow, graph, "chunk_codes_scan"


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def explained(connection: psycopg.Connection[Any], text: str, given: list[Any]) -> list[dict[str, Any]]:
    with psycopg.RawCursor(connection) as cursor:
        row = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", given, prepare=True).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return list(nodes(row[0][0]["Plan"]))


def test_every_way_reads_its_index(database_url: str) -> None:
    pools = engine.pool(database_url, size=1), engine.pool(database_url, size=1, readonly=True)
    with pools[0].connection() as connection:
        connection.execute(
            "INSERT INTO embedding_spaces (id, model, dimensions, state) OVERRIDING SYSTEM VALUE"
            " VALUES (1, 'm', 3, 'active')"
        )
        for statement in CROWD.split(";\n"):
            connection.execute(statement)  # type: ignore[arg-type]
    for pool in pools:
        with pool.connection() as connection:
            for label, query, limits, index in searches():
                text, given = search_statement(query, limits)
                read = explained(connection, text, given)
                used = {node.get("Index Name") for node in read}
                assert index in used, (label, used)
                assert "memory_chunks_words" in used, (label, used)
                assert not [
                    node for node in read if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TABLES
                ], label
            text, names = facts_statement(True, 1_000)
            given = {"scopes": [BIG], "entity": BIG, "chat": None, "names": [5], "terms": [0, 7], "at_from": START,
                     "at_to": None, "name_scan": 9, "name_limit": 9}  # fmt: skip
            read = explained(connection, text, [given[name] for name in names])
            assert "chunk_codes_scan" in {node.get("Index Name") for node in read}
            assert max(row(node) for node in read) <= 1_000
        pool.close()


TABLES = {"memory_chunks", "messages", "chunk_embeddings", "chunk_codes", "chunk_terms"}


def row(node: dict[str, Any]) -> float:
    return node["Actual Rows"] * node["Actual Loops"]
