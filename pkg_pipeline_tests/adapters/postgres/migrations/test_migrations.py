"""Every revision goes up and down on a database of its own, and the version names what is there."""

from datetime import date
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder
from pkg_pipeline_tests.stages.profiles.profile_rows import profile


def test_a_migrated_database_is_at_head(database_url: str) -> None:
    assert migrate.current(database_url) == migrate.head()


def test_revision_0001_goes_down_to_an_empty_schema_and_up_again(database_url: str) -> None:
    migrate.downgrade(database_url, "base")
    with engine.connect(database_url) as connection:
        left = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'pkg' ORDER BY 1"
        ).fetchall()
    assert left == [("alembic_version",)]
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()


def test_revision_0002_goes_down_and_up_and_puts_archived_texts_back(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now());
            INSERT INTO messages (id, chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing,
                external_id, content, content_hash, is_archived, archived_at, archived_month)
            VALUES (7, '00000000-0000-0000-0000-000000000001', '2020-01-05', now(), 1, 0, false, 'm', '[archived]', 'h',
                true, now(), '2020-01-01');
            CREATE TABLE archived_messages_2020_01 PARTITION OF archived_messages
                FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
            INSERT INTO archived_messages (month, message_id, chat_id, interaction_id, external_id, sent_at, content,
                content_hash)
            VALUES ('2020-01-01', 7, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002',
                'm', '2020-01-05', 'what was said', 'h')
            """
        )
        assert connection.execute("SELECT content FROM message_texts").fetchall() == [("what was said",)]
    migrate.downgrade(database_url, "0001")
    with engine.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT content, is_archived FROM messages").fetchall() == [("what was said", False)]
        assert connection.execute("SELECT to_regclass('pkg.archived_messages')").fetchone() == (None,)
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()


def test_revision_0003_goes_down_and_up_and_marks_every_day_that_is_there(database_url: str) -> None:
    migrate.downgrade(database_url, "0002")
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now());
            INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,
                language, first_external_id, input_hash)
            VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', '2020-01-05',
                '2020-01-05', '2020-01-05', 'completed', 3, 9, 'en', 'm', 'h');
            INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens,
                output_tokens, cost_usd, duration_seconds, created_at)
            VALUES ('h', 't', 'm', 'p', 'live', 'ok', 1, 1, 0, 0, '2020-02-01T10:59:59.5Z')
            """
        )
        assert connection.execute("SELECT to_regproc('pkg.count_days')").fetchone() == (None,)
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT day::text FROM day_statistics_marks").fetchall() == [("2020-01-05",)]
        found = connection.execute("SELECT hour::text FROM ledger_statistics_marks").fetchall()
        assert found == [("2020-02-01 10:00:00+00",)]


def test_revision_0004_goes_down_and_up_and_marks_every_day_as_not_searchable(database_url: str) -> None:
    migrate.downgrade(database_url, "0003")
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now());
            INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,
                language, first_external_id, input_hash)
            VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', '2020-01-05',
                '2020-01-05', '2020-01-05', 'completed', 3, 9, 'en', 'm', 'h');
            """
        )
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        found = connection.execute("SELECT asset, partition_key FROM dirty_partitions WHERE asset = 'memory_chunks'")
        assert found.fetchall() == [("memory_chunks", "2020-01-05")]


def test_revision_0005_goes_down_and_up_and_leaves_the_messages(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'thread', now());
            INSERT INTO messages (chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing,
                external_id, content, content_hash)
            VALUES ('00000000-0000-0000-0000-000000000001', now(), now(), 1, 0, false, 'm', 'hello', 'h');
            INSERT INTO conversation_sessions (id, policy, strategy)
            VALUES ('00000000-0000-0000-0000-000000000001', 'hysteresis', 'hybrid');
            INSERT INTO leases (kind, subject_id, token, holder, expires_at)
            VALUES ('session', '00000000-0000-0000-0000-000000000001', 1, 'me', now());
            """
        )
    migrate.downgrade(database_url, "0004")
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM conversation_sessions),"
            " (SELECT count(*) FROM leases)"
        )
        assert found.fetchone() == (1, 0, 0)


