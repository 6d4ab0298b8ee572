"""Words of deleted messages are blanked after their time, wherever they are, and no import brings them back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.stages.archive import stage as archive
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, OLD_ENOUGH, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, line

DAYS = 30.0
SECRET = "the code is q7261z"
PARTS = [{"type": "text", "text": SECRET}]


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    rig = ArchiveRig(database_url)
    yield rig
    rig.close()


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    return line("c1", number, minute=number, text=text, **more)


def secret(**more: Any) -> dict[str, Any]:
    """A message with the words in its text, its parts and its metadata."""
    return said(2, SECRET, parts=PARTS, metadata={"draft": SECRET}, **more)


def blank(rig: ArchiveRig) -> int:
    return archive.blank_deleted(rig.archive_store, clock=PinnedClock(rig.now), after_days=DAYS)


def holding(rig: ArchiveRig) -> set[str]:
    """The tables that hold the words."""
    found = set[str]()
    for (table,) in rig.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'pkg'"):
        if rig.value(f"SELECT count(*) FROM {table} AS t WHERE position('q7261z' IN t::text) > 0"):
            found.add("archived_messages" if table.startswith("archived") else table)
    return found


def filled(rig: ArchiveRig, *, is_archived: bool) -> None:
    """A message in two versions, the second deleted at NOW."""
    rig.load([said(1, "hello"), secret(edited_at=None), said(3, "good night")], exported_at=NOW - timedelta(days=9))
    edited = {**secret(), "text": f"{SECRET}, or q7261z 3", "edited_at": (NOW - timedelta(days=8)).isoformat()}
    rig.load([edited], exported_at=NOW - timedelta(days=7))
    if is_archived:
        rig.summarise()
        rig.archive(JANUARY)
        assert holding(rig) == {"archived_messages", "message_revisions", "messages"}, "metadata stays in the row"
    rig.load([{**edited, "deleted": True}], exported_at=NOW)


@pytest.mark.parametrize("is_archived", [False, True])
def test_words_go_with_their_copies_and_versions_and_the_hashes_stay(rig: ArchiveRig, is_archived: bool) -> None:
    filled(rig, is_archived=is_archived)
    hashes = rig.rows("SELECT id, content_hash FROM messages ORDER BY id")
    versions = rig.rows(
        "SELECT message_id, content_hash, edited_at, is_deleted FROM message_revisions ORDER BY 2, 3, 4"
    )
    rig.now = NOW + timedelta(days=DAYS, seconds=-1)
    assert blank(rig) == 0
    assert holding(rig) >= {"messages", "message_revisions"}
    rig.now = NOW + timedelta(days=DAYS)
    assert blank(rig) == 1
    assert holding(rig) == set()
    assert rig.rows("SELECT id, content_hash FROM messages ORDER BY id") == hashes
    assert versions == rig.rows(
        "SELECT message_id, content_hash, edited_at, is_deleted FROM message_revisions ORDER BY 2, 3, 4"
    )
    before = rig.logical()
    assert blank(rig) == 0
    assert rig.logical() == before


@pytest.mark.parametrize("is_archived", [False, True])
def test_no_export_brings_them_back(rig: ArchiveRig, is_archived: bool) -> None:
    filled(rig, is_archived=is_archived)
    rig.now = NOW + timedelta(days=DAYS)
    blank(rig)
    before = rig.logical()
    edited = {**secret(), "text": f"{SECRET}, or q7261z 3", "edited_at": (NOW - timedelta(days=8)).isoformat()}
    unseen = {**secret(), "text": "or q7261z 4", "edited_at": (NOW - timedelta(days=6)).isoformat()}
    for again in ([secret()], [edited], [{**edited, "deleted": True}], [edited, {**edited, "deleted": True}]):
        report = rig.take(again, exported_at=rig.now)
        assert (report.counts.unchanged, report.counts.updated) == (len(again), 0)
        assert rig.logical() == before
    rig.take([unseen], exported_at=rig.now)
    assert holding(rig) == set(), "a version that nobody had seen comes without its words"
    other = {**edited, "text": "another q7261z", "deleted": True, "edited_at": (NOW - timedelta(days=1)).isoformat()}
    rig.take([other], exported_at=rig.now)
    assert blank(rig) == 1
    assert holding(rig) == set()


def test_the_archive_counts_what_it_holds_and_takes_no_blank_texts(rig: ArchiveRig) -> None:
    filled(rig, is_archived=True)
    rig.now = OLD_ENOUGH + timedelta(days=DAYS)
    assert blank(rig) == 1
    count = rig.rows(
        "SELECT count(*), coalesce(sum(octet_length(content) + coalesce(octet_length(parts::text), 0)), 0)"
        " FROM archived_messages"
    )
    assert rig.rows("SELECT message_count, content_bytes FROM archive_months") == count
    rig.build()
    rig.summarise()
    rig.archive(JANUARY)
    assert (holding(rig), blank(rig)) == (set(), 0)
    assert rig.value("SELECT count(*) FROM messages WHERE is_archived AND is_blanked") == 0
    rig.restore()
    assert rig.live() == {"1": "hello", "2": "", "3": "good night"}
    assert rig.archive(JANUARY)[0].mismatched == 0
