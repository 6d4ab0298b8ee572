"""What careful answers become: the demo's talks, answered by hand from the prompts alone (B16, B18)."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.demo_truth import TRUTH, items_of, judge
from pkg_pipeline.demo import account
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.desk.answered_by_hand import PEOPLE, Desk, Person, person

KEPT = json.loads(TRUTH.read_text("utf-8"))
NOW = datetime.fromisoformat(KEPT["now"])


def exports_of(chats: tuple[str, ...], folder: Path) -> list[Path]:
    """The demo's Telegram exports with no other chats than these."""
    kept: list[Path] = []
    for path in account.write_exports(folder, NOW):
        if path.name != "result.json":
            continue
        document = json.loads(path.read_text("utf-8").replace("\\x01", ""))  # its broken escape
        told = [chat for chat in document["chats"]["list"] if any(key.endswith(f":{chat['id']}") for key in chats)]
        if told:
            document["chats"]["list"] = told
            path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
            kept.append(path)
    return kept


def labels_of(chats: tuple[str, ...]) -> list[dict[str, Any]]:
    """The labels of these chats, without those whose end only another chat tells."""
    labels = [label for label in KEPT["items"] if label["chat"] in chats]
    ends = [{key.rpartition("/")[0] for key in label["closed_by"]} for label in labels]
    return [label for label, end in zip(labels, ends, strict=True) if not end or end & set(chats)]


def dropped(memory: Memory) -> list[str]:
    """Whole items and changes that the gate kept out; of an item that lost only its end, that end."""
    with memory.connections.connection() as connection:
        rows = connection.execute("SELECT quarantined FROM interaction_readings ORDER BY ended_at").fetchall()
    parts = [part["part"] for row in rows for part in row[0] or []]
    return [part for part in parts if part.startswith(("items", "changes")) and part.count(".") == part.count(".end")]


def read(who: Person, url: str, desk_url: str, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    settings = {
        "home": folder / "home", "database_url": url, "now": NOW, "timezone": KEPT["timezone"], "embedder": "none",
        "llm": "anthropic", "anthropic_api_key": "any", "anthropic_base_url": desk_url,
    }  # fmt: skip
    with open_memory(Settings.model_validate(settings)) as memory:
        for path in exports_of(who.chats, folder / "exports"):
            memory.import_path(path)
        memory.build_interactions()
        report = memory.items.run(Billing("backfill"))
        assert (report.left, report.failed, report.deferred) == (0, 0, 0)
        return items_of(memory), dropped(memory)


@pytest.mark.parametrize("name", PEOPLE)
def test_answers_written_by_hand_are_shown_as_true_as_they_are(name: str, database_url: str, tmp_path: Path) -> None:
    who = person(name)
    desk = Desk(who.readings)
    with FakeAnthropic() as server:
        server.script = desk
        shown, lost = read(who, database_url, server.url, tmp_path)
    assert (desk.unanswered, desk.served) == ([], len(who.readings))
    judged = judge(shown, labels_of(who.chats))
    told = "\n".join([*judged.wrong, f"dropped: {lost}"])
    assert judged.of("open list").precision >= who.floors["open_right"], told
    assert judged.of("open list").recall >= who.floors["open_found"], told
    assert judged.of("perhaps").recall >= who.floors["kept_closed"], told
    assert len(lost) <= who.floors["dropped"], told
