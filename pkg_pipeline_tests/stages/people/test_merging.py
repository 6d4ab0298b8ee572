"""Accounts that are one person are one everywhere at once, and an undone merge leaves nothing behind (B20)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OTHER_RITA, RITA, People, people


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        made.run()
        yield made


def test_two_accounts_are_read_as_one_person_at_once_and_apart_again(rig: People) -> None:
    before = rig.held()
    assert "deposit" not in rig.context(RITA)
    kept = rig.work.merge(RITA, OTHER_RITA)
    assert kept.id is not None
    one = rig.context(RITA)
    assert "deposit" in one
    assert "contract" in one
    assert rig.context(OTHER_RITA) == one
    rig.run()
    rig.work.undo(str(kept.id))
    rig.run()
    after = rig.held()
    for name in before:
        assert after[name] == before[name], name
