"""A deletion withholds what rests on the message wherever that is by now, and says when by the memory's clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.stages import deleted_words as words
from pkg_pipeline_tests.stages.item_builder import ItemBuilder


def test_what_was_made_of_a_message_that_moved_since_is_withheld(database_url: str, tmp_path: Path) -> None:
    """Summarised with one conversation, then stated to be of another day, then deleted: no run in between."""
    lines = [words.line(number, sender, text) for number, (sender, text) in enumerate(words.SAID, 1)]
    with words.opened(database_url, tmp_path, "2025-01-25T12:00:00+00:00") as memory:
        words.take(memory, lines, written="2025-01-20T00:00:00+00:00", folder=tmp_path / "exports")
        words.work(memory)
    with psycopg.connect(database_url, options="-c search_path=pkg,public") as connection:
        connection.execute(
            "INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, interaction_id, quote,"
            " message_ids) SELECT gen_random_uuid(), p.entity_id, 'account', 'v', 1, 'confirmed', p.interaction_id,"
            " 'q', ARRAY[%(gone)s] FROM interaction_participants p WHERE p.role = 'other'",
            {"gone": words.GONE},
        )
    moved = {**lines[1], "sent_at": "2025-01-15T10:02:00+00:00"}
    with words.opened(database_url, tmp_path, "2025-02-01T12:00:00+00:00") as memory:
        words.take(memory, [moved], written="2025-01-31T00:00:00+00:00", folder=tmp_path / "exports")
        memory.build_interactions()
        assert counts(database_url) == (2, 0, 1)
        gone = {**moved, "deleted": True}
        words.take(memory, [gone], written="2025-02-01T00:00:00+00:00", folder=tmp_path / "exports")
        assert counts(database_url) == (2, 1, 0)
        memory.summarize((date(2025, 1, 1), date(2025, 1, 31)), Billing("backfill"))
        assert counts(database_url)[1] == 0


def test_a_deletion_is_dated_by_the_memorys_clock(database_url: str, tmp_path: Path) -> None:
    words.fill(database_url, tmp_path)
    words.delete(database_url, tmp_path)
    words.delete(database_url, tmp_path, now="2025-03-09T12:00:00+00:00")
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT DISTINCT deleted_at FROM pkg.messages WHERE deleted_at IS NOT NULL"
        ).fetchall()
    assert found == [(datetime(2025, 3, 1, 12, tzinfo=UTC),)]


def counts(url: str) -> tuple[Any, ...]:
    """Interactions, summaries that are withheld, facts that are served."""
    with psycopg.connect(url, options="-c search_path=pkg,public") as connection:
        found = connection.execute(
            "SELECT (SELECT count(*) FROM interactions), (SELECT count(*) FROM interaction_summaries"
            " WHERE status = 'dirty' AND dirty_reason = 'deleted'), (SELECT count(*) FROM entity_facts"
            " WHERE status = 'confirmed' AND value = 'v')"
        ).fetchone()
    assert found is not None
    return found


def test_items_that_rest_on_a_deleted_message_are_withheld_at_once(database_url: str, tmp_path: Path) -> None:
    """One by its opening; another keeps its history without the state that the message said."""
    words.fill(database_url, tmp_path)
    with psycopg.connect(database_url, autocommit=True, options="-c search_path=pkg,public") as connection:
        build = ItemBuilder(connection)
        rows = connection.execute("SELECT i.id, i.ended_at FROM interactions i ORDER BY i.ended_at").fetchall()
        interaction, at = rows[0]
        opened = build.action(interaction, "opened by it", about=[], message_ids=[words.GONE])
        closed = build.action(interaction, "closed by it", about=[], message_ids=["other"])
        ids = {"message_ids": [words.GONE], "interaction_id": interaction}
        build.state(closed, "perhaps_done", at + timedelta(minutes=1), **ids)
        build.state(closed, "reopened", at + timedelta(minutes=2), message_ids=["other"])
        words.delete(database_url, tmp_path)
        hidden = connection.execute("SELECT id FROM items WHERE is_withheld").fetchall()
        states = connection.execute("SELECT item_id, place FROM item_states WHERE is_withheld ORDER BY 2").fetchall()
    assert {opened, closed} & {key for (key,) in hidden} == {opened}
    assert [row for row in states if row[0] in (opened, closed)] == [(opened, 0), (closed, 1)]
