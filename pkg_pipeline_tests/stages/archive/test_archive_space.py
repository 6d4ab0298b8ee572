"""What the archive costs on disk and in index pages: space is used again, due months are a few probes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline_tests.stages.archive.archive_rig import ArchiveRig

MESSAGES = 8_000
CHATS = 40
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "the",
    "plan",
    "for",
    "next",
    "week",
    "is",
    "to",
    "walk",
    "along",
    "the",
    "river",
    "and",
    "look",
    "at",
    "boats",
)


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def month(number: int) -> list[dict[str, Any]]:
    """8,000 messages of 11 days in 40 chats, 1 to 30 words each."""
    chance = random.Random(number)
    begin = FIRST + timedelta(days=31 * number)
    return [
        {
            "chat_id": f"c{index % CHATS}",
            "message_id": f"{number}-{index}",
            "sender_id": f"{('ann', 'bob')[index // CHATS % 2]}{index % CHATS}",
            "sent_at": (begin + timedelta(minutes=index // CHATS * 77)).isoformat(),
            "text": " ".join(chance.choices(WORDS, k=chance.randrange(1, 31))),
        }
        for index in range(MESSAGES)
    ]


def test_the_next_month_goes_where_the_last_one_was(rig: ArchiveRig) -> None:
    """Nobody else vacuums here, nor looks (``databases.UNSAFE``): what an import of equal size writes over was freed by
    the archive's own run.
    """
    heap = "SELECT pg_relation_size('messages', 'main')"
    assert rig.value("SHOW autovacuum") == "off"
    rig.load(month(0), exported_at=FIRST + timedelta(days=31))
    rig.summarise()
    rig.now = FIRST + timedelta(days=31 + 181)
    (report,) = rig.archive()
    assert report.messages > 0.95 * MESSAGES
    before = rig.value(heap)
    rig.take(month(1), exported_at=FIRST + timedelta(days=62))
    assert rig.value(heap) < 1.2 * before  # the share of a page that is kept for what is written over
    # no more than the rows that stay for good
    rig.build()
    rig.summarise()
    rig.now += timedelta(days=31)
    rig.archive()
    stays = rig.value("SELECT sum(pg_column_size(m.*)) FROM messages m WHERE archived_month = '2026-02-01'")
    assert rig.value(heap) < before + 1.4 * stays


def test_archived_rows_are_given_back_to_the_disk_by_compact(rig: ArchiveRig) -> None:
    rig.load(month(0)[:4_000], exported_at=FIRST + timedelta(days=31))
    rig.summarise()
    rig.now = FIRST + timedelta(days=31 + 181)
    rig.archive()
    texts = rig.texts()
    before, after = rig.archive_store.compact()
    assert after < 0.75 * before
    assert rig.texts() == texts


def test_due_months_are_a_few_probes_of_an_index_however_many_interactions_there_are(rig: ArchiveRig) -> None:
    """100,000 interactions of ten years, a third of the months looked at already."""
    rig.run(
        "INSERT INTO chats (id, source, external_id, kind, title_at)"
        " VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now())"
    )
    rig.run(
        "INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,"
        " language, first_external_id, input_hash)"
        " SELECT gen_random_uuid(), '00000000-0000-0000-0000-000000000001', at::date, at, at + interval '1 hour',"
        " 'completed', 5, 50, 'en', 'm', 'h' FROM (SELECT timestamptz '2016-01-05Z' + n * interval '52 minutes' AS at"
        " FROM generate_series(1, 100000) n) moments"
    )
    rig.run(
        "INSERT INTO partition_states (asset, partition_key, processed_version)"
        " SELECT 'archived_messages', to_char(m, 'YYYY-MM-01'), 0"
        " FROM generate_series(timestamp '2016-01-01', '2019-04-01', '1 month') m"
    )
    rig.run("ANALYZE interactions")
    rig.now = datetime(2025, 7, 20, tzinfo=UTC)
    found = rig.due()
    assert (found[0], found[-1], len(found)) == (date(2019, 5, 1), date(2025, 1, 1), 69)
    with rig.connection() as connection:
        plan = connection.execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query("archive", "unattempted"),
            {"ended_before": rig.now - timedelta(days=180)},
        ).fetchone()
    assert plan is not None
    (explained,) = plan[0]
    assert "Seq Scan" not in str(explained)
    # two probes a month of ten years, each down one path of the tree; the whole table has over 1,500 pages
    assert explained["Plan"]["Shared Hit Blocks"] + explained["Plan"]["Shared Read Blocks"] < 1_200
