"""Revisions 0018 to 0035: what was forgotten; what was edited, and not read again since; what was served lately; what a
person decided about facts, and about who is who; since when the memory knows what; what is on its way in batches.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest

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


def test_revision_0027_goes_down_to_where_each_account_is_a_person(database_url: str) -> None:
    people = "SELECT name FROM entities ORDER BY id"
    with engine.connect(database_url) as connection:
        made = [
            connection.execute(
                "INSERT INTO entities (id, name, name_at) VALUES (gen_random_uuid(), %s, now()) RETURNING id", (name,)
            ).fetchone()
            for name in ("Rita", "Rita")
        ]
        first, second = (row[0] for row in made if row)
        connection.execute(
            "INSERT INTO chats (id, source, external_id, kind, title_at) VALUES (%s, 'a', 'b', 'direct', now())",
            (first,),
        )
        connection.execute("INSERT INTO chat_members VALUES (%s, %s)", (first, second))
        connection.execute(
            "INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,"
            " is_outgoing, external_id, content, content_hash)"
            " VALUES (%s, %s, now(), now(), 1, 0, false, '1', 'a', 'h')",
            (first, second),
        )
        connection.execute("UPDATE entities SET merged_into = %s, own_name = 'R.' WHERE id = %s", (first, second))
        assert connection.execute("SELECT sender_entity_id FROM message_texts").fetchall() == [(first,)]
        assert connection.execute("SELECT sender_entity_id FROM live_messages").fetchall() == [(first,)]
        assert connection.execute("SELECT names_of(%s)", (first,)).fetchall() == [(["Rita", "R."],)]
    migrate.downgrade(database_url, "0025")
    with engine.connect(database_url) as connection:
        assert sorted(connection.execute(people).fetchall()) == [("R.",), ("Rita",)]
        assert connection.execute("SELECT sender_entity_id FROM live_texts").fetchall() == [(second,)]
        assert connection.execute("SELECT sender_entity_id FROM live_messages").fetchall() == [(second,)]
        marked = connection.execute("SELECT partition_key FROM dirty_partitions WHERE asset = 'interactions'")
        assert marked.fetchall() == [(str(first),)]
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM entities WHERE merged_into IS NULL").fetchone() == (2,)


def test_revision_0029_goes_down_to_where_nothing_is_sent_in_batches(database_url: str) -> None:
    there = "SELECT to_regclass('llm_batches') IS NULL, to_regclass('llm_batch_subjects') IS NULL"
    migrate.downgrade(database_url, "0025")
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (True, True)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (False, False)


def test_revision_0030_goes_down_to_where_only_the_service_counts(database_url: str) -> None:
    there = (
        "SELECT to_regproc('token_calibration') IS NULL, to_regproc('participants_known') IS NULL, NOT EXISTS ("
        "SELECT FROM information_schema.columns WHERE table_name = 'llm_calls' AND column_name = 'counted_tokens')"
    )
    migrate.downgrade(database_url, "0029")
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (True, False, True)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (False, False, False)


def test_revision_0031_forgets_what_tells_a_language(database_url: str) -> None:
    there = (
        "SELECT count(*) FROM information_schema.columns"
        " WHERE table_name = 'interactions' AND column_name = 'language_shares'"
    )
    migrate.downgrade(database_url, "0030")
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (0,)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(there).fetchone() == (1,)


def test_revision_0032_lets_what_was_due_lapse_sooner(database_url: str) -> None:
    status = "SELECT item_status('action_item', 'open', '2026-03-01', '2026-02-01', '2026-03-20', '2026-03-20')"
    migrate.downgrade(database_url, "0031")
    with engine.connect(database_url) as connection:
        assert connection.execute(status).fetchone() == ("lapsed",)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(status).fetchone() == ("open",)


def test_revision_0035_keeps_what_is_written_over_and_names_what_was_not_kept(database_url: str) -> None:
    fact = (
        "INSERT INTO entity_facts (entity_id, id, fact_type, value, confidence, status, quote, message_ids, known_from)"
        " VALUES (%s, %s, 'phone', %s, 1, 'confirmed', '', '{}', %s)"
    )
    olga, ids = uuid4(), [uuid4() for _ in range(3)]
    march, april, may = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5))
    migrate.downgrade(database_url, "0034")
    with engine.connect(database_url) as connection:
        connection.execute("INSERT INTO entities (id, name, name_at) VALUES (%s, 'Olga', now())", [olga])
        connection.execute(fact, [olga, ids[0], "1", march])
        connection.execute(
            "INSERT INTO fact_verdicts (fact_id, entity_id, fact_type, said, action, message_ids, decided_at)"
            " VALUES (%s, %s, 'phone', '1', 'confirm', '{}', %s)",
            [ids[0], olga, april],
        )
        connection.commit()
    migrate.upgrade(database_url)
    known = "SELECT value FROM facts_as_of(%s, %s) ORDER BY value"
    with engine.connect(database_url) as connection:
        lost = connection.execute("SELECT subject_id, known_from, known_to, was FROM past_versions").fetchall()
        assert lost == [(ids[0], march, april, None)]
        assert connection.execute(known, [may, march]).fetchall() == []
        connection.execute(fact, [olga, ids[1], "2", march])
        connection.execute("SELECT set_config('pkg.now', %s, true)", [april.isoformat()])
        connection.execute("UPDATE entity_facts SET value = '3' WHERE id = %s", [ids[1]])
        connection.execute("UPDATE entities SET name = 'Olga P.' WHERE id = %s", [olga])
        assert connection.execute(known, [may, march]).fetchall() == [("2",)]
        assert connection.execute(known, [may, april]).fetchall() == [("1",), ("3",)]
        names = "SELECT was ->> 'name' FROM past_versions WHERE kind = 'entity'"
        assert connection.execute(names).fetchall() == [("Olga",)]
        connection.commit()
    migrate.downgrade(database_url, "0034")
    with engine.connect(database_url) as connection:
        assert connection.execute(known, [may, may]).fetchall() == [("1",), ("3",)]
        assert connection.execute("SELECT to_regclass('past_versions')").fetchone() == (None,)


def test_revision_0034_lets_decisions_run_their_course(database_url: str) -> None:
    cases = [
        ("decision", "open", None, "2026-03-30", "lapsed"),
        ("decision", "open", None, "2026-03-31", "open"),  # of use that day still
        ("decision", "open", "2026-04-02", "2026-03-30", "open"),  # it speaks of a day to come
        ("decision", "open", "2026-03-02", "2026-03-30", "lapsed"),
        ("decision", "open", "2026-03-02", None, "open"),  # nobody estimated it
        ("decision", "superseded", None, "2026-03-01", "superseded"),
        ("action_item", "open", "2026-03-10", "2026-03-01", "open"),
        ("action_item", "open", "2026-03-09", None, "lapsed"),
    ]
    asked = (
        "SELECT item_status_until(%s, %s, %s::date, %s::date, '2026-02-01Z'::timestamptz, '2026-03-31Z'::timestamptz,"
        " '2026-03-31'::date)"
    )
    with engine.connect(database_url) as connection:
        for *given, becomes in cases:
            assert connection.execute(asked, given).fetchone() == (becomes,), given
    there = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'items' AND column_name = 'holds_until'"
    for step, count in (
        (lambda: migrate.downgrade(database_url, "0033"), 0),
        (lambda: migrate.upgrade(database_url), 1),
    ):
        step()
        with engine.connect(database_url) as connection:
            assert connection.execute(there).fetchone() == (count,)


def test_revision_0033_keeps_codes_single_by_the_index_that_serves_them(database_url: str) -> None:
    indexes = "SELECT array_agg(indexname::text ORDER BY indexname) FROM pg_indexes WHERE tablename = 'chunk_codes'"
    code = (
        "INSERT INTO chunk_codes (space_id, scope, chunk_no, at, code)"
        " VALUES (1, gen_random_uuid(), 1, now(), repeat('0', 1024)::bit(1024))"
    )
    with engine.connect(database_url) as connection:
        connection.execute("INSERT INTO embedding_spaces (model, state) VALUES ('m', 'active')")
        connection.execute(code)
        assert connection.execute(indexes).fetchone() == (["chunk_codes_scan"],)
        connection.commit()
    migrate.downgrade(database_url, "0032")
    with engine.connect(database_url) as connection:
        assert connection.execute(indexes).fetchone() == (["chunk_codes_pkey", "chunk_codes_scan"],)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(indexes).fetchone() == (["chunk_codes_scan"],)
        assert connection.execute("SELECT count(*) FROM chunk_codes").fetchone() == (1,)
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO chunk_codes SELECT * FROM chunk_codes")


def test_revision_0036_goes_down_to_where_each_message_names_its_interaction(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now());
            INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,
                language, first_external_id, input_hash)
            SELECT ('00000000-0000-0000-0000-00000000000' || day)::uuid, '00000000-0000-0000-0000-000000000001',
                '2020-01-01', ('2020-01-0' || day)::timestamptz, ('2020-01-0' || day || ' 10:00')::timestamptz,
                'completed', 3, 9, 'en', 'm', 'h'
            FROM generate_series(2, 3) AS g (day);
            INSERT INTO messages (chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing, kind,
                external_id, content, content_hash)
            SELECT '00000000-0000-0000-0000-000000000001', at, now(), 1, 0, false, kind, at::text || kind, 'hello', 'h'
            FROM unnest('{2020-01-01, 2020-01-02, 2020-01-02 10:00, 2020-01-02 11:00, 2020-01-03 01:00}'::timestamptz[])
                AS g (at), unnest('{message,service}'::text[]) AS k (kind)
            """
        )
    asked = "SELECT left(kind, 1) || right(interaction_id::text, 1) FROM {} ORDER BY kind, sent_at"
    lies = [(None,), ("m2",), ("m2",), (None,), ("m3",), *[(None,)] * 5]
    with engine.connect(database_url) as connection:
        assert connection.execute(asked.format("message_texts")).fetchall() == lies
        assert connection.execute(asked.format("live_messages")).fetchall() == lies[:5]
    migrate.downgrade(database_url, "0035")
    with engine.connect(database_url) as connection:
        for name in ("messages", "message_texts"):
            assert connection.execute(asked.format(name)).fetchall() == lies
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(asked.format("live_messages")).fetchall() == lies[:5]
