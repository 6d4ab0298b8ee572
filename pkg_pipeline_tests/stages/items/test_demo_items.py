"""The demo's conversations read offline: once, in any order, to the same rows (B10, B16)."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pkg_pipeline.demo import account
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.stages.items.item_rig import DERIVED
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW

PARTS_OF_A_CHAT = 3
PASS_AFTER = 7
"""So many imports come between two passes."""


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


def empty(memory: Memory) -> None:
    with memory.connections.connection() as connection:
        names = connection.execute(
            "SELECT string_agg(format('%I', tablename), ', ') FROM pg_tables"
            " WHERE schemaname = 'pkg' AND tablename <> 'alembic_version'"
        ).fetchone()
        assert names is not None
        connection.execute(f"TRUNCATE {names[0]}")  # type: ignore[arg-type]


def pieces(folder: Path) -> list[Path]:
    """The demo's first export, cut into one file for each stretch of each chat."""
    whole, *_ = account.write_exports(folder / "whole", NOW)
    made = whole.stat()
    document = json.loads(whole.read_text("utf-8").replace("\\x01", ""))  # its broken escape
    written: list[Path] = []
    for chat in document["chats"]["list"]:
        said = chat["messages"]
        size = -(-len(said) // PARTS_OF_A_CHAT)
        for at in range(0, len(said), size):
            part = {**document, "chats": {**document["chats"], "list": [{**chat, "messages": said[at : at + size]}]}}
            path = folder / f"{chat['id']}-{at}" / "result.json"
            path.parent.mkdir()
            path.write_text(json.dumps(part, ensure_ascii=False), "utf-8")
            os.utime(path, (made.st_atime, made.st_mtime))
            written.append(path)
    return written


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


def test_the_order_of_imports_and_passes_makes_no_difference(memory: Memory, tmp_path: Path) -> None:
    """As ``test_items_order`` of small talks, over a whole account."""
    files = pieces(tmp_path)
    for path in files:
        memory.import_path(path)
    memory.build_interactions()
    memory.items.run(Billing("live"))
    expected = derived(memory)
    empty(memory)
    random.Random(1).shuffle(files)
    anew = 0
    for place, path in enumerate(files, 1):
        memory.import_path(path)
        if place % PASS_AFTER == 0 or place == len(files):
            memory.build_interactions()
            report = memory.items.run(Billing("live"))
            anew += report.items_changed
    assert anew > 0
    assert derived(memory) == expected
