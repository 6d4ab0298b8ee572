"""Facts in a real database: third parties, one current value, ends, organisations; in the context (P4, P13, B2)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.stages.archive.erasing import erase_chat
from pkg_pipeline_tests.stages.items.item_rig import ItemRig
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD

DAY = timedelta(days=1)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ItemRig]:
    made = ItemRig(database_url, tmp_path)
    yield made
    made.close()


def say(rig: ItemRig, *texts: str, at: datetime = OLD, chat: str = "anna", other: str = "Anna") -> None:
    rig.say(chat, texts, at=at, senders=(other, "Me"))
    rig.load()
    rig.read()


def current(rig: ItemRig) -> list[tuple[Any, ...]]:
    return rig.rows(
        "SELECT coalesce(e.name, f.about_name), fact_type, value FROM entity_facts f LEFT JOIN entities e"
        " ON e.id = f.entity_id WHERE status = 'confirmed' AND valid_to IS NULL ORDER BY 1, 2, 3"
    )


def works_at(rig: ItemRig) -> list[tuple[Any, ...]]:
    return rig.rows("SELECT e.name, o.name FROM entities e JOIN organizations o ON o.id = e.organization_id ORDER BY 1")


def test_a_newer_value_closes_the_older_one_with_its_day(rig: ItemRig) -> None:
    say(rig, "I work at Bosch.", "Nice.")
    assert works_at(rig) == [("Anna", "Bosch")]
    say(rig, "I work at Acme now.", "Congrats.", at=OLD + 30 * DAY)
    assert current(rig) == [("Anna", "organization", "Acme")]
    assert works_at(rig) == [("Anna", "Acme")]
    ended = rig.rows("SELECT value, valid_to FROM entity_facts WHERE valid_to IS NOT NULL")
    assert ended == [("Bosch", OLD + 30 * DAY)]


def test_whoever_says_that_they_left_works_nowhere(rig: ItemRig) -> None:
    say(rig, "I work at Bosch.", "Nice.")
    say(rig, "I don't work there any more.", "Oh.", at=OLD + 30 * DAY)
    assert current(rig) == []
    assert works_at(rig) == []


def test_an_organisation_that_no_fact_gave_stays(rig: ItemRig) -> None:
    say(rig, "Hello there.", "Hi.")
    rig.run("INSERT INTO organizations (id, name) VALUES (gen_random_uuid(), 'Theirs')")
    rig.run("UPDATE entities SET organization_id = (SELECT id FROM organizations) WHERE name = 'Anna'")
    say(rig, "My number is +49 151 23456789.", "Ok.", at=OLD + DAY)
    assert works_at(rig) == [("Anna", "Theirs")]


def test_facts_of_somebody_who_takes_no_part_are_kept_with_the_name_and_who_told_them(rig: ItemRig) -> None:
    say(rig, "Olga from accounts: +49 151 23456789", "Thanks.")
    assert rig.rows(
        "SELECT entity_id, about_name, e.name, value FROM entity_facts f JOIN entities e ON e.id = f.told_by"
    ) == [(None, "Olga", "Anna", "+4915123456789")]


def test_a_full_name_is_of_the_one_who_has_it(rig: ItemRig) -> None:
    say(rig, "Hello.", "Hi.", chat="olga", other="Olga Petrova")
    say(rig, "Olga Petrova: +49 151 23456789", "Thanks.", at=OLD + DAY)
    assert current(rig) == [("Olga Petrova", "phone", "+4915123456789")]
    assert rig.one("SELECT about_name FROM entity_facts") == "Olga Petrova"


def test_a_first_name_of_another_chat_is_nobody_known(rig: ItemRig) -> None:
    say(rig, "Hello.", "Hi.", chat="olga", other="Olga Petrova")
    say(rig, "Olga from accounts: +49 151 23456789", "Thanks.", at=OLD + DAY)
    assert current(rig) == [("Olga", "phone", "+4915123456789")]


def test_a_new_number_takes_the_place_of_the_old_one_and_a_second_number_does_not(rig: ItemRig) -> None:
    say(rig, "My number is +49 151 23456789.", "Ok.")
    say(rig, "My new number is +49 151 23456780.", "Ok.", at=OLD + DAY)
    assert [row[2] for row in current(rig)] == ["+4915123456780"]


def test_what_ended_an_older_value_is_erased_and_the_older_one_holds_again(rig: ItemRig) -> None:
    say(rig, "I work at Bosch.", "Nice.")
    say(rig, "I work at Acme now.", "Congrats.", at=OLD + 30 * DAY, chat="later")
    assert works_at(rig) == [("Anna", "Acme")]
    erase_chat(PostgresErasure(rig.connections), rig.one("SELECT id FROM chats WHERE external_id = 'later'"))
    assert current(rig) == [("Anna", "organization", "Bosch")]
    assert works_at(rig) == [("Anna", "Bosch")]


def test_reading_again_changes_nothing(rig: ItemRig) -> None:
    say(rig, "I work at Bosch. Olga from accounts: +49 151 23456789", "Nice.")
    before = rig.derived(), works_at(rig)
    rig.run("UPDATE interaction_readings SET input_hash = ''")
    rig.read()
    assert (rig.derived(), works_at(rig)) == before