def test_revision_0006_goes_down_and_up_and_leaves_the_ledger(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens,
                output_tokens, cost_usd, duration_seconds)
            VALUES ('h', 't', 'm', 'p', 'live', 'unknown', 0, 0, 0.01, 1);
            INSERT INTO budget_reservations (day, lane, task, asked_task, usd, subject_kind, subject_id, request_hash,
                model, prompt_version, expires_at)
            VALUES (now(), 'live', 't', 't', 0.01, 'interaction', gen_random_uuid(), 'h', 'm', 'p', now());
            """
        )
    migrate.downgrade(database_url, "0005")
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM budget_reservations),"
            " (SELECT calls FROM unanswered_calls WHERE lane = 'live')"
        )
        assert found.fetchone() == (0, 1)


def test_revision_0007_goes_down_and_up_and_hides_what_was_deleted(database_url: str) -> None:
    shown = "SELECT external_id, content, parts FROM message_texts ORDER BY 1"
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'thread', now());
            INSERT INTO messages (chat_id, sent_at, exported_at, deleted_at, token_count, importance_score, is_outgoing,
                external_id, content, content_hash, parts)
            SELECT '00000000-0000-0000-0000-000000000001', now(), now(), CASE name WHEN 'gone' THEN now() END, 1, 0,
                false, name, 'hello', 'h', '[]'
            FROM unnest('{here,gone}'::text[]) AS g (name)
            """
        )
        assert connection.execute(shown).fetchall() == [("gone", "", None), ("here", "hello", [])]
    migrate.downgrade(database_url, "0006")
    with engine.connect(database_url) as connection:
        assert connection.execute(shown).fetchall() == [("gone", "hello", []), ("here", "hello", [])]
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        assert connection.execute(shown).fetchall() == [("gone", "", None), ("here", "hello", [])]
        assert connection.execute("SELECT bool_or(is_blanked) FROM messages").fetchone() == (False,)


