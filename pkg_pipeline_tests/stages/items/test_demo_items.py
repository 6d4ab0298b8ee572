"""The demo's conversations read offline: once, in any order, to the same rows (B10, B16)."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from pkg_pipeline.demo import account
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests import read_demo
from pkg_pipeline_tests.read_demo import NOW
from pkg_pipeline_tests.stages.items.item_rig import DERIVED

PARTS_OF_A_CHAT = 3
PASS_AFTER = 7
"""So many imports come between two passes."""


def derived(memory: Memory) -> list[object]:
    with memory.connections.connection() as connection:
        return [row for statement in DERIVED for row in connection.execute(statement).fetchall()]  # type: ignore[arg-type]


def pieces(folder: Path) -> list[Path]:
    """The demo's exports, the first cut into one file for each stretch of each chat."""
    whole, *others = account.write_exports(folder / "whole", NOW)
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
    return [*written, *others]


def test_every_completed_talk_is_read_once_and_what_follows_is_there(read_demo_url: str, tmp_path: Path) -> None:
    with read_demo.opened(read_demo_url, tmp_path) as memory:
        pending = memory.items.pending()
        assert (pending.talks, pending.put_off, pending.failed) == (0, 0, 0)
        first = derived(memory)
        with memory.connections.connection() as connection:
            read, items = connection.execute(
                "SELECT (SELECT count(*) FROM interaction_readings), (SELECT count(*) FROM items)"
            ).fetchall()[0]
        assert read > 100
        assert items > 50
        again = memory.items.run(Billing("live"))
        assert (again.read, again.unchanged, again.items_new, again.items_changed) == (0, 0, 0, 0)
        assert derived(memory) == first


def test_the_order_of_imports_and_passes_makes_no_difference(
    read_demo_url: str, database_url: str, tmp_path: Path
) -> None:
    """As ``test_items_order`` of small talks, over a whole account."""
    with read_demo.opened(read_demo_url, tmp_path) as memory:
        expected = derived(memory)
    files = pieces(tmp_path)
    random.Random(1).shuffle(files)
    anew = 0
    with read_demo.opened(database_url, tmp_path) as memory:
        for place, path in enumerate(files, 1):
            memory.import_path(path)
            if place % PASS_AFTER == 0 or place == len(files):
                memory.build_interactions()
                report = memory.items.run(Billing("live"))
                anew += report.items_changed
        assert anew > 0
        assert derived(memory) == expected
