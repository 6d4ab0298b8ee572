"""Whoever is forgotten is forgotten with all accounts and names, and stays out whatever is merged later (B3, B20)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.reads.stores import EntityUnknown
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OLEG, OTHER_RITA, RITA, People, people


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        made.run()
        yield made


def residues(rig: People, *words: str) -> list[str]:
    found = rig.memory.forgetting.store
    return sorted({one.place for word in words for one in found.rows_with(word)})


@pytest.mark.parametrize("named", [RITA, OTHER_RITA])
def test_a_merged_person_is_forgotten_with_all_accounts_and_names(rig: People, named: object) -> None:
    rig.work.merge(RITA, OTHER_RITA)
    rig.work.rename(RITA, "Zanzibarina")
    rig.work.add_alias(RITA, ["Quetzalina"])
    rig.run()
    assert residues(rig, "quetzalina", "zanzibarina")
    found = rig.memory.forgetting.person(named)  # pyright: ignore[reportArgumentType]
    assert found.counts["people"] == 2
    receipt = rig.memory.forgetting.forget(found, by="test", rewrite=False)
    assert receipt.state == "done"
    rig.run()
    assert residues(rig, "quetzalina", "zanzibarina", "Hoffmann", "+4930901820", "rita@example.org", "boat") == []
    for table in ("entity_verdicts", "entity_aliases"):
        assert rig.rows(f"SELECT * FROM {table}") == [], table
    assert rig.rows("SELECT id FROM entities WHERE id IN (%s, %s)", RITA, OTHER_RITA) == []
    rig.take([*CHAT, *MAIL])
    assert rig.rows("SELECT id FROM entities WHERE id IN (%s, %s)", RITA, OTHER_RITA) == []
    with pytest.raises(EntityUnknown):
        rig.work.merge(OLEG, OTHER_RITA)


def test_an_account_taken_out_before_is_not_forgotten_with_the_other(rig: People) -> None:
    kept = rig.work.merge(RITA, OTHER_RITA)
    rig.work.undo(str(kept.id))
    rig.memory.forgetting.forget(rig.memory.forgetting.person(RITA), by="test", rewrite=False)
    rig.run()
    assert "deposit" in rig.context(OTHER_RITA)
    assert rig.rows("SELECT * FROM entity_verdicts") == []


def test_erasing_the_chats_of_one_account_leaves_the_person(rig: People) -> None:
    rig.work.merge(RITA, OTHER_RITA)
    rig.run()
    for chat in ("with-rita", "club"):
        found = rig.memory.forgetting.chat(hashing.chat_id("chat", chat))
        rig.memory.forgetting.forget(found, by="test", rewrite=False)
    rig.run()
    assert "deposit" in rig.context(RITA)
    for chat in ("with-rg", "yard"):
        found = rig.memory.forgetting.chat(hashing.chat_id("mail", chat))
        rig.memory.forgetting.forget(found, by="test", rewrite=False)
    assert residues(rig, "Hoffmann") == []
    assert rig.rows("SELECT id FROM entities WHERE NOT is_self") == []
