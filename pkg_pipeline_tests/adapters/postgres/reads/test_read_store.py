"""The reading side's store: plans that do not grow with what is stored, lists by key, receipts behind the answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.queries import names
from pkg_pipeline.adapters.postgres.reading import numbered
from pkg_pipeline.adapters.postgres.reads.receipts import BackgroundReceiptSink, PostgresReceiptSink
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore, context_parameters
from pkg_pipeline.stages.reads.stores import ContextQuery, Receipt, StoreUnavailable, SummaryFilter
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said, made_id

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
PEOPLE, TALKS = 400, 60
MANY = 6_000
"""Rows above which a table may not be read whole; the big ones of the test have at least four times as many."""
MOST_READ = {"interactions_of_all": 2 * PEOPLE}
"""Rows of one table a statement may touch: 250, or here whole days, on each of which everybody speaks once."""


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    builder = MemoryBuilder(database_url)
    yield builder
    builder.close()


@pytest.fixture
def store(database_url: str) -> Iterator[PostgresReadStore]:
    pool = engine.pool(database_url, size=2, readonly=True)
    yield PostgresReadStore(pool, zone=ZoneInfo("UTC"))
    pool.close()


# ── plans ────────────────────────────────────────────────────────────────────────────────────

CROWD = f"""
INSERT INTO entities (id, name, name_at)
SELECT md5('e' || k)::uuid, 'Person ' || k, now() FROM generate_series(1, {PEOPLE}) k;
INSERT INTO chats (id, source, external_id, kind, title_at)
SELECT md5('c' || k)::uuid, 'telegram', 'c' || k, CASE WHEN k % 4 = 0 THEN 'group' ELSE 'direct' END, now()
FROM generate_series(1, {PEOPLE}) k;
INSERT INTO chat_members SELECT md5('c' || k)::uuid, md5('e' || k)::uuid FROM generate_series(1, {PEOPLE}) k;
CREATE TEMP TABLE talk AS
SELECT k, j, md5('t' || k || ' ' || j)::uuid AS id, md5('c' || k)::uuid AS chat_id, md5('e' || k)::uuid AS entity_id,
       '2026-03-15 10:00Z'::timestamptz - j * interval '2 days' AS at
FROM generate_series(1, {PEOPLE}) k, generate_series(0, {TALKS} - 1) j;
INSERT INTO interactions SELECT id, chat_id, at::date, at, at, 'completed', 2, 20, 'en', 'x', 'h' FROM talk;
INSERT INTO interaction_participants SELECT id, entity_id, 'other', 2, 20, at, at FROM talk;
INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,
                      is_outgoing, external_id, content, content_hash)
SELECT chat_id, entity_id, at, at, 10, 0.1, false, j || '.' || n, 'text', 'h' FROM talk, generate_series(1, 2) n;
INSERT INTO message_revisions SELECT id, 'h', sent_at, false, 'text' FROM messages;
INSERT INTO message_entities SELECT sender_entity_id, id, interaction_id, sent_at FROM message_texts;
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
    summary, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds)
SELECT md5('s' || id)::uuid, id, 'completed', 'h', 'p', 'm', 'en', 'text', '{{}}', 2, 20, 10, 2, 0, 0
FROM talk WHERE j % 3 > 0;
INSERT INTO items (id, kind, status, text, owner, due_date, importance, probability, chat_id, interaction_id, quote,
                   message_ids, first_at, last_at, settled_at)
SELECT md5(n || ' ' || id)::uuid, CASE WHEN n < 3 THEN 'decision' ELSE 'action_item' END,
       CASE n WHEN 4 THEN 'done' ELSE 'open' END, 'text', 'them', at::date + 3 * j,
       coalesce((ARRAY['high', 'medium', 'low'])[n + 1], 'medium'), 1, chat_id, id, 'q', '{{}}', at, at,
       CASE n WHEN 4 THEN at + interval '80 days' END
FROM talk t, generate_series(0, 5) n;
INSERT INTO item_people SELECT md5(n || ' ' || id)::uuid, entity_id FROM talk t, generate_series(0, 5) n;
INSERT INTO item_states (item_id, place, at, event, status, text, owner, due_date, probability, decided_by, quote,
                         message_ids)
