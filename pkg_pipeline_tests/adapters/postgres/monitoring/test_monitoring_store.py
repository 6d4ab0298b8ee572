"""Figures that stand and figures counted while they are read; who counts, who waits; which statement leaves a mark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore, PostgresStatisticsKeeper
from pkg_pipeline_tests.stages.monitoring.statistics_recount import recounted_figures

CHAT, OTHER_CHAT, ME = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
FIRST, SECOND, HEIR = (f"10000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
SUMMARY = "20000000-0000-0000-0000-000000000001"
INTERACTION = """INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,
    language, first_external_id, input_hash) VALUES (%s, %s, %s, %s, %s, 'completed', 5, 9, 'en', 'm', 'h')"""
ITEM = """(id, kind, status, text, owner, importance, probability, quote, message_ids, first_at, last_at, chat_id,
    interaction_id)"""
SAID = "'t', 'self', 'high', 1, 'q', '{}', '2026-01-01Z', '2026-01-01Z',"
MEMORY = f"""
    INSERT INTO entities (id, name, name_at) VALUES ('{ME}', 'A', now());
    INSERT INTO chats (id, source, external_id, kind, title_at) VALUES ('{CHAT}', 's', 'a', 'direct', now()),
        ('{OTHER_CHAT}', 's', 'b', 'channel', now());
    INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
        summary, key_points, message_ids, message_count, source_token_count, summary_token_count, compression_ratio,
        cost_usd, generation_seconds)
    VALUES ('{SUMMARY}', '{FIRST}', 'completed', 'h', 'p/1', 'm', 'en', 's', '["a", "b"]', '{{}}', 5, 9, 3, 3, 0.01, 2);
    INSERT INTO items {ITEM} VALUES ('{SUMMARY}', 'decision', 'open', {SAID} '{CHAT}', '{FIRST}');
    INSERT INTO summary_attempts (interaction_id, input_hash, prompt_version, model_version, attempts, state,
        last_error) VALUES ('{SECOND}', 'h', 'p', 'm', 3, 'failed', 'e')"""


@pytest.fixture
def pool(database_url: str) -> Iterator[ConnectionPool]:
    connections = engine.pool(database_url, size=4)
    with connections.connection() as connection:
        connection.execute(MEMORY)  # type: ignore[arg-type]
        for identity, chat, day in (
            (FIRST, CHAT, "2026-01-01"),
            (SECOND, CHAT, "2026-01-02"),
            (HEIR, OTHER_CHAT, "2026-01-03"),
        ):
            connection.execute(INTERACTION, (identity, chat, day, day, day))
    yield connections
    connections.close()


def store_of(pool: ConnectionPool) -> PostgresMonitoringStore:
    return PostgresMonitoringStore(pool, zone=ZoneInfo("Europe/Berlin"))


def keeper_of(pool: ConnectionPool) -> PostgresStatisticsKeeper:
    return PostgresStatisticsKeeper(pool, timezone="Europe/Berlin")


def run(pool: ConnectionPool, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with pool.connection() as connection:
        cursor = connection.execute(statement, parameters)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []


def assert_exact(pool: ConnectionPool) -> None:
    found = store_of(pool).figures(minimum_messages=3)
    assert replace(found, days_counted_now=0) == recounted_figures(lambda sql: run(pool, sql), minimum_messages=3)


def test_figures_before_and_after_a_recount_are_the_same(pool: ConnectionPool) -> None:
    before = store_of(pool).figures(minimum_messages=3)
    assert (before.interactions, before.eligible, before.summarized, before.failed, before.pending) == (3, 2, 1, 1, 0)
    assert (before.summaries, before.key_points, before.decisions, before.generation_seconds) == (1, 2, 1, 2.0)
    assert before.versions == {"p/1|m|1": 1}
    assert before.days_counted_now == 3
    assert keeper_of(pool).recount(minimum_messages=3) == 3
    after = store_of(pool).figures(minimum_messages=3)
    assert after == replace(before, days_counted_now=0)
    assert keeper_of(pool).recount(minimum_messages=3) == 0


CHANGES = {
    "an interaction comes": "INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status,"
    " message_count, token_count, language, first_external_id, input_hash) SELECT gen_random_uuid(), chat_id,"
    " '2026-02-01', started_at, ended_at, status, message_count, token_count, language, first_external_id, input_hash"
    f" FROM interactions WHERE id = '{FIRST}'",
    "an interaction moves to another day": f"UPDATE interactions SET day = '2026-02-02' WHERE id = '{SECOND}'",
    "an interaction says something else": f"UPDATE interactions SET input_hash = 'other' WHERE id = '{SECOND}'",
    "an interaction goes": f"DELETE FROM interactions WHERE id = '{SECOND}'",
    "a summary is dirty": "UPDATE interaction_summaries SET status = 'dirty'",
    "a summary goes over to another interaction": f"UPDATE interaction_summaries SET interaction_id = '{HEIR}'",
    "a summary goes": "DELETE FROM interaction_summaries",
    "a second interaction gets a summary": "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash,"
    " prompt_version, model_version, language, summary, message_ids, message_count, source_token_count,"
    " summary_token_count, compression_ratio, cost_usd, generation_seconds)"
    f" VALUES ('{ME}', '{SECOND}', 'completed', 'h', 'p/2', 'm', 'en', 's', '{{}}', 5, 9, 3, 3, 0.01, 2)",
    "an item comes": f"INSERT INTO items {ITEM} VALUES (gen_random_uuid(), 'decision', 'open', {SAID} '{CHAT}',"
    f" '{FIRST}')",
    "an item is withheld": "UPDATE items SET is_withheld = true",
    "an item goes to an heir": f"UPDATE items SET interaction_id = '{HEIR}'",
    "an item goes": "DELETE FROM items",
    "an attempt is given up": "INSERT INTO summary_attempts (interaction_id, input_hash, prompt_version, model_version,"
    f" attempts, state, last_error) VALUES ('{FIRST}', 'h', 'p', 'm', 3, 'failed', 'e')",
    "an attempt is revived": "UPDATE summary_attempts SET state = 'waiting'",
    "an attempt is forgotten": "DELETE FROM summary_attempts",
    "a chat becomes mass": f"UPDATE chats SET category = 'mass' WHERE id = '{CHAT}'",
    "a channel is mine": f"UPDATE chats SET category = 'work' WHERE id = '{OTHER_CHAT}'",
    "a channel was a group": f"UPDATE chats SET kind = 'group' WHERE id = '{OTHER_CHAT}'",
}


class Held:
    """A pool of one connection, on which a transaction is open."""

    def __init__(self, connection: engine.Connection) -> None:
        self._connection = connection

    @contextmanager
    def connection(self, **_: Any) -> Iterator[engine.Connection]:
        yield self._connection


def test_every_change_that_a_figure_depends_on_leaves_a_mark(pool: ConnectionPool) -> None:
    keeper_of(pool).recount(minimum_messages=3)
    for name, change in CHANGES.items():
        with pool.connection() as connection, connection.transaction(force_rollback=True):
            connection.execute(change)  # type: ignore[arg-type]
            held: Any = Held(connection)
            found = store_of(held).figures(minimum_messages=3)
            assert found.days_counted_now > 0, name
            recounted = recounted_figures(lambda sql, held=held: run(held, sql), minimum_messages=3)
            assert replace(found, days_counted_now=0) == recounted, name


def test_what_no_figure_depends_on_leaves_no_mark(pool: ConnectionPool) -> None:
    keeper_of(pool).recount(minimum_messages=3)
    run(pool, "UPDATE chats SET title = 'another'")
    run(pool, "UPDATE chats SET category = category")
    run(pool, "UPDATE interactions SET status = 'completed' WHERE false")
    assert run(pool, "SELECT count(*) FROM day_statistics_marks") == [(0,)]


def test_what_is_open_follows_the_moment_of_reading(pool: ConnectionPool) -> None:
    """One due on 10 January: open, from the 11th overdue, lapsed when it was due and not spoken of for three weeks."""
    task = f"INSERT INTO items {ITEM} VALUES (gen_random_uuid(), 'action_item', %s, {SAID} '{CHAT}', '{FIRST}')"
    for status in ("open", "open", "perhaps_done", "done"):
        run(pool, task, status)
    run(
        pool,
        "UPDATE items SET due_date = '2026-01-10' WHERE ctid = (SELECT min(ctid) FROM items WHERE status = 'open'"
        " AND kind = 'action_item')",
    )
    expected = {"2026-01-10": (2, 0, 1, 0), "2026-01-11": (2, 1, 1, 0), "2026-02-01": (1, 0, 1, 1),
                "2026-03-20": (0, 0, 1, 2)}  # fmt: skip
    for day, counts in expected.items():
        found = store_of(pool).items(datetime.fromisoformat(f"{day}T12:00:00+00:00"))
        assert (found.open, found.overdue, found.perhaps_done, found.lapsed) == counts, day


def test_another_minimum_counts_every_day_anew(pool: ConnectionPool) -> None:
    keeper_of(pool).recount(minimum_messages=3)
    assert store_of(pool).figures(minimum_messages=6).eligible == 0
    assert keeper_of(pool).recount(minimum_messages=6) == 3
    assert store_of(pool).figures(minimum_messages=6).days_counted_now == 0


def test_a_mark_that_is_not_committed_outlives_the_recount_beside_it(pool: ConnectionPool) -> None:
    """The day is counted without the change, whose mark comes with it: the next recount finds it."""
    with pool.connection() as writer, writer.transaction():
        writer.execute("DELETE FROM items")
        keeper_of(pool).recount(minimum_messages=3)
        assert store_of(pool).figures(minimum_messages=3).decisions == 1
    assert store_of(pool).figures(minimum_messages=3).decisions == 0
    assert_exact(pool)


def test_one_counts_at_a_time_and_the_others_go_on_at_once(pool: ConnectionPool, database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(7310526)")
        assert keeper_of(pool).recount(minimum_messages=3) == 0
        other.execute("SELECT pg_advisory_unlock(7310526)")  # a closed connection lets go a moment later
    assert keeper_of(pool).recount(minimum_messages=3) == 3


def test_recounts_and_writers_at_the_same_time_lose_nothing(pool: ConnectionPool) -> None:
    def write() -> None:
        for turn in range(30):
            run(pool, "UPDATE interaction_summaries SET key_points = %s", "[]" if turn % 2 else '["p"]')

    def count() -> None:
        for _ in range(15):
            keeper_of(pool).recount(minimum_messages=3)

    threads = [threading.Thread(target=work) for work in (write, count, count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_exact(pool)
    keeper_of(pool).recount(minimum_messages=3)
    assert store_of(pool).figures(minimum_messages=3).days_counted_now == 0
    assert_exact(pool)


def test_the_ledgers_days_are_local(pool: ConnectionPool) -> None:
    """23:30 UTC is the next day in Berlin; both are one UTC hour apart from midnight."""
    for moment, cost in (("2026-01-05T22:59:59Z", 1), ("2026-01-05T23:00:00Z", 2)):
        run(
            pool,
            "INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens,"
            " output_tokens, cost_usd, duration_seconds, created_at) "
            " VALUES ('h', 't', 'm', 'p', 'live', 'ok', 1, 1, %s, 0, %s)",
            cost,
            moment,
        )
    before = store_of(pool).ledger()
    keeper_of(pool).recount(minimum_messages=3)
    assert store_of(pool).ledger() == before
    found = run(pool, "SELECT day::text, cost_usd::int FROM ledger_statistics ORDER BY day")
    assert found == [("2026-01-05", 1), ("2026-01-06", 2)]
