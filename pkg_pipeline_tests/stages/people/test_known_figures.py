"""B11, B20: figures of a past moment are the person's, whichever account wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline.memory import hashing
from pkg_pipeline.wiring.chats import set_category
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OLEG, OTHER_RITA, RITA, People, people


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        yield made


FIGURES = "SELECT interaction_id, message_count FROM {} ORDER BY 1"


@pytest.mark.parametrize("category", [None, "mass"])
def test_what_was_known_then_counts_all_accounts_in_groups(rig: People, category: str | None) -> None:
    rig.take(CHAT)
    rig.take(MAIL)
    for group in (("chat", "club"), ("mail", "yard")):
        assert set_category(rig.memory, hashing.chat_id(*group), category)  # type: ignore[arg-type]
    rig.run(chunks=False)
    rig.work.merge(RITA, OTHER_RITA)
    now = figures(rig, RITA)
    assert len(now) == 4
    known = FIGURES.format(f"participants_known('{RITA}', 'infinity')")
    assert rig.rows(known) == now


def test_dialogs_of_another_account_were_known_then_too(rig: People) -> None:
    rig.take(CHAT)
    rig.take(MAIL)
    rig.run(chunks=False)
    rig.work.merge(RITA, OTHER_RITA)
    now = rig.memory.clock.now()
    assert "4,500 EUR" in rig.context(RITA, known_as_of=now)
    assert rig.context(RITA, known_as_of=now).splitlines()[2:] == rig.context(RITA).splitlines()[2:]


def figures(rig: People, person: UUID) -> list[tuple[object, ...]]:
    return rig.rows(FIGURES.format(f"interaction_participants WHERE entity_id = '{person}'"))


def test_totals_that_a_killed_command_left_are_made_by_the_next(rig: People) -> None:
    """The chat that it made beside its own is not asked for again."""
    rig.take(CHAT)
    rig.take(MAIL)
    rig.memory.build_interactions()
    whole = rig.rows("SELECT * FROM entity_days ORDER BY 1, 2")
    with rig.memory.connections.connection() as connection:
        connection.execute("DELETE FROM entity_days WHERE entity_id = %s", (OLEG,))
        connection.execute(
            "INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)"
            " VALUES ('entity_days', %s, 'killed before', '2025-01-01')",
            (str(OLEG),),
        )
    rig.memory.build_interactions([hashing.chat_id("mail", "with-rg")])
    assert rig.rows("SELECT * FROM entity_days ORDER BY 1, 2") == whole
    assert rig.rows("SELECT count(*) FROM dirty_partitions WHERE asset = 'entity_days'") == [(0,)]