SELECT id, place, first_at - place * interval '1 hour', 'opened', status, text, owner, due_date, 1, 'memory', quote,
       message_ids
FROM items, generate_series(0, 1) place;
INSERT INTO entity_relationship_profiles (entity_id, week, id, as_of, covers_until, input_hash, prompt_version,
    model_version, language, relationship_type, frequency, summary, first_interaction_at, last_interaction_at,
    total_interactions, total_messages, summarized_interactions, coverage, milestones, key_decisions,
    source_token_count, summary_token_count, cost_usd, generation_seconds)
SELECT md5('e' || k)::uuid, date '2026-03-08' - 7 * w, gen_random_uuid(),
       timestamptz '2026-03-15 00:00Z' - w * interval '7 days', now(), 'h', 'p', 'm', 'en', 'friend', 'weekly', 'text',
       now(), now(), 9, 9, 9, 1, made.milestones, made.decisions, 9, 9, 0, 0
FROM generate_series(0, {TALKS} - 1) w, generate_series(1, {PEOPLE}) k CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('day', '2025-12-01', 'title', 'T', 'importance', 'high', 'interaction_ids',
               jsonb_build_array(md5('t' || k || ' ' || j)::uuid))) AS milestones,
           jsonb_agg(jsonb_build_object('id', md5('0 ' || md5('t' || k || ' ' || j)::uuid)::uuid, 'decided_on',
               '2025-12-01')) AS decisions
    FROM generate_series(1, 20) j) AS made;
INSERT INTO entity_days SELECT entity_id, at::date, 2, 20, 2, 20 FROM talk;
INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, quote, message_ids)
SELECT md5('f' || id)::uuid, entity_id, 'fact ' || j, 'v', 1, 'confirmed', 'q', '{{}}' FROM talk;
VACUUM ANALYZE
"""


def statements() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every reading statement with parameters as the store gives them."""
    entity = UUID("bf6a4a9d-0000-4000-8000-000000000000")
    page = {"after_at": NOW, "after_id": entity, "from_at": NOW - timedelta(days=900), "scan": 200, "limit": 51}
    history: dict[str, dict[str, Any]] = {
        **{name: {"entity": entity} for name in ("entity", "person")},
        "entities_named": {"name": "Person 7", "limit": 21},
        "entities_page": {"query": "", "after_name": "Person 3", "after_id": entity, "limit": 51},
        "entity_names": {"limit": 20_000},
        "entity_of_key": {"source": "telegram", "external_id": "c7"},
        "chats_of_key": {"source": "telegram", "external_id": "c7"},
        **{name: {"id": entity} for name in ("chat_of_id", "listed_chat")},
        "chats_page": {"category": None, "after_source": "", "after_id": entity, "limit": 51},
        "timeline": {**page, "entity": entity},
        "interactions_of_entity": {**page, "entity": entity},
        "interactions_of_chat": {**page, "source": "telegram", "external_id": "c7"},
        "interactions_of_these": {"ids": [entity] * 20, "source": "telegram", "external_id": "c7"},
        "interactions_of_all": {**page, "after_day": NOW.date(), "from_day": date(2020, 1, 1)},
        "summaries": {"interactions": [entity] * 20, "statuses": ["completed"]},
        **{name: {} for name in ("is_empty", "revision")},
    }
    assert sorted(history) == sorted(names("reads")), "a new statement needs a plan here"
    for_context = context_parameters(
        ContextQuery(
            entity_id=entity, as_of=NOW, today=NOW.date(), hot_from=NOW - timedelta(days=7),
            warm_from=NOW - timedelta(days=90), hot_limit=50, summary_limit=10, max_tokens=4000, text_chars=16_000,
        )
    )  # fmt: skip
    then = NOW - timedelta(days=60)
    past = {**for_context, "as_of": then, "hot_from": then - timedelta(days=7), "as_of_day": then.date()}
    return {
        **{name: (f"reads {name}", given) for name, given in history.items()},
        "context": ("context context", for_context),
        "context of a group": ("context context", for_context),
        "context then": ("context context", past),
    }


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from scans(child)


