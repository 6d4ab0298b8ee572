"""Revisions 0018 to 0026: what was forgotten; what was edited, and not read again since; what was served lately; what a
person decided about facts; since when the memory knows what.
"""

from __future__ import annotations

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate


def test_revision_0018_goes_down_to_where_nothing_is_kept_out(database_url: str) -> None:
    salt = "SELECT length(value) FROM installation WHERE key = 'erasure_salt'"
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() == (64,)
    migrate.downgrade(database_url, "0017")
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() is None
        assert connection.execute("SELECT to_regclass('tombstones')").fetchone() == (None,)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() == (64,)


def test_revision_0019_goes_down_to_where_nobody_asks_what_was_edited_since(database_url: str) -> None:
    asked = "SELECT edited_since(gen_random_uuid(), '{1}', now()), talk_edited_since(gen_random_uuid(), now())"
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == (False, False)
    migrate.downgrade(database_url, "0018")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT to_regproc('edited_since')").fetchone() == (None,)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == (False, False)


def test_revision_0020_goes_down_to_where_nobody_knows_what_awaits_a_reading(database_url: str) -> None:
    asked = "SELECT awaits_reading(gen_random_uuid(), '{1}'), item_is_stale(gen_random_uuid())"
    column = "SELECT attname FROM pg_attribute WHERE attrelid = 'messages'::regclass AND attname = 'awaits_reading'"
    with engine.connect(database_url) as connection:
        assert connection.execute(asked).fetchone() == (False, False)
    migrate.downgrade(database_url, "0019")
    with engine.connect(database_url) as connection:
        assert connection.execute(column).fetchone() is None
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(column).fetchone() == ("awaits_reading",)


def test_revision_0021_goes_down_to_where_what_was_served_has_no_index(database_url: str) -> None:
    indexes = "SELECT to_regclass('context_receipts_served') IS NULL, to_regclass('served_windows_served') IS NULL"
    migrate.downgrade(database_url, "0020")
    with engine.connect(database_url) as connection:
        assert connection.execute(indexes).fetchone() == (True, True)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(indexes).fetchone() == (False, False)


def test_revision_0023_goes_down_to_where_facts_stand_as_they_were_read(database_url: str) -> None:
    with engine.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO entity_facts (id, fact_type, value, read_value, confidence, status, decided_by,"
            " interaction_id, quote, message_ids) SELECT gen_random_uuid(), 'position', value, read_value, 1,"
            " 'confirmed', 'person', talk, '', '{}'"
            " FROM (VALUES ('Chief', 'chef', gen_random_uuid()), ('Added', NULL, NULL)) AS v (value, read_value, talk)"
        )
        connection.commit()
    migrate.downgrade(database_url, "0021")
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT value FROM entity_facts").fetchall() == [("chef",)]
        assert connection.execute("SELECT to_regclass('fact_verdicts'), to_regproc('rests_on_deleted')").fetchone() == (
            None,
            None,
        )
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT value, decided_by FROM entity_facts").fetchall() == [("chef", "memory")]


def test_revision_0025_goes_down_to_where_a_message_is_all_its_own_words(database_url: str) -> None:
    there = "SELECT to_regclass('served_lines') IS NULL, to_regproc('own_words') IS NULL"
    migrate.downgrade(database_url, "0023")
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (True, True)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (False, False)
        said = connection.execute("SELECT own_words('ab cd ef', '{0,2,6,8}'), own_words('ab', '{}')").fetchone()
    assert said == ("ab\nef", "")


def test_revision_0026_goes_down_to_where_nobody_knows_since_when_it_is_known(database_url: str) -> None:
    talk = "10000000-0000-0000-0000-000000000000"
    with engine.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
            " language, summary, message_ids, message_count, source_token_count, summary_token_count,"
            " compression_ratio, cost_usd, generation_seconds, generated_at, updated_at)"
            f" SELECT gen_random_uuid(), '{talk}', status, 'h', 'p', 'm', 'en', 's', '{{}}', 1, 1, 1, 1, 0, 0,"
            " '2026-01-01Z', '2026-02-01Z' FROM unnest('{completed,superseded}'::text[]) AS g (status)"
        )
        connection.commit()
    migrate.downgrade(database_url, "0025")
    with engine.connect(database_url) as connection:
        gone = "SELECT to_regproc('known_now'), to_regproc('summaries_as_of'), to_regproc('keep_known_to')"
        assert connection.execute(gone).fetchone() == (None, None, None)
        asked = "SELECT edited_since(gen_random_uuid(), '{1}', now())"
        assert connection.execute(asked).fetchone() == (False,)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        kept = (
            "SELECT status, known_from = '2026-01-01Z', known_to = '2026-02-01Z' FROM interaction_summaries ORDER BY 1"
        )
        assert connection.execute(kept).fetchall() == [("completed", True, None), ("superseded", True, True)]
        connection.execute("SET pkg.now = '2025-05-05T00:00:00+00:00'")
        assert connection.execute("SELECT known_now() = '2025-05-05Z'").fetchone() == (True,)
