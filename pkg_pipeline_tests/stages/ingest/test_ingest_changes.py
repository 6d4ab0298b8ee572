"""What an edit, a deletion, a contradiction and a killed import do to messages and to what rests on them (P29, B10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.stages.ingest import stage as ingest
from pkg_pipeline.stages.ingest.records import ChatNames, IngestBatch, IngestCounts
from pkg_pipeline_tests.digest import digest
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, Rig, line
from pkg_pipeline_tests.stages.summaries.summary_rows import add_summary

LATER = NOW + timedelta(hours=1)
BATCH = 500


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def talk(**changed: Mapping[str, object]) -> list[dict[str, object]]:
    """Four messages of one interaction; ``m2={"text": …}`` changes the second."""
    lines = [line("c", number, minute=number, sender="ann" if number % 2 else "bob") for number in (1, 2, 3, 4)]
    return [{**one, **changed.get(f"m{one['message_id']}", {})} for one in lines]


def partitions(rig: Rig) -> list[str]:
    return [
        row[0]
        for row in rig.rows("SELECT DISTINCT partition_key FROM dirty_partitions WHERE asset LIKE 'interaction_s%%'")
    ]


def summarised(rig: Rig) -> UUID:
    """The talk imported, built, with a live summary whose decision rests on m2 and whose action item rests on m3."""
    rig.take(talk())
    rig.build()
    interaction = rig.value("SELECT id FROM interactions")
    add_summary(rig, interaction, fact_on="2")
    rig.rows("DELETE FROM dirty_partitions RETURNING id")
    return interaction


def test_an_edit_changes_text_and_hash_keeps_the_old_text_and_marks_summary_and_day(rig: Rig) -> None:
    interaction = summarised(rig)
    edited = {"text": "Changed to 700 EUR", "edited_at": (START + timedelta(hours=2)).isoformat()}
    report = rig.take(talk(m2=edited), exported_at=LATER)
    assert (report.counts.new, report.counts.updated, report.counts.unchanged, report.counts.deleted) == (0, 1, 3, 0)
    assert rig.rows(
        "SELECT content, content_hash, token_count, importance_score FROM messages WHERE external_id = '2'"
    ) == [("Changed to 700 EUR", content_hash("Changed to 700 EUR"), 5, pytest.approx(0.3))]
    assert rig.rows("SELECT content, is_deleted FROM message_revisions") == [("bob says 2", False)]
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "edited")]
    assert partitions(rig) == ["2026-01-10"]
    before = rig.value("SELECT input_hash FROM interactions")
    rig.build()
    assert rig.value("SELECT input_hash FROM interactions WHERE id = %s", interaction) != before


def test_a_deletion_withholds_at_once_what_rests_on_it_and_nothing_else(rig: Rig) -> None:
    summarised(rig)
    report = rig.take(talk(m2={"deleted": True}), exported_at=LATER)
    assert (report.counts.updated, report.counts.deleted, report.counts.unchanged) == (0, 1, 3)
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "deleted")]
    assert rig.rows("SELECT status FROM entity_facts") == [("candidate",)]
    rig.build()
    assert rig.value("SELECT message_count FROM interactions") == 3
    assert rig.rows("SELECT count(*) FROM interaction_participants WHERE message_count = 3") == [(2,)]


def test_an_edit_after_a_deletion_leaves_the_reason_deleted(rig: Rig) -> None:
    summarised(rig)
    rig.take(talk(m2={"deleted": True}), exported_at=LATER)
    rig.take(talk(m2={"deleted": True}, m3={"text": "other"}), exported_at=LATER + timedelta(hours=1))
    assert rig.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "deleted")]


def test_the_older_file_again_changes_nothing(rig: Rig) -> None:
    summarised(rig)
    edited = {"text": "Changed", "edited_at": (START + timedelta(hours=2)).isoformat()}
    rig.take(talk(m2=edited, m3={"deleted": True}), exported_at=LATER)
    rig.build()
    with rig.connection() as connection:
        before = digest(connection)
    report = rig.take(talk())
    assert (report.counts.unchanged, report.counts.updated, report.counts.deleted, report.counts.new) == (4, 0, 0, 0)
    assert rig.build().chats == 0, "nothing is to be done"
    with rig.connection() as connection:
        assert digest(connection) == before


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_without_edit_times_the_latest_export_stands_even_where_it_repeats_the_oldest(
    rig: Rig, order: tuple[int, ...]
) -> None:
    """X on Monday, Y on Tuesday, X again on Wednesday: that X was seen on Wednesday must not be forgotten."""
    for number in order:
        rig.take([line("c", 1, text="XYX"[number])], exported_at=NOW + timedelta(days=number))
    assert rig.rows("SELECT content FROM messages") == [("X",)]
    assert rig.rows("SELECT content FROM message_revisions") == [("Y",)]


def test_every_version_is_kept_for_the_past(rig: Rig) -> None:
    times = [START + timedelta(minutes=minute) for minute in (5, 6, 7)]
    for text, at in zip("ABA", times, strict=True):
        rig.take([line("c", 1, text=text, edited_at=at.isoformat())])
    assert rig.rows("SELECT content, edited_at FROM message_revisions ORDER BY 2") == [("A", times[0]), ("B", times[1])]
    assert rig.rows("SELECT content, edited_at FROM messages") == [("A", times[2])]


def test_a_repeated_line_is_unchanged_and_a_contradicting_one_is_an_earlier_version(rig: Rig) -> None:
    report = rig.take([line("c", 1, text="a"), line("c", 1, text="a"), line("c", 1, text="b")])
    assert (report.counts.new, report.counts.updated + report.counts.unchanged) == (1, 2)
    stands, earlier = sorted("ab", key=content_hash, reverse=True)
    assert rig.rows("SELECT content FROM messages") == [(stands,)]
    assert rig.rows("SELECT content FROM message_revisions") == [(earlier,)]


def test_when_it_was_said_and_when_it_came_in_are_two_times(rig: Rig) -> None:
    begin = datetime.now(UTC)
    rig.take([line("c", 1)])
    ((sent_at, imported_at),) = rig.rows("SELECT sent_at, imported_at FROM messages")
    assert sent_at == START
    assert begin - timedelta(seconds=5) <= imported_at <= datetime.now(UTC) + timedelta(seconds=5)
    rig.take([line("c", 1, text="other")], exported_at=LATER)
    assert rig.rows("SELECT imported_at FROM messages") == [(imported_at,)]


class DiesAfter(PostgresIngestStore):
    """A store whose process ends in the middle of an import: ``batches`` are written, then nothing any more."""

    def __init__(self, rig: Rig, batches: int) -> None:
        super().__init__(rig.pool)
        self._left = batches

    def write(self, batch: IngestBatch, *, exported_at: datetime) -> IngestCounts:
        if self._left == 0:
            raise KeyboardInterrupt
        self._left -= 1
        return super().write(batch, exported_at=exported_at)

    def name(self, *, chats: Mapping[UUID, ChatNames], entities: Mapping[UUID, tuple[datetime, str]]) -> None:
        raise AssertionError("not reached")


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_a_killed_import_run_again_ends_like_one_that_was_not(
    rig: Rig, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BATCH_MESSAGES", BATCH)
    count = 2 * BATCH + 10
    lines = [
        line(f"c{number % 7}", number, minute=number, sender=("me", "ann", "bob")[number % 2 + (number % 7 > 4)])
        for number in range(count)
    ]
    lines[-1]["is_self"] = True  # who I am comes last
    rig.take(lines)
    rig.build()
    with rig.connection() as connection:
        clean = digest(connection)
    rig.empty()
    with pytest.raises(KeyboardInterrupt):
        rig.take(lines, store=DiesAfter(rig, batches))
    assert rig.value("SELECT count(*) FROM messages") == batches * BATCH
    assert rig.rows("SELECT status FROM import_batches") == [("failed",)]
    rig.build()
    report = rig.take(lines)
    assert report.counts.new == count - batches * BATCH
    rig.build()
    with rig.connection() as connection:
        assert digest(connection) == clean
