"""Accounts that are one person are one everywhere at once, and an undone merge leaves nothing behind (B20)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline.stages.people.records import DecisionUnknown
from pkg_pipeline.stages.reads.entities import find_entity, list_entities
from pkg_pipeline.stages.reads.stores import BadRequest, SummaryFilter
from pkg_pipeline_tests.stages.people.people_rig import CHAT, LATER, MAIL, OLEG, OTHER_RITA, RITA, People, people

ME = "chat:me"
SUMMARISED = {"interaction_summaries", "memory_chunks", "chunk_terms"}
"""Another version of a summary has another id."""


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        made.run()
        yield made


def listed(rig: People) -> list[tuple[str, list[str]]]:
    page = list_entities(rig.memory.reads, query=None, limit=20, cursor=None)
    return [(one["name"], one["identities"]) for one in page.items]


def facts_of(rig: People, person: UUID) -> list[str]:
    return [
        row[0]
        for row in rig.rows(
            "SELECT value FROM entity_facts"
            " WHERE entity_id = %s AND status = 'confirmed' AND valid_to IS NULL ORDER BY 1",
            person,
        )
    ]


def people_of_items(rig: People) -> set[UUID]:
    return {row[0] for row in rig.rows("SELECT entity_id FROM item_people")}


def test_two_accounts_are_read_as_one_person_at_once_and_apart_again(rig: People) -> None:
    before = rig.held()
    first, second = rig.context(RITA), rig.context(OTHER_RITA)
    assert "deposit" not in first
    kept = rig.work.merge(RITA, OTHER_RITA)
    one = rig.context(RITA)
    assert all(word in one for word in ("deposit", "contract", "yard", "rita@example.org", "901820", "Bosch"))
    assert rig.context(OTHER_RITA) == one
    assert [entry for entry in listed(rig) if entry[0] == "Rita Hoffmann"] == [
        ("Rita Hoffmann", ["chat:rita", "mail:rg"])
    ]
    assert facts_of(rig, RITA) == ["+4930901820", "Bosch", "rita@example.org"]
    assert facts_of(rig, OTHER_RITA) == []
    assert OTHER_RITA not in people_of_items(rig)
    timeline = rig.memory.reads.timeline_page(RITA, after=None, limit=20)
    assert {row.chat_external_id for row in timeline} == {"with-rita", "club", "with-rg", "yard"}
    wanted = SummaryFilter(entity_id=RITA)
    summaries, _ = rig.memory.reads.summaries_page(wanted, now=rig.memory.clock.now(), after=None, limit=20)
    assert len(summaries) == len(timeline)
    assert kept.id is not None
    rig.work.undo(str(kept.id))
    assert (rig.context(RITA), rig.context(OTHER_RITA)) == (first, second)
    rig.run()
    after = rig.held()
    for name in before:
        assert after[name] == before[name], name


@pytest.fixture
def later(database_url: str, tmp_path: Path) -> Iterator[People]:
    """With profiles."""
    with people(database_url, tmp_path, now=LATER) as made:
        made.take([*CHAT, *MAIL])
        made.run(profiles=True)
        yield made


def test_undone_after_a_run_nothing_says_that_they_were_one(later: People) -> None:
    rig = later
    before = rig.held()
    kept = rig.work.merge(OTHER_RITA, RITA)
    rig.run(profiles=True)
    assert rig.rows("SELECT count(*) FROM current_relationship_profiles WHERE entity_id = %s", RITA) == [(0,)]
    assert rig.rows(
        "SELECT status, total_interactions FROM current_relationship_profiles WHERE entity_id = %s", OTHER_RITA
    ) == [("completed", 4)]
    rig.work.undo(str(kept.id)[:8])
    rig.run(profiles=True)
    after = rig.held()
    for name in before:
        assert after[name] == before[name], name


def test_recall_finds_at_once_what_any_account_said(rig: People) -> None:
    def found(person: UUID) -> set[str]:
        return {
            one["text"] for one in rig.memory.recall.search("boat deposit EUR", entity_id=person).to_json()["results"]
        }

    assert not any("4,500" in text for text in found(RITA))
    kept = rig.work.merge(RITA, OTHER_RITA)
    assert any("4,500" in text for text in found(RITA))
    rig.work.undo(str(kept.id))
    assert not any("4,500" in text for text in found(RITA))
    assert any("4,500" in text for text in found(OTHER_RITA))


def test_a_name_of_any_account_or_one_that_was_added_names_the_person(rig: People) -> None:
    rig.names["rg"] = "R. Hoffmann, Boats"
    rig.take([("mail", "with-rg", "rg", "2025-01-20T09:00", "Is everything fine?")])
    rig.run()
    before = rig.held()
    rig.work.merge(RITA, OTHER_RITA)
    shown = rig.memory.reads.entity(RITA)
    assert shown is not None
    assert shown.name == "R. Hoffmann, Boats"  # the name last in use
    rig.work.rename(RITA, "Rita H.")
    rig.work.add_alias(RITA, ["Margarita", "Ritka"])
    for asked in ("Rita H.", "rita hoffmann", "R. Hoffmann, Boats", "ritka", "chat:rita", "mail:rg", str(OTHER_RITA)):
        assert find_entity(rig.memory.reads, asked).id == RITA, asked
    assert [one["name"] for one in list_entities(rig.memory.reads, query="margar", limit=5, cursor=None).items] == [
        "Rita H."
    ]
    assert rig.context(RITA).startswith("# Rita H.")
    # a group's message that calls her by the added name is hers (P34)
    named = "SELECT m.external_id FROM message_entities e JOIN messages m ON m.id = e.message_id WHERE e.entity_id = %s"
    assert ("club-2025-01-11T18:02",) in rig.rows(named, RITA)
    rig.take([("chat", "with-rita", "rita", "2025-02-01T09:00", "Hello again")])
    assert find_entity(rig.memory.reads, "Rita H.").id == RITA
    with pytest.raises(BadRequest, match="no further name"):
        rig.work.remove_alias(RITA, ["Nobody"])
    rig.work.remove_alias(RITA, ["ritka"])
    assert [one["name"] for one in list_entities(rig.memory.reads, query="ritka", limit=5, cursor=None).items] == []
    for decision in rig.work.store.decisions(limit=10):
        rig.work.undo(str(decision.id))
    rig.run()
    after = rig.held()
    assert after["entities"] == before["entities"]
    assert rig.rows("SELECT * FROM entity_aliases") == []


def test_split_takes_accounts_out_into_a_person_of_their_own(rig: People) -> None:
    before, told = rig.held(), rig.told()
    rig.work.merge(RITA, OTHER_RITA)
    rig.work.merge(OLEG, RITA)
    assert dict(listed(rig))["Rita Hoffmann"] == ["chat:oleg", "chat:rita", "mail:rg"]  # the name last in use
    rig.work.split(OLEG, ["chat:rita", "mail:rg"])
    assert sorted(listed(rig))[-2:] == [("Oleg Tarasov", ["chat:oleg"]), ("Rita Hoffmann", ["chat:rita", "mail:rg"])]
    assert "deposit" in rig.context(RITA)
    assert "deposit" not in rig.context(OLEG)
    rig.work.split(RITA, [str(OTHER_RITA)])
    rig.run()
    after = rig.held()
    for name in before:
        if name not in SUMMARISED:
            assert after[name] == before[name], name
    assert rig.told() == told


def test_what_cannot_be_is_refused_and_what_stands_already_changes_nothing(rig: People) -> None:
    me = find_entity(rig.memory.reads, ME).id
    with pytest.raises(BadRequest, match="one of them is you"):
        rig.work.merge(RITA, me)
    with pytest.raises(BadRequest, match="no account of theirs"):
        rig.work.split(RITA, ["mail:nobody"])
    with pytest.raises(BadRequest, match="no account of theirs"):
        rig.work.split(RITA, ["mail:rg", "chat:rita"])
    assert rig.work.split(RITA, ["mail:rg"]).id is None
    with pytest.raises(BadRequest, match="has to stay"):
        rig.work.split(RITA, ["chat:rita"])
    with pytest.raises(BadRequest, match="1 to"):
        rig.work.rename(RITA, "  ")
    with pytest.raises(DecisionUnknown):
        rig.work.undo("0" * 8)
    assert rig.rows("SELECT * FROM entity_verdicts") == []
    kept = rig.work.merge(RITA, OTHER_RITA)
    assert rig.work.merge(OTHER_RITA, RITA).id is None
    assert rig.work.merge(RITA, RITA).id is None
    assert rig.work.undo(str(kept.id)).id == kept.id
    assert rig.work.undo(str(kept.id)).id is None


def test_an_account_that_turns_out_to_be_mine_is_nobody_elses(rig: People) -> None:
    rig.work.merge(RITA, OTHER_RITA)
    rig.take([("mail", "yard", "rg", "2025-02-03T11:00", "I am the owner of this memory")], selves=("me", "rg"))
    assert sorted(keys for name, keys in listed(rig) if name == "Rita Hoffmann") == [["chat:rita"], ["mail:rg"]]
    assert rig.rows("SELECT merged_into FROM entities WHERE id = %s", OTHER_RITA) == [(None,)]


def test_decisions_outlive_a_rebuild_of_everything_derived(rig: People) -> None:
    rig.work.merge(RITA, OTHER_RITA)
    rig.run()
    before = rig.held()
    rig.rows(
        "WITH marked AS (INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)"
        " SELECT 'interactions', chat_id::text, 'all', min(sent_at), max(sent_at) FROM messages GROUP BY chat_id)"
        " SELECT 1"
    )
    with rig.memory.connections.connection() as connection:
        connection.execute(
            "TRUNCATE interactions, interaction_participants, message_entities, entity_days, interaction_readings,"
            " reading_attempts, items, item_people, item_states, entity_facts, interaction_summaries, memory_chunks,"
            " chunk_states, chunk_terms CASCADE"
        )
    rig.run()
    after = rig.held()
    for name in before:
        if name not in ("interaction_summaries", "messages"):
            assert after[name] == before[name], name


def test_a_summary_that_calls_somebody_otherwise_is_outdated_and_made_anew(rig: People) -> None:
    before = rig.told()
    assert "Oleg Tarasov" in before["club"]
    rig.work.rename(OLEG, "Oleg the sailor")
    dirty = rig.rows(
        "SELECT c.external_id FROM live_summaries s JOIN interactions i ON i.id = s.interaction_id"
        " JOIN chats c ON c.id = i.chat_id WHERE s.status = 'dirty'"
    )
    assert dirty == [("club",)]
    rig.run()
    after = rig.told()
    assert "Oleg Tarasov" not in after["club"]
    assert {name: text for name, text in after.items() if name != "club"} == {
        name: text for name, text in before.items() if name != "club"
    }
