"""A pass killed at any statement is continued to the same rows, and pays for nothing twice (B10, B16)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, by, promises
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, ScriptedLlm

DAY = timedelta(days=1)
POINTS = [
    ("take", "after", 1),
    ("move", "after", 1),
    ("drop_marks", "after", 1),
    ("shown", "after", 2),
    ("record", "before", 2),
    ("record", "after", 2),
    ("save", "before", 2),
    ("save", "after", 2),
    ("naming", "after", 1),
    ("upsert_items", "after", 1),
    ("write_histories", "after", 2),
    ("uncheck_later", "after", 1),
    ("mark_days", "after", 1),
    ("give_back", "before", 1),
]


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ItemRig]:
    """A memory that was read, and into which older and newer talks came since, some into talks that were read."""
    made = ItemRig(database_url, tmp_path)
    for day in (4, 9):
        made.say("anna", [f"Done: bring the chair {day}.", "Thanks."], at=OLD + day * DAY, senders=("Me", "Anna"))
        made.say("bob", [f"I will paint the wall {day}.", "Fine."], at=OLD + day * DAY, senders=("Me", "Bob"))
    made.load()
    made.read(ScriptedLlm(by(promises), is_paid=False))
    for day in (1, 4, 12):
        at = OLD + day * DAY + timedelta(hours=2)
        made.say("anna", [f"I will bring the chair {max(day, 4)}.", "Good."], at=at, senders=("Me", "Anna"))
        made.say("bob", [f"Done: paint the wall {min(day, 9)}.", "Good."], at=at, senders=("Me", "Bob"))
    made.load()
    yield made
    made.close()


@pytest.mark.parametrize("model", ["free", "paid"])
@pytest.mark.parametrize(("statement", "when", "nth"), POINTS)
def test_it_ends_as_if_nothing_had_happened(rig: ItemRig, model: str, statement: str, when: str, nth: int) -> None:
    killed("items.item_worker", rig.url, str(rig.folder), model, statement, when, str(nth))
    rig.leases_ran_out()
    report = rig.read(ScriptedLlm(by(promises), is_paid=model == "paid"))
    assert report.left == 0
    if model == "paid":
        twice = "SELECT request_hash FROM llm_calls WHERE reply IS NOT NULL GROUP BY 1 HAVING count(*) > 1"
        assert rig.rows(twice) == []
        return
    ended = rig.derived()
    rig.run("TRUNCATE interaction_readings, reading_attempts, items, item_people, item_states, entity_facts")
    rig.read(ScriptedLlm(by(promises), is_paid=False))
    assert rig.derived() == ended
    assert rig.one("SELECT count(*) FROM items WHERE status = 'done'") > 1
