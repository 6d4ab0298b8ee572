"""B11, B20: figures of a past moment are the person's, whichever account wrote."""

from __future__ import annotations

from uuid import UUID

import pytest

from pkg_pipeline.memory import hashing
from pkg_pipeline.wiring.chats import set_category
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OTHER_RITA, RITA, People

FIGURES = "SELECT interaction_id, message_count, token_count FROM {} ORDER BY 1"


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
