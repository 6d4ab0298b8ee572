"""The demo's conversations read offline: once, in any order, to the same rows (B10, B16)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.demo import account
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.stages.items.item_rig import DERIVED
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    given = {
        "home": tmp_path / "home", "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none",
        "timezone": account.TIMEZONE,
    }  # fmt: skip
    with open_memory(Settings.model_validate(given)) as opened:
        yield opened


def derived(memory: Memory) -> list[object]:
    with memory.connections.connection() as connection:
        return [row for statement in DERIVED for row in connection.execute(statement).fetchall()]  # type: ignore[arg-type]


def test_every_completed_talk_is_read_once_and_what_follows_is_there(memory: Memory, tmp_path: Path) -> None:
    for path in account.write_exports(tmp_path / "exports", NOW):
        memory.import_path(path)
        memory.build_interactions()
    assert memory.items.pending().talks > 100
    report = memory.items.run(Billing("live"))
    assert (report.left, report.failed, report.deferred) == (0, 0, 0)
    assert report.read > 100
    assert report.items_new > 50
    first = derived(memory)
    again = memory.items.run(Billing("live"))
    assert (again.read, again.unchanged, again.items_new, again.items_changed) == (0, 0, 0, 0)
    assert derived(memory) == first