def test_revision_0008_goes_down_and_up_and_knows_what_was_imported_before(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 'telegram', 'user:5', 'direct', now()),
                   ('00000000-0000-0000-0000-000000000002', 'jsonl', 'c', 'direct', now());
            INSERT INTO messages (chat_id, sent_at, exported_at, edited_at, token_count, importance_score, is_outgoing,
                external_id, content, content_hash)
            SELECT id, '2026-01-01Z', now(), CASE name WHEN '7' THEN '2026-02-01Z'::timestamptz END, 1, 0, false,
                name, 'x', 'h'
            FROM chats CROSS JOIN unnest('{-3,7,derived-0,12}'::text[]) AS g (name)
            """
        )
    migrate.downgrade(database_url, "0007")
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        assert connection.execute(
            "SELECT right(chat_id::text, 1), first_number, last_number, evidence_at = '2026-02-01Z', is_whole"
            " FROM chat_exports"
        ).fetchall() == [("1", -3, 12, True, False)]
        assert connection.execute("SELECT bool_or(is_missing) FROM messages").fetchone() == (False,)


def test_revision_0009_goes_down_and_up(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO unreported_work (asset, counts) VALUES ('messages', '{}')")
    migrate.downgrade(database_url, "0008")
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM unreported_work").fetchone() == (0,)


def test_revision_0010_goes_down_and_up_and_every_revision_has_the_comments_of_its_columns(database_url: str) -> None:
    migrate.downgrade(database_url, "0009")
    migrate.downgrade(database_url, "base")
    migrate.upgrade(database_url, "0001")
    with engine.connect(database_url) as connection:
        found = connection.execute("SELECT obj_description('pkg.messages'::regclass)").fetchone()
    assert found == ("One message in a chat, as imported.",)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        found = connection.execute(
            "SELECT col_description('pkg.messages'::regclass, attnum) FROM pg_attribute"
            " WHERE attrelid = 'pkg.messages'::regclass AND attname = 'is_blanked'"
        ).fetchone()
    assert found == ("whether the words of a deleted message are gone here as well",)


def test_revision_0011_goes_down_and_up(database_url: str) -> None:
    rules = """
        SELECT relname FROM pg_class WHERE relnamespace = 'pkg'::regnamespace AND relkind = 'v'
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'pkg'::regnamespace ORDER BY 1
    """
    with engine.connect(database_url) as connection:
        there = connection.execute(rules).fetchall()
    assert {("eligible_chats",), ("live_summaries",), ("take_leases",)} <= set(there)
    migrate.downgrade(database_url, "0010")
    with engine.connect(database_url) as connection:
        assert ("live_summaries",) not in connection.execute(rules).fetchall()
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(rules).fetchall() == there


def test_revision_0012_goes_down_and_up_and_an_open_item_lapses_with_the_days(database_url: str) -> None:
    migrate.downgrade(database_url, "0011")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT to_regclass('pkg.items'), to_regproc('pkg.item_status')").fetchone() == (
            None,
            None,
        )
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    cases = [
        ("action_item", "open", "2026-03-10", "2026-02-01Z", "open"),  # three weeks over, no more
        ("action_item", "open", "2026-03-09", "2026-02-01Z", "lapsed"),
        ("action_item", "open", "2026-02-28", "2026-03-20Z", "open"),  # spoken of within three weeks
        ("action_item", "open", None, "2026-03-15Z", "open"),
        ("action_item", "open", None, "2026-02-17Z", "open"),  # six weeks, no more
        ("action_item", "open", None, "2026-02-16Z", "lapsed"),
        ("action_item", "perhaps_done", "2025-01-01", "2025-01-01Z", "perhaps_done"),
        ("action_item", "done", "2025-01-01", "2025-01-01Z", "done"),
        ("decision", "open", None, "2020-01-01Z", "open"),  # in force, however old
    ]
    with engine.connect(database_url) as connection:
        for kind, status, due, last, becomes in cases:
            got = connection.execute(
                "SELECT item_status(%s, %s, %s::date, %s::timestamptz, '2026-03-31Z'::timestamptz, '2026-03-31'::date)",
                [kind, status, due, last],
            ).fetchone()
            assert got == (becomes,), (kind, status, due, last)


def test_revision_0013_goes_down_to_empty_columns_and_up_again(database_url: str) -> None:
    migrate.downgrade(database_url, "0012")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT count(decisions), count(action_items) FROM live_summaries").fetchone() == (
            0,
            0,
        )
        assert connection.execute("SELECT count(*) FROM summary_items").fetchone() == (0,)
        connection.execute("CREATE VIEW theirs AS SELECT decisions FROM live_summaries")
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()
    with engine.connect(database_url) as connection:
        gone = connection.execute("SELECT to_regclass('pkg.summary_items'), to_regclass('theirs')").fetchone()
        assert gone == (None, None)
        assert connection.execute("SELECT count(*) FROM archive_ready('2026-01-01', now(), now())").fetchone() == (0,)


def test_revision_0014_knows_more_words_and_goes_down_to_the_nearest(database_url: str) -> None:
    build = MemoryBuilder(database_url)
    for name, kind, often in (("Anna", "landlord", "ceased"), ("Bob", "friend", "biweekly")):
        build.person(name)
        profile(build, name, date(2026, 3, 1), "Short.", relationship_type=kind, frequency=often)
    build.close()
    migrate.downgrade(database_url, "0013")
    with engine.connect(database_url) as connection:
        found = connection.execute("SELECT relationship_type, frequency FROM entity_relationship_profiles").fetchall()
        assert sorted(found) == [("friend", "monthly"), ("vendor", "rare")]
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        connection.execute(
            "UPDATE entity_relationship_profiles SET relationship_type = 'unknown', frequency = 'ceased'"
        )
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE entity_relationship_profiles SET frequency = 'hourly'")


def test_revision_0015_goes_down_without_the_facts_that_have_no_place_there(database_url: str) -> None:
    with engine.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO entity_facts (id, about_name, fact_type, value, confidence, status, quote, message_ids)"
            " VALUES (gen_random_uuid(), 'Olga', 'phone', '+491512345678', 1, 'confirmed', 'q', '{1}')"
        )
    migrate.downgrade(database_url, "0014")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM entity_facts").fetchone() == (0,)
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()


def test_revision_0016_goes_down_to_where_all_with_enough_messages_are_summarised(database_url: str) -> None:
    with engine.connect(database_url) as connection:
        connection.execute("INSERT INTO installation (key, value) VALUES ('summary_min_tokens', '40')")
        assert connection.execute("SELECT least_summarised()").fetchone() == (40,)
    migrate.downgrade(database_url, "0015")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT * FROM count_days('{2026-01-01}', 3)").fetchall() == []
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT least_summarised()").fetchone() == (0,)


def test_revision_0017_goes_down_to_where_what_is_open_lapses_later(database_url: str) -> None:
    asked = "SELECT item_status('action_item', 'open', NULL, '2026-01-20Z', '2026-03-15Z'::timestamptz, '2026-03-15')"
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == ("lapsed",)
    migrate.downgrade(database_url, "0016")
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == ("open",)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == ("lapsed",)


def test_every_revision_has_a_test_that_names_it() -> None:
    here = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for revision in (migrate.FOLDER / "versions").glob("[0-9]*.py"):
        number = revision.name[:4]
        assert f"revision_{number}" in here, f"write test_revision_{number}_… in {Path(__file__).name}"