def test_no_statement_reads_a_big_table_whole(build: MemoryBuilder) -> None:
    """With the parameters known and unknown to the planner, as the first and the later executions have it."""
    for statement in CROWD.split(";\n"):
        build.connection.execute(statement)  # type: ignore[arg-type]
    sizes = dict(
        build.connection.execute(
            "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pkg'::regnamespace"
        ).fetchall()
    )
    big = {table for table, rows in sizes.items() if rows > MANY}
    assert {
        "messages",
        "message_entities",
        "interactions",
        "items",
        "item_people",
        "entity_facts",
        "entity_days",
    } <= big
    assert {"entity_relationship_profiles", "item_states"} <= big
    for mode in ("force_custom_plan", "force_generic_plan"):
        build.connection.execute(f"SET plan_cache_mode = {mode}")  # type: ignore[arg-type]
        for label, (where, given) in statements().items():
            text, order = numbered(*where.split())
            values = [given[name] for name in order]
            if label.startswith("context"):
                # every fourth is met in a group, the others in a dialog
                person = "Person 8" if "group" in label else "Person 7"
                found = build.connection.execute("SELECT id FROM entities WHERE name = %s", (person,)).fetchone()
                assert found is not None
                values[order.index("entity")] = found[0]
            with psycopg.RawCursor(build.connection) as cursor:
                explained = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", values, prepare=True).fetchone()
            assert explained is not None
            for node in scans(explained[0][0]["Plan"]):
                table = node.get("Relation Name")
                assert not (node["Node Type"] == "Seq Scan" and table in big), f"{label} reads {table} whole ({mode})"
                if table == "entity_relationship_profiles":
                    assert node["Node Type"] == "Index Scan", f"{label} looks for its week otherwise ({mode})"
                    assert node["Actual Rows"] + node.get("Rows Removed by Filter", 0) <= 2, f"{label} ({mode})"
                if table in big:
                    read = node["Actual Rows"] * node["Actual Loops"] + node.get("Rows Removed by Filter", 0)
                    allowed = MOST_READ.get(label, 250)
                    assert read <= allowed, f"{label} reads {read} rows of {table} ({mode})"


# ── lists ────────────────────────────────────────────────────────────────────────────────────


def test_entities_are_paged_by_name_without_repeating_or_losing_any(
    build: MemoryBuilder, store: PostgresReadStore
) -> None:
    for name in ["anna", "Boris", "Анна", "Zed", "王小明"]:
        build.person(name)
    for twin in range(3):
        build.insert("entities", id=made_id("twin", twin), name="Anna", name_at=NOW)
    seen: list[UUID] = []
    after = None
    while page := store.entities_page(query=None, after=after, limit=2):
        seen += [one.id for one in page]
        after = (page[-1].name, page[-1].id)
    assert len(seen) == len(set(seen)) == 8


@pytest.mark.parametrize(
    ("query", "expected"), [("НН", ["Анна"]), ("an", ["anna"]), ("%", []), ("_", []), ("小", ["王小明"])]
)
def test_a_query_keeps_names_that_contain_it(
    build: MemoryBuilder, store: PostgresReadStore, query: str, expected: list[str]
) -> None:
    for name in ["anna", "Анна", "王小明"]:
        build.person(name)
    assert [one.name for one in store.entities_page(query=query, after=None, limit=9)] == expected


def history(build: MemoryBuilder) -> list[UUID]:
    build.person("Me", is_self=True)
    build.person("Anna")
    build.person("Bob")
    build.chat("Anna", ["Me", "Anna"])
    build.chat("Bob", ["Me", "Bob"])
    made = []
    for day in range(12):
        chat = "Bob" if day % 4 == 0 else "Anna"
        talk = build.conversation(chat, NOW - timedelta(days=day), [Said(chat, "x"), Said("Me", "y", 3)])
        status = "superseded" if day == 5 else "completed"
        made.append(build.summary(talk, f"Day {day}", status=status))
    return made


