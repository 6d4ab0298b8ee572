"""A person's review of facts: applied at once, kept over runs and a rebuild, forgotten with what it rests on (B2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.adapters.postgres.items.fact_verdicts import PostgresFactVerdictStore
from pkg_pipeline.adapters.postgres.items.store import PostgresItemStore
from pkg_pipeline.memory.items.fact_rules import ConfirmRules
from pkg_pipeline.stages.archive.erasing import erase_chat
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact, add_fact, decide_fact
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.facts import FactUnknown
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.items.item_rig import ItemRig
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD

NOW = datetime.fromisoformat("2026-09-01T12:00:00+00:00")
DAY = timedelta(days=1)


class Rig(ItemRig):
    def said(self, *texts: str, at: datetime = OLD, chat: str = "anna", other: str = "Anna") -> None:
        self.say(chat, texts, at=at, senders=(other, "Me"))
        self.load()
        self.read()

    def id_of(self, value: str) -> UUID:
        return self.one("SELECT id FROM entity_facts WHERE value = %s ORDER BY valid_from LIMIT 1", value)

    def person(self, name: str = "Anna") -> UUID:
        return self.one("SELECT id FROM entities WHERE name = %s", name)

    def decide(self, which: str, **wanted: Any) -> None:
        decide_fact(PostgresFactVerdictStore(self.connections), self.id_of(which), FactEdit(**wanted), now=NOW)

    def add(self, fact_type: str, value: str, *, since: datetime | None = None) -> UUID:
        wanted = NewFact(self.person(), fact_type, value, since)
        return add_fact(PostgresFactVerdictStore(self.connections), wanted, now=NOW)

    def current(self) -> list[tuple[Any, ...]]:
        return self.rows(
            "SELECT fact_type, value, decided_by FROM entity_facts WHERE status = 'confirmed' AND valid_to IS NULL"
            " ORDER BY 1, 2, 3"
        )

    def works_at(self) -> list[tuple[Any, ...]]:
        return self.rows("SELECT e.name, o.name FROM entities e JOIN organizations o ON o.id = e.organization_id")

    def rebuild(self) -> None:
        self.run("TRUNCATE interaction_readings, reading_attempts, items, item_people, item_states, entity_facts")
        self.read()

    def facts(self) -> list[tuple[Any, ...]]:
        return self.rows(
            "SELECT id, entity_id, fact_type, value, read_value, status, decided_by, valid_from, valid_to, known_to,"
            " quote FROM entity_facts ORDER BY id"
        )


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(database_url, tmp_path)
    made.said("I work at Bosch.", "Nice.")
    yield made
    made.close()


def test_a_rejected_value_stays_rejected_wherever_it_is_said_again(rig: Rig) -> None:
    rig.decide("Bosch", status="rejected")
    assert rig.current() == []
    assert rig.rows("SELECT status, known_to FROM entity_facts") == [("rejected", NOW)]
    assert rig.rows("SELECT name FROM entities WHERE organization_id IS NOT NULL") == []
    rig.said("I work at Bosch.", "I know.", at=OLD + 9 * DAY)
    rig.said("I work at Bosch.", "Sure.", at=OLD + 20 * DAY, chat="anna2")
    assert rig.current() == []
    before = rig.facts()
    rig.rebuild()
    assert rig.facts() == before
    assert len(before) == 3


def test_a_confirmed_candidate_is_served_at_once_and_a_rejected_one_can_come_back(rig: Rig) -> None:
    rig.run("UPDATE entity_facts SET status = 'candidate'")
    rig.decide("Bosch", status="confirmed")
    assert rig.current() == [("organization", "Bosch", "person")]
    rig.decide("Bosch", status="rejected")
    rig.decide("Bosch", status="confirmed")
    rig.decide("Bosch", status="confirmed")  # again: nothing new
    assert rig.current() == [("organization", "Bosch", "person")]
    assert rig.one("SELECT known_to FROM entity_facts") is None
    assert rig.one("SELECT count(*) FROM fact_verdicts") == 3


def test_a_correction_stands_over_what_is_read_and_neither_value_comes_back_once_rejected(rig: Rig) -> None:
    rig.decide("Bosch", value="Robert Bosch GmbH")
    assert rig.current() == [("organization", "Robert Bosch GmbH", "person")]
    rig.said("I work at Bosch.", "Ok.", at=OLD + 9 * DAY)
    assert {row[1] for row in rig.current()} == {"Robert Bosch GmbH"}
    before = rig.facts()
    rig.rebuild()
    assert rig.facts() == before
    rig.decide("Robert Bosch GmbH", status="rejected")
    rig.said("I work at Bosch.", "Hm.", at=OLD + 30 * DAY, chat="later")
    assert rig.current() == []


def test_what_is_added_takes_the_place_of_the_older_value_and_is_there_after_a_rebuild(rig: Rig) -> None:
    made = rig.add("organization", "Acme")
    assert rig.add("organization", "Acme") == made
    assert rig.current() == [("organization", "Acme", "person")]
    assert rig.rows("SELECT value, valid_to FROM entity_facts WHERE value = 'Bosch'") == [("Bosch", NOW)]
    assert rig.one("SELECT o.name FROM entities e JOIN organizations o ON o.id = e.organization_id") == "Acme"
    before = rig.facts()
    rig.rebuild()
    assert rig.facts() == before
    rig.decide("Acme", status="rejected")
    assert [row[1] for row in rig.current()] == ["Bosch"]


def test_what_held_before_the_newest_statement_is_closed_at_once(rig: Rig) -> None:
    rig.add("organization", "Acme", since=OLD - 30 * DAY)
    assert [row[1] for row in rig.current()] == ["Bosch"]


def test_of_a_birthday_a_persons_own_word_is_the_last_one(rig: Rig) -> None:
    rig.add("birthday", "1990-03-14", since=OLD - 30 * DAY)
    rig.said("my birthday is on 15 March", "Noted.", at=OLD + 3 * DAY)
    assert ("birthday", "03-15") in rig.rows("SELECT fact_type, value FROM entity_facts")
    assert [row[1] for row in rig.current() if row[0] == "birthday"] == ["1990-03-14"]


def test_another_order_of_runs_and_decisions_ends_alike(rig: Rig, database_url: str, tmp_path: Path) -> None:
    """Decided before the second talk is read, or after both."""
    rig.decide("Bosch", status="rejected")
    rig.said("I work at Bosch.", "Ok.", at=OLD + 9 * DAY, chat="second")
    before = rig.facts()
    rig.run("DELETE FROM fact_verdicts")
    rig.rebuild()
    assert [row[1] for row in rig.current()] == ["Bosch", "Bosch"]
    rig.decide("Bosch", status="rejected")
    assert [row[:7] for row in rig.facts()] == [row[:7] for row in before]


def test_what_rests_on_a_deleted_message_does_not_come_back_by_a_persons_word(rig: Rig) -> None:
    rig.decide("Bosch", status="confirmed")
    fact = rig.id_of("Bosch")
    rig.run("UPDATE messages SET deleted_at = now() WHERE content LIKE '%%Bosch%%'")
    rig.add("position", "Engineer")  # settles all of Anna's facts
    assert rig.current() == [("position", "Engineer", "person")]
    with pytest.raises(FactUnknown):
        decide_fact(PostgresFactVerdictStore(rig.connections), fact, FactEdit(status="confirmed"), now=NOW)


def test_a_verdict_is_forgotten_with_its_chat_and_another_chat_keeps_its_own(rig: Rig) -> None:
    rig.said("I work at Bosch.", "Ok.", at=OLD + 9 * DAY, chat="second")
    rig.decide("Bosch", status="rejected")
    assert rig.one("SELECT count(*) FROM fact_verdicts") == 2
    chats = dict(rig.rows("SELECT external_id, id FROM chats"))
    erase_chat(PostgresErasure(rig.connections), chats["anna"])
    assert rig.one("SELECT count(*) FROM fact_verdicts") == 1
    assert rig.rows("SELECT value, status FROM entity_facts") == [("Bosch", "rejected")]
    erase_chat(PostgresErasure(rig.connections), chats["second"])
    for table in ("fact_verdicts", "entity_facts"):
        assert rig.one(f"SELECT count(*) FROM {table}") == 0, table


@pytest.mark.parametrize("ends", [False, True])
def test_recall_shows_no_more_what_was_rejected_or_ended(rig: Rig, ends: bool) -> None:
    day = rig.one("SELECT day FROM interactions")
    rig.run(
        "INSERT INTO memory_chunks (id, source, subject_id, interaction_id, chat_id, content, at, is_withheld,"
        " scopes, message_ids, content_hash, index_hash, terms, lexical)"
        " SELECT gen_random_uuid(), 'fact', f.id, f.interaction_id, i.chat_id, f.value, i.ended_at, false, '{}',"
        " '{}', 'x', 'x', '{}', '{}/9'"
        " FROM entity_facts f JOIN interactions i ON i.id = f.interaction_id"
    )
    rig.run("DELETE FROM dirty_partitions")
    if ends:
        rig.add("organization", "Acme")
    else:
        rig.decide("Bosch", status="rejected")
    assert rig.rows("SELECT DISTINCT is_withheld FROM memory_chunks WHERE source = 'fact'") == [(True,)]
    assert ("memory_chunks", str(day)) in rig.rows("SELECT asset, partition_key FROM dirty_partitions")


@pytest.mark.parametrize(
    ("fact_type", "value", "kept"),
    [
        ("phone", "+49 (151) 234-567-89", "+4915123456789"),
        ("phone", "0151 23456789", None),
        ("phone", "+49 151 23456789 ext. 5", None),
        ("email", "anna@example.org", "anna@example.org"),
        ("email", "anna at example", None),
        ("birthday", "1990-03-14", "1990-03-14"),
        ("birthday", "--03-14", "03-14"),
        ("birthday", "14 March by the way", None),
        ("birthday", "1990-02-30", None),
        ("position", "  Head of\n sales ", "Head of sales"),
        ("position", " ", None),
        ("position", "x" * 201, None),
        ("", "x", None),
    ],
)
def test_a_value_has_the_form_of_its_type_or_is_refused(rig: Rig, fact_type: str, value: str, kept: str | None) -> None:
    if kept is None:
        with pytest.raises(BadRequest) as refused:
            rig.add(fact_type, value)
        assert refused.value.field == ("value" if fact_type else "type")
        assert rig.one("SELECT count(*) FROM fact_verdicts") == 0
    else:
        rig.add(fact_type, value)
        assert (fact_type, kept, "person") in rig.current()


@pytest.mark.parametrize(
    ("wanted", "field"),
    [({}, "status"), ({"status": "candidate"}, "status"), ({"status": "rejected", "value": "x"}, "value")],
)
def test_what_makes_no_sense_is_refused(rig: Rig, wanted: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        rig.decide("Bosch", **wanted)
    assert refused.value.field == field


def test_what_is_not_there_is_unknown_and_what_comes_is_no_past(rig: Rig) -> None:
    store = PostgresFactVerdictStore(rig.connections)
    with pytest.raises(FactUnknown):
        decide_fact(store, UUID(int=1), FactEdit(status="confirmed"), now=NOW)
    with pytest.raises(BadRequest):
        rig.add("position", "Engineer", since=NOW + DAY)


@pytest.mark.parametrize(
    ("rules", "own", "of_others"),
    [
        (ConfirmRules(0.0), "confirmed", "confirmed"),
        (ConfirmRules(0.0, of_others=2.0), "confirmed", "candidate"),
        (ConfirmRules(0.0, by_type={"phone": 2.0}), "confirmed", "candidate"),
        (ConfirmRules(0.0, by_type={"organization": 2.0}), "candidate", "confirmed"),
        (ConfirmRules(2.0, by_type={"phone/others": 0.0}), "candidate", "confirmed"),
    ],
)
def test_rules_say_whose_word_confirms_what(rig: Rig, rules: ConfirmRules, own: str, of_others: str) -> None:
    rig.said("Hello.", "Hi.", chat="olga", other="Olga Petrova")
    rig.said("Olga Petrova: +49 151 23456789", "Thanks.", at=OLD + DAY)
    rig.run("TRUNCATE interaction_readings, entity_facts")
    items = rig.items()
    store = PostgresItemStore(rig.connections, timezone=rig.timezone, fact_rules=rules)
    replace(items, store=store).run(Billing("backfill"))
    found = dict(rig.rows("SELECT fact_type, status FROM entity_facts"))
    assert found == {"organization": own, "phone": of_others}


@pytest.mark.parametrize(
    ("statement", "when"),
    [
        ("alike", "after"),
        ("keep", "after"),
        ("judge", "before"),
        ("judge", "after"),
        ("end", "after"),
        ("mark_days", "after"),
    ],
)
def test_a_verdict_that_is_killed_is_not_there_and_can_be_given_again(rig: Rig, statement: str, when: str) -> None:
    fact, before = rig.id_of("Bosch"), (rig.facts(), rig.works_at())
    killed("items.fact_worker", rig.url, str(rig.folder), str(fact), statement, when, "1")
    assert (rig.facts(), rig.works_at()) == before
    assert rig.one("SELECT count(*) FROM fact_verdicts") == 0
    rig.decide("Bosch", value="Robert Bosch GmbH")
    assert rig.works_at() == [("Anna", "Robert Bosch GmbH")]
    rig.read()
    after = rig.facts()
    rig.rebuild()
    assert rig.facts() == after


def test_a_fact_that_an_edited_message_still_says_is_served_again(rig: Rig) -> None:
    rig.run("UPDATE entity_facts SET status = 'candidate'")  # as importing the edit leaves it
    rig.run("UPDATE interaction_readings SET input_hash = ''")
    rig.read()
    assert rig.current() == [("organization", "Bosch", "memory")]
