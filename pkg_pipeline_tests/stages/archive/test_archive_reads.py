"""Reads that reach old messages see live and archive together: contexts, inputs of summaries (P9, P33)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.reads.context import ContextRequest, entity_context
from pkg_pipeline.wiring.contexts import context_settings
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import START, line

SAID = ("Shall we walk along the river?", "Yes, with the dogs", "I will bring the red one")


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    made.load(
        [
            line("c1", number, minute=number, sender=("ann", "bob")[number % 2], text=text, chat_kind="direct")
            for number, text in enumerate(SAID)
        ]
    )
    made.take(
        [line("c1", 1, minute=1, sender="bob", text="Yes, with dogs and cats", edited_at="2026-02-01T00:00:00Z")],
    )
    made.build()
    made.summarise()
    yield made
    made.close()


def context(rig: ArchiveRig, as_of: datetime) -> str:
    reads = PostgresReadStore(rig.pool, zone=ZoneInfo("UTC"))
    entity = rig.value("SELECT id FROM entities WHERE name = 'Bob'")
    settings = context_settings(Settings(home="/nowhere"))  # type: ignore[arg-type]
    request = ContextRequest(entity_id=entity, now=rig.now, as_of=as_of, max_tokens=None)
    return entity_context(reads, rig.counter, request, settings=settings, receipts=None).block.text


@pytest.mark.parametrize("later", [timedelta(hours=1), timedelta(days=25)])
def test_an_old_context_is_the_same_before_and_after(rig: ArchiveRig, later: timedelta) -> None:
    """One day on it is hot, with the version of then; weeks on, unsummarised, its last words stand in warm (P33)."""
    if later > timedelta(days=7):
        rig.run("UPDATE interaction_summaries SET dirty_reason = 'deleted', status = 'dirty'")
    before = context(rig, START + later)
    assert "river" in before
    rig.run("UPDATE interaction_summaries SET dirty_reason = NULL, status = 'completed'")
    assert rig.archive(JANUARY)[0].messages == 3
    if later > timedelta(days=7):
        rig.run("UPDATE interaction_summaries SET dirty_reason = 'deleted', status = 'dirty'")
    assert context(rig, START + later) == before
    assert "[archived]" not in before
    assert ("with the dogs" in before) == (later < timedelta(days=20))


def test_a_summary_made_anew_reads_the_archived_texts(rig: ArchiveRig) -> None:
    rig.archive(JANUARY)
    ids, chats, started, ended = zip(
        *rig.rows("SELECT id, chat_id, started_at, ended_at FROM interactions"), strict=True
    )
    asked = {"id": list(ids), "chat_id": list(chats), "started_at": list(started), "ended_at": list(ended)}
    with rig.connection() as connection:
        found = connection.execute(query("summaries", "messages"), asked).fetchall()
    assert [row[4] for row in found] == [SAID[0], "Yes, with dogs and cats", SAID[2]]


def test_a_context_of_today_says_the_same_before_and_after(rig: ArchiveRig) -> None:
    """A short history stands there whole, wherever its words are kept."""
    before = context(rig, rig.now)
    assert rig.archive(JANUARY)[0].messages == 3
    assert context(rig, rig.now) == before
    assert "[archived]" not in before
