"""Late messages join, extend and split interactions; what was known stays, days are marked (P11, P29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from pkg_pipeline.memory.records import ParsedChat, ParsedMessage
from pkg_pipeline_tests.memory.message.attribution_oracle import belonging
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, ItemsExport, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts
from pkg_pipeline_tests.stages.summaries.summary_rows import add_summary


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def at_hours(*hours: float, first: int = 1) -> list[dict[str, Any]]:
    """Messages of one direct chat, taking turns; the gap is 4 hours."""
    return [
        line("c", number, minute=60 * hour, sender=("ann", "bob")[number % 2])
        for number, hour in enumerate(hours, first)
    ]


def ids(rig: Rig) -> list[UUID]:
    return [row[0] for row in rig.rows("SELECT id FROM interactions ORDER BY started_at")]


def marked_days(rig: Rig) -> set[str]:
    return {
        row[0] for row in rig.rows("SELECT partition_key FROM dirty_partitions WHERE asset = 'interaction_summaries'")
    }


def test_a_silence_longer_than_the_gap_parts_and_the_rest_is_recounted(rig: Rig) -> None:
    rig.take(at_hours(0, 1, 2, 6.01, 7, 8))
    report = rig.build()
    assert (report.chats, report.interactions, report.messages) == (1, 2, 6)
    assert rig.rows("SELECT message_count, status FROM interactions") == [(3, "completed")] * 2
    assert_recounts(rig)


def test_a_late_message_joins_two_and_nothing_known_is_lost(rig: Rig) -> None:
    rig.take(at_hours(0, 1, 2, 7, 8, 9))
    rig.build()
    first, second = ids(rig)
    add_summary(rig, first, fact_on="1")
    gone = add_summary(rig, second, fact_on="4")
    rig.take(at_hours(4.5, first=9))
    rig.build()
    assert ids(rig) == [first], "the earlier one keeps its id"
    assert rig.rows("SELECT DISTINCT interaction_id FROM entity_facts") == [(first,)]
    assert rig.rows("SELECT id FROM interaction_summaries WHERE status = 'superseded'") == [(gone,)]
    assert_recounts(rig)


def test_an_earlier_message_extends_to_the_front_and_the_heir_has_what_was_known(rig: Rig) -> None:
    rig.take(at_hours(0, 1, 2))
    rig.build()
    (old,) = ids(rig)
    add_summary(rig, old, fact_on="1")
    rig.rows("DELETE FROM dirty_partitions RETURNING id")
    rig.take(at_hours(-10, -9.5, -9, -2, first=5))
    rig.build()
    _, heir = ids(rig)
    assert heir != old
    assert rig.rows("SELECT DISTINCT interaction_id FROM entity_facts") == [(heir,)]
    assert rig.rows("SELECT status FROM interaction_summaries") == [("superseded",)]
    assert_recounts(rig)


def test_a_start_that_moves_over_midnight_marks_both_days(rig: Rig) -> None:
    """START is 10:00 in Berlin on the 10th; eleven hours earlier it is still the 9th."""
    rig.take(at_hours(-7, -5, -3, 0))
    rig.build()
    rig.rows("DELETE FROM dirty_partitions RETURNING id")
    rig.take(at_hours(-11, first=9))
    rig.build()
    assert rig.value("SELECT day::text FROM interactions") == "2026-01-09"
    assert marked_days(rig) == {"2026-01-10", "2026-01-09"}
    assert_recounts(rig)


def test_a_message_whose_time_changes_moves_and_may_split(rig: Rig) -> None:
    rig.take(at_hours(0, 3, 6, 6.5))
    rig.build()
    (only,) = ids(rig)
    add_summary(rig, only, fact_on="1")
    rig.take([{**at_hours(0, 40)[1]}], exported_at=datetime(2026, 3, 20, tzinfo=UTC))
    rig.build()
    assert rig.rows("SELECT message_count FROM interactions ORDER BY started_at") == [(1,), (2,), (1,)]
    assert rig.rows("SELECT DISTINCT interaction_id FROM entity_facts") == [(only,)]
    assert_recounts(rig)


def test_a_start_that_moves_back_leaves_the_nearest_as_heir(rig: Rig) -> None:
    """Nothing begins before the old start any more: what was known goes to what begins next."""
    rig.take(at_hours(0, 1, 2))
    rig.build()
    (old,) = ids(rig)
    add_summary(rig, old, fact_on="2")
    rig.take([{**at_hours(1.5)[0]}], exported_at=datetime(2026, 3, 20, tzinfo=UTC))
    rig.build()
    (heir,) = ids(rig)
    assert heir != old
    assert rig.rows("SELECT DISTINCT interaction_id FROM entity_facts") == [(heir,)]
    assert_recounts(rig)


def test_only_the_stretch_around_a_late_message_is_read(rig: Rig) -> None:
    rig.take(at_hours(*(100 * number for number in range(30))))
    rig.build()
    before = ids(rig)
    rig.take(at_hours(1001, first=99))
    report = rig.build()
    assert (report.messages, report.interactions) == (1, 1)
    assert ids(rig) == before


def test_a_build_with_nothing_new_does_nothing(rig: Rig) -> None:
    rig.take(at_hours(0, 1, 2))
    rig.build()
    again = rig.build()
    assert (again.chats, again.interactions, again.completed, again.messages) == (0, 0, 0, 0)


@pytest.mark.parametrize("count", [4_999, 5_000, 5_001, 10_001])
def test_an_interaction_longer_than_a_chunk_is_one(rig: Rig, count: int) -> None:
    said = [
        ParsedMessage("c", str(number), START + timedelta(seconds=number), "ok", ("ann", "bob")[number % 2])
        for number in range(count)
    ]
    rig.take_export(ItemsExport([ParsedChat("jsonl", "c", "direct"), *said]))
    rig.build()
    assert rig.rows("SELECT message_count FROM interactions") == [(count,)]
    assert_recounts(rig)


# ── groups ────────────────────────────────────────────────────────────────────────────────────


def group(senders: Sequence[str], texts: Sequence[str], replies: dict[int, int] | None = None) -> list[dict[str, Any]]:
    answered = replies or {}
    return [
        line("g", number, minute=number, sender=sender, text=text, chat_kind="group")
        | ({"reply_to": str(answered[number])} if number in answered else {})
        for number, (sender, text) in enumerate(zip(senders, texts, strict=True))
    ]


def test_a_groups_messages_belong_to_whom_the_rule_says(rig: Rig) -> None:
    senders = ["ann", "bob", "cem", "bob", "bob", "cem", "bob", "cem", "bob", "bob"]
    texts = ["hi", "yes", "no", "well", "Ann knows", "so", "a", "b", "c", "d"]
    rig.take(group(senders, texts, {7: 0, 9: 8}))
    rig.build()
    expected = belonging(
        senders,
        np.array([-1] * 7 + [0, -1, 8]),
        texts,
        {one: (one.title(),) for one in ("ann", "bob", "cem")},
    )
    found = rig.rows(
        "SELECT i.external_id, array_agg(m.external_id::int ORDER BY m.external_id::int) FROM message_entities b"
        " JOIN messages m ON m.id = b.message_id JOIN entity_identities i ON i.entity_id = b.entity_id GROUP BY 1"
    )
    assert dict(found) == {name: at.tolist() for name, at in expected.items()}
    assert dict(found)["ann"] == [0, 1, 3, 4, 5, 6, 7, 8]  # wrote 0, named in 4, answered in 7; neighbours of each
    assert_recounts(rig)


def test_more_than_fifty_senders_are_mass_and_a_person_may_say_otherwise(rig: Rig) -> None:
    many = [f"p{number}" for number in range(51)]
    rig.take(group(many[:50], ["hello"] * 50))
    rig.build()
    assert rig.rows("SELECT category, category_source FROM chats") == [(None, "export")]
    assert rig.value("SELECT count(*) FROM message_entities") > 0
    rig.take(group(many, ["hello"] * 51)[50:])
    rig.build()
    assert rig.rows("SELECT category, category_source FROM chats") == [("mass", "rule")]
    assert rig.value("SELECT count(*) FROM message_entities") == 0
    assert_recounts(rig)
    rig.rows("DELETE FROM dirty_partitions RETURNING id")
    assert rig.interactions.set_category(rig.value("SELECT id FROM chats"), None)
    assert marked_days(rig) == {"2026-01-10"}
    rig.build()
    assert rig.rows("SELECT category, category_source FROM chats") == [(None, "user")]
    assert rig.value("SELECT count(*) FROM message_entities") > 0
    rig.take([{**one, "chat_category": "mass"} for one in group(many, ["hello"] * 51)])
    rig.build()
    assert rig.rows("SELECT category, category_source FROM chats") == [(None, "user")]
    assert_recounts(rig)


def test_the_rule_does_not_override_what_the_export_says(rig: Rig) -> None:
    many = [f"p{number}" for number in range(51)]
    rig.take([{**one, "chat_category": "work"} for one in group(many, ["hello"] * 51)])
    rig.build()
    assert rig.rows("SELECT category, category_source FROM chats") == [("work", "export")]


def test_nobody_can_set_the_category_of_a_chat_that_is_not_there(rig: Rig) -> None:
    assert not rig.interactions.set_category(UUID(int=1), "mass")


def test_service_entries_are_no_speech_and_topics_stay(rig: Rig) -> None:
    said = ParsedMessage("g", "1", START, "hi", "ann", "Ann", topic="Money")
    entry = replace(
        said, external_id="2", kind="service", text="joined on 12 March for 500 EUR", sender_external_id="eva"
    )
    rig.take_export(ItemsExport([ParsedChat("telegram", "g", "group"), said, entry]))
    rig.build()
    belongs = "interaction_of(kind, chat_id, sent_at) IS NULL"
    assert rig.rows(f"SELECT external_id, topic, importance_score, {belongs} FROM messages ORDER BY 1") == [
        ("1", "Money", 0.0, False),
        ("2", "Money", 0.0, True),
    ]
    assert rig.rows("SELECT message_count FROM interactions") == [(1,)]
    assert rig.rows("SELECT e.name FROM chat_members m JOIN entities e ON e.id = m.entity_id") == [("Ann",)]
    assert_recounts(rig)


@pytest.mark.parametrize("whole_first", [True, False])
def test_an_export_without_the_topic_of_a_message_does_not_take_it_away(rig: Rig, *, whole_first: bool) -> None:
    """An export of the last weeks lacks the entry that opened the topic months ago."""
    said = ParsedMessage("g", "1", START, "hi", "ann", "Ann", topic="Money")
    whole = ItemsExport([ParsedChat("telegram", "g", "group"), said], exported_at=NOW)
    part = ItemsExport(
        [ParsedChat("telegram", "g", "group"), replace(said, topic=None)], exported_at=NOW + timedelta(days=1)
    )
    for export in (whole, part) if whole_first else (part, whole):
        rig.take_export(export)
    assert rig.rows("SELECT topic FROM messages") == [("Money",)]


def test_a_third_writer_makes_a_group_of_a_direct_chat_whatever_the_files_are_cut_like(rig: Rig) -> None:
    rig.take([line("c", 1, sender="ann"), line("c", 2, sender="bob")])
    rig.build()
    assert rig.value("SELECT kind FROM chats") == "direct"
    rig.take([line("c", 3, sender="bob"), line("c", 4, sender="cem")])
    rig.build()
    assert rig.value("SELECT kind FROM chats") == "group"
    assert_recounts(rig)
