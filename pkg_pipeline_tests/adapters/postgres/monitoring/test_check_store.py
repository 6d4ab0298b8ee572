"""What the checks find in real tables: nothing in a sound memory, and each planted fault where it was planted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.monitoring.checks import PostgresCheckStore
from pkg_pipeline.memory.verdicts import Coverage, Found
from pkg_pipeline.stages.monitoring.verification import EVER, Question
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW, OLD, ScriptedLlm, SummaryRig

DAY = (OLD.date(), OLD.date())
NEXT_DAY = (OLD.date() + timedelta(days=1),) * 2
DUE = {"now": NOW, "due_after_seconds": 7 * 86_400, "minimum_messages": 3}


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    """Two dialogs of a day, one of the next, all summarised."""
    made = SummaryRig(database_url, tmp_path)
    made.say("anna")
    made.say("bob", senders=("Bob", "Me"))
    made.say("carl", at=OLD + timedelta(days=1), senders=("Carl", "Me"))
    made.load()
    made.summarize(ScriptedLlm())
    made.run(
        "INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, interaction_id, quote,"
        " message_ids) SELECT gen_random_uuid(), e.id, 'price', '300 EUR', 0.95, 'confirmed', m.interaction_id,"
        " '300 EUR', ARRAY[m.external_id] FROM entities e JOIN chats c ON c.external_id = 'anna'"
        " JOIN message_texts m ON m.chat_id = c.id AND m.content LIKE '%%300 EUR%%' WHERE e.name = 'Anna'"
    )
    yield made
    made.close()


@pytest.fixture
def store(rig: SummaryRig) -> PostgresCheckStore:
    return PostgresCheckStore(rig.connections, timezone="UTC")


def test_a_sound_memory_passes_every_check(rig: SummaryRig, store: PostgresCheckStore) -> None:
    assert store.coverage(EVER, **DUE) == Coverage(due=3, summarized=3, outdated=0)
    grounded = store.found("ungrounded", EVER)
    # an important message each, Anna also a fact
    assert (grounded.checked, grounded.total) == (4, 0)
    orphans = store.found("summary_orphans", EVER)
    assert (orphans.checked, orphans.total) == (1 + 3, 0)  # facts, summaries
    assert store.found("interaction_orphans", EVER).total == 0
    assert store.found("misfiled_days", EVER) == Found(3, {"on_another_day": 0})
    assert store.found("miscounted", EVER).total == store.found("misfiled_months", EVER).total == 0


FAULTS = [
    # what is planted, which check finds it, how often, whether it has a day
    (
        "UPDATE interaction_summaries SET important_messages ="
        " jsonb_set(important_messages, '{0,message_id}', '\"no-such\"')",
        "ungrounded",
        {"without_message": 1, "without_quote": 0},
    ),
    ("UPDATE entity_facts SET quote = 'we never said this'", "ungrounded", {"without_message": 0, "without_quote": 1}),
    ("UPDATE entity_facts SET message_ids = '{}'", "ungrounded", {"without_message": 1, "without_quote": 0}),
]


@pytest.mark.parametrize(("planted", "check", "wrong"), FAULTS)
def test_one_item_that_does_not_stand_is_found_on_its_day_and_on_no_other(
    rig: SummaryRig, store: PostgresCheckStore, planted: str, check: Question, wrong: dict[str, int]
) -> None:
    (interaction,) = rig.rows("SELECT id FROM interactions WHERE day = %s ORDER BY id LIMIT 1", OLD.date())[0]
    where = "AND" if "WHERE" in planted else "WHERE"
    rig.run(f"{planted} {where} interaction_id = %s", interaction)
    found = store.found(check, EVER)
    assert dict(found.wrong) == wrong
    assert found.examples == (str(interaction),)
    assert (found.first_day, found.last_day) == DAY
    assert store.found(check, DAY).total == 1
    assert store.found(check, NEXT_DAY).total == 0


def test_a_quote_that_differs_in_marks_alone_stands(rig: SummaryRig, store: PostgresCheckStore) -> None:
    """As at the gate: white space and typographic marks do not make it another one."""
    rig.run("UPDATE entity_facts SET quote = %s", "Agreed:  friday at noon")
    assert store.found("ungrounded", EVER).total == 0


def test_an_archived_text_is_read_in_the_archive_and_a_dropped_one_asked_no_more(
    rig: SummaryRig, store: PostgresCheckStore
) -> None:
    rig.run(
        "CREATE TABLE archived_2026_02 PARTITION OF archived_messages FOR VALUES FROM ('2026-02-01') TO ('2026-03-01')"
    )
    rig.run(
        "INSERT INTO archived_messages (month, message_id, chat_id, interaction_id, external_id, sent_at, content,"
        " content_hash)"
        " SELECT '2026-02-01', id, chat_id, interaction_id, external_id, sent_at, content, content_hash"
        " FROM message_texts"
    )
    rig.run("UPDATE messages SET content = '[archived]', is_archived = true, archived_month = '2026-02-01'")
    assert (store.found("ungrounded", EVER).checked, store.found("ungrounded", EVER).total) == (4, 0)
    assert store.found("misfiled_months", EVER) == Found(9, {"in_another_month": 0, "without_interaction": 0})
    rig.run("UPDATE interactions SET day = '2026-01-31' WHERE day = %s", OLD.date())
    moved = store.found("misfiled_months", EVER)
    assert (moved.wrong["in_another_month"], moved.first_day) == (6, date(2026, 2, 1))
    rig.run("DELETE FROM archived_messages")
    assert store.found("ungrounded", EVER).total == 0


def orphan_items(rig: SummaryRig) -> None:
    rig.run("DELETE FROM interactions WHERE day = %s", OLD.date() + timedelta(days=1))


def test_what_points_to_nothing_is_counted_by_kind(rig: SummaryRig, store: PostgresCheckStore) -> None:
    """One interaction of three goes, with its participants, which the database takes along."""
    orphan_items(rig)
    found = store.found("summary_orphans", EVER)
    assert dict(found.wrong) == {"orphaned_items": 0, "orphaned_facts": 0, "orphaned_summaries": 1}
    assert 1 <= len(found.examples) <= 5
    assert dict(store.found("interaction_orphans", EVER).wrong) == {"orphaned_messages": 3, "orphaned_belongings": 0}


def test_coverage_counts_what_is_due_and_nothing_younger(rig: SummaryRig, store: PostgresCheckStore) -> None:
    rig.say("late", at=NOW - timedelta(days=6))
    rig.say("new", at=OLD + timedelta(days=2), senders=("Dora", "Me"))
    rig.load()
    assert store.coverage(EVER, **DUE) == Coverage(due=4, summarized=3, outdated=0)
    assert store.coverage(DAY, **DUE) == Coverage(due=2, summarized=2, outdated=0)
    rig.run(
        "UPDATE interaction_summaries SET status = 'dirty', dirty_reason = 'edited' WHERE interaction_id IN"
        " (SELECT id FROM interactions WHERE day = %s)",
        OLD.date(),
    )
    assert store.coverage(EVER, **DUE) == Coverage(due=4, summarized=3, outdated=2)


@pytest.mark.parametrize(
    ("zone", "started_at", "day", "is_wrong"),
    [
        ("UTC", "2026-02-02T10:00Z", "2026-02-02", False),
        ("UTC", "2026-02-02T10:00Z", "2026-02-03", True),
        ("Europe/Berlin", "2026-02-02T23:30Z", "2026-02-03", False),  # 00:30 the next day
        ("America/New_York", "2026-02-02T04:59Z", "2026-02-01", False),  # 23:59 the day before
        ("Australia/Lord_Howe", "2026-04-04T13:15Z", "2026-04-05", False),  # 00:15 at +11
        ("Asia/Kolkata", "2026-02-02T18:29Z", "2026-02-03", True),  # 23:59 of the second
    ],
)
def test_an_interaction_belongs_to_the_local_day_of_its_start(
    rig: SummaryRig, zone: str, started_at: str, day: str, is_wrong: bool
) -> None:
    rig.run("UPDATE interactions SET started_at = %s, day = %s", datetime.fromisoformat(started_at), day)
    found = PostgresCheckStore(rig.connections, timezone=zone).found("misfiled_days", EVER)
    assert found.wrong == {"on_another_day": 3 if is_wrong else 0}


def test_totals_of_a_profile_are_those_of_a_recount(rig: SummaryRig, store: PostgresCheckStore) -> None:
    (work,) = [rig.memory.profiles]
    rig.memory.__dict__["llm"] = offline(rig)
    rig.run("UPDATE interactions SET started_at = started_at - interval '120 days'")
    rig.run("UPDATE interaction_participants SET started_at = started_at - interval '120 days'")
    (report,) = work.build_weeks([date(2026, 3, 1)], Billing("backfill"))
    assert report.profiled == 3
    assert store.found("miscounted", EVER) == Found(3, {"miscounted": 0})
    rig.run(
        "UPDATE entity_relationship_profiles SET total_messages = total_messages + 1 WHERE entity_id ="
        " (SELECT entity_id FROM entity_relationship_profiles ORDER BY 1 LIMIT 1)"
    )
    found = store.found("miscounted", EVER)
    assert (found.total, found.first_day) == (1, date(2026, 3, 1))
    assert store.found("miscounted", (date(2026, 3, 8),) * 2).checked == 0


def offline(rig: SummaryRig) -> Any:
    from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
    from pkg_pipeline.offline.llm import OfflineLlm

    return OfflineLlm(rig.memory.counter, OfflineEmbedder().embed)