def all_summaries(store: PostgresReadStore, wanted: SummaryFilter, limit: int) -> list[str]:
    texts: list[str] = []
    after = None
    while True:
        page, after = store.summaries_page(wanted, now=NOW, after=after, limit=limit)
        texts += [one.summary for one in page]
        if after is None:
            return texts


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_summaries_are_listed_newest_first_under_every_filter(
    build: MemoryBuilder, store: PostgresReadStore, limit: int
) -> None:
    history(build)
    anna, day = build.people["Anna"], NOW.date()
    cases: list[tuple[SummaryFilter, list[int]]] = [
        (SummaryFilter(), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]),
        (SummaryFilter(entity_id=anna), [1, 2, 3, 6, 7, 9, 10, 11]),
        (SummaryFilter(chat=("telegram", "direct:Bob")), [0, 4, 8]),
        (SummaryFilter(entity_id=build.people["Me"], chat=("telegram", "direct:Bob")), [0, 4, 8]),
        (SummaryFilter(entity_id=anna, chat=("telegram", "direct:Bob")), []),
        (SummaryFilter(day_from=day - timedelta(days=3)), [0, 1, 2, 3]),
        (SummaryFilter(entity_id=anna, day_to=day - timedelta(days=7)), [7, 9, 10, 11]),
        (SummaryFilter(day_from=date(1, 1, 1), day_to=date(9999, 12, 31), statuses=("superseded",)), [5]),
        (SummaryFilter(chat=("telegram", "unknown")), []),
    ]
    for wanted, expected in cases:
        assert all_summaries(store, wanted, limit) == [f"Day {number}" for number in expected]


def test_the_timeline_has_every_interaction_newest_first(build: MemoryBuilder, store: PostgresReadStore) -> None:
    history(build)
    seen: list[str | None] = []
    after = None
    while page := store.timeline_page(build.people["Me"], after=after, limit=5):
        seen += [row.summary for row in page]
        after = (page[-1].started_at, page[-1].interaction_id)
    assert seen == [f"Day {number}" if number != 5 else None for number in range(12)]


# ── failures and receipts ────────────────────────────────────────────────────────────────────


def test_a_database_that_does_not_answer_is_said_to_be_unavailable(database_url: str) -> None:
    pool = engine.pool(database_url, size=1, readonly=True)
    store = PostgresReadStore(pool, zone=ZoneInfo("UTC"))
    assert store.revision() == migrate.head()
    pool.close()
    with pytest.raises(StoreUnavailable):
        store.revision()


def test_the_readers_connections_cannot_write(database_url: str) -> None:
    pool = engine.pool(database_url, size=1, readonly=True)
    with pool.connection() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("DELETE FROM entities")
    pool.close()


def receipt() -> Receipt:
    return Receipt(
        id=uuid4(), entity_id=uuid4(), request={"max_tokens": 1}, tiers=[{"tier": "hot"}], left_out=[], tokens=1,
        hypothetical_tokens=2,
    )  # fmt: skip


def test_receipts_are_written_behind_the_answer_and_the_rest_at_close(database_url: str, build: MemoryBuilder) -> None:
    pool = engine.pool(database_url, size=1)
    sink = BackgroundReceiptSink(PostgresReceiptSink(pool))
    given = [receipt() for _ in range(250)]
    for one in given:
        sink.put(one)
    sink.close()
    sink.put(receipt())
    kept = build.connection.execute("SELECT id, tokens, hypothetical_tokens, tiers FROM context_receipts").fetchall()
    assert {row[0] for row in kept} == {one.id for one in given}
    assert kept[0][1:] == (1, 2, [{"tier": "hot"}])
    assert sink.lost == 1, "what comes after the end is counted, not kept"
    pool.close()


class StuckSink:
    """Takes the first batch and holds it until told."""

    def __init__(self) -> None:
        self.lost = 0
        self.taken = threading.Event()
        self.go_on = threading.Event()

    def put_many(self, receipts: list[Receipt]) -> None:
        self.taken.set()
        assert self.go_on.wait(10)


def test_a_full_queue_drops_receipts_instead_of_holding_up_a_read() -> None:
    stuck = StuckSink()
    sink = BackgroundReceiptSink(stuck, size=2)  # type: ignore[arg-type]
    sink.put(receipt())
    assert stuck.taken.wait(10)
    for _ in range(5):
        sink.put(receipt())
    assert sink.lost == 3
    stuck.go_on.set()
    sink.close()


def test_a_receipt_that_cannot_be_kept_fails_nothing(database_url: str) -> None:
    pool = engine.pool(database_url, size=1, readonly=True)
    sink = PostgresReceiptSink(pool)
    sink.put(receipt())
    assert sink.lost == 1
    pool.close()
