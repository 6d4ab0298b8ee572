"""P31: a backfill killed at any point goes on: exactly the chosen ones, no second call for what was done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.summaries.backfill_rig import BackfillRig
from pkg_pipeline_tests.stages.summaries.backfill_worker import PLACES, REQUEST, with_server


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[BackfillRig]:
    made = BackfillRig(database_url, tmp_path)
    made.talk(6)
    yield made
    made.memory.close()
    made.close()


@pytest.mark.parametrize("point", PLACES)
def test_killed_anywhere_and_asked_for_again_it_does_the_chosen_ones_once(rig: BackfillRig, point: str) -> None:
    with FakeAnthropic() as fake:
        killed("summaries.backfill_worker", rig.url, str(rig.folder), fake.url, point)
        rig.leases_ran_out()
        with_server(rig, fake.url)
        asked = rig.ask(**REQUEST)
        assert rig.one("SELECT count(*) FROM backfills") == 1
        rig.work_off(asked.id)
        paid = len(fake.journal)
    assert rig.summarized() == ["c00", "c01", "c02", "c03"]
    assert paid == 2, "two in a question"
    told = rig.told(asked.id)
    assert (told["state"], told["left"], told["actual"]["interactions"], told["actual"]["calls"]) == ("done", 0, 4, 2)
    assert rig.one("SELECT count(*) FROM leases") == 0
