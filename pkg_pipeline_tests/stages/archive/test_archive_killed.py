"""Killed with SIGKILL anywhere, run beside others, or in the middle of an import: the archive ends the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.stages.archive.stage import age_of
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, ArchiveRig
from pkg_pipeline_tests.stages.archive.archive_worker import PLACES
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.ingest.import_rig import line

DAY = 24 * 60


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def talk(rig: ArchiveRig, *, conversations: int = 4, chat: str = "c1") -> None:
    rig.load(
        [
            line(
                chat, f"{chat}-{day}-{number}", minute=day * DAY + number, text=f"{chat} {day} {number}", parts=[number]
            )
            for day in range(conversations)
            for number in range(3)
        ]
    )
    rig.summarise()


def killed_at(rig: ArchiveRig, kind: str, point: str) -> None:
    killed("archive.archive_worker", rig.url, rig.now.isoformat(), kind, point)


def moved_in(found: dict[str, list[tuple[Any, ...]]]) -> int:
    return sum(row[5] for row in found["messages"])


@pytest.mark.parametrize("point", PLACES["archive"])
def test_archiving_killed_anywhere_goes_on_where_it_was(rig: ArchiveRig, point: str) -> None:
    talk(rig)
    rig.archive()
    undisturbed = rig.logical()
    assert moved_in(undisturbed) == 12
    rig.restore()
    rig.run("TRUNCATE archive_holds, archive_months, partition_states, dirty_partitions")
    killed_at(rig, "archive", point)
    for key, text in rig.rows("SELECT external_id, content FROM message_texts"):
        assert text == key.replace("-", " "), "no reader misses a text at any moment"
    rig.archive()
    assert rig.logical() == undisturbed
    assert rig.due() == []


@pytest.mark.parametrize("point", PLACES["restore"])
def test_restoring_killed_anywhere_goes_on_where_it_was(rig: ArchiveRig, point: str) -> None:
    talk(rig)
    rig.archive()
    rig.restore()
    undisturbed = rig.logical()
    assert moved_in(undisturbed) == 0
    rig.run("TRUNCATE archive_holds, archive_months, partition_states, dirty_partitions")
    rig.archive()
    killed_at(rig, "restore", point)
    for key, text in rig.rows("SELECT external_id, content FROM message_texts"):
        assert text == key.replace("-", " "), "no reader misses a text at any moment"
    rig.restore()
    assert rig.logical() == undisturbed


def test_archivers_beside_one_another_move_each_text_once(rig: ArchiveRig) -> None:
    for chat in ("c1", "c2", "c3"):
        talk(rig, chat=chat, conversations=8)
    together = threading.Barrier(4)

    def work(_: int) -> int:
        together.wait()
        return sum(report.messages for report in rig.archive(JANUARY))

    with ThreadPoolExecutor(4) as workers:
        moved = list(workers.map(work, range(4)))
    assert sum(moved) == 72
    assert rig.value("SELECT count(*) FROM archived_messages") == 72
    assert rig.value("SELECT message_count FROM archive_months") == 72
    assert set(rig.live().values()) == {"[archived]"}


def test_archiving_restoring_and_importing_together_lose_nothing(rig: ArchiveRig) -> None:
    talk(rig, conversations=10)
    before = rig.rows("SELECT external_id, content, parts::text FROM message_texts ORDER BY 1")
    said = [
        line("c1", f"c1-{day}-{number}", minute=day * DAY + number, text=f"c1 {day} {number}", parts=[number])
        for day in range(10)
        for number in range(3)
    ]
    together = threading.Barrier(3)

    def archive() -> None:
        together.wait()
        for _ in range(4):
            rig.run("TRUNCATE archive_holds")
            rig.archive(JANUARY)

    def restore() -> None:
        together.wait()
        for _ in range(4):
            rig.restore()

    def take() -> None:
        together.wait()
        for _ in range(4):
            rig.take(said)

    with ThreadPoolExecutor(3) as workers:
        for done in [workers.submit(work) for work in (archive, restore, take)]:
            done.result()
    assert rig.rows("SELECT external_id, content, parts::text FROM message_texts ORDER BY 1") == before
    kept = rig.value("SELECT count(*) FROM archived_messages")
    assert rig.value("SELECT count(*) FROM messages WHERE is_archived") == kept
    assert rig.rows("SELECT coalesce(sum(message_count), 0) FROM archive_months") == [(kept,)]


def test_a_text_that_is_edited_while_its_batch_waits_is_not_archived_in_its_old_form(rig: ArchiveRig) -> None:
    """The archiver chose its batch; the edit commits first, under the chat's lock; what moves is looked at again."""
    talk(rig, conversations=1)
    store, aged = rig.archive_store, age_of(rig.deps().clock, rig.archive_params())
    chosen = store.ready(JANUARY, aged)
    rig.take([line("c1", "c1-0-1", minute=1, text="edited", edited_at="2026-02-01T00:00:00Z")])
    assert store.move(JANUARY, chosen, aged).messages == 0
    assert rig.live()["c1-0-1"] == "edited"


def test_a_new_month_is_made_once_by_however_many(rig: ArchiveRig) -> None:
    """One holds the making of partitions; the other waits for it and finds the table."""
    talk(rig, conversations=1)
    talk(rig, chat="c2", conversations=1)
    with engine.connect(rig.url) as first:
        first.execute("SELECT pg_advisory_xact_lock(hashtextextended('archive partitions', 3))")
        with ThreadPoolExecutor(2) as workers:
            both = [workers.submit(rig.archive, JANUARY) for _ in range(2)]
            first.commit()
            assert sum(report.messages for done in both for report in done.result()) == 6
    assert rig.rows("SELECT relid::regclass::text FROM pg_partition_tree('archived_messages') WHERE isleaf") == [
        ("archived_messages_2026_01",)
    ]
