"""What careful answers become: the demo's talks, answered by hand from the prompts alone (B16, B18)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.demo_truth import TRUTH, items_of, judge, matched
from pkg_pipeline.demo import account
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.context.records import Block
from pkg_pipeline.memory.gate.truth import AS_SAID
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.desk.answered_by_hand import PEOPLE, Desk, Person, person

KEPT = json.loads(TRUTH.read_text("utf-8"))
NOW = datetime.fromisoformat(KEPT["now"])
FIRST = date(2025, 1, 1)


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


PARTS = re.compile(r"(items|changes|milestones|key_points|summary\.sentences)\[\d+\](\.end)?")
"""What is whole in itself; of an item that lost only its end, that end."""


@dataclass(frozen=True, slots=True)
class Read:
    """What the memory holds in the end: items of its lists, parts that the gate kept out, the context's lines, the
    profile's summary.
    """

    items: list[dict[str, Any]]
    dropped: list[str]
    block: Block
    profile: str


def dropped(memory: Memory) -> list[str]:
    """Parts that were lost; not those in whose place the messages' own words stand."""
    with memory.connections.connection() as connection:
        rows = [
            row
            for table in ("interaction_readings", "interaction_summaries", "entity_relationship_profiles")
            for row in connection.execute(f"SELECT quarantined FROM {table}").fetchall()  # pyright: ignore[reportArgumentType, reportCallIssue]
        ]
    parts = [f"{part['part']}: {part['reason']}" for row in rows for part in row[0] or []]
    parts = [part for part in parts if not part.endswith(AS_SAID)]
    return sorted(part for part in parts if PARTS.fullmatch(part.partition(":")[0]))


def read(who: Person, url: str, desk_url: str, folder: Path) -> Read:
    """The whole path: imported, read, summarised, profiled, served."""
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
        memory.summarize((FIRST, NOW.date()), Billing("backfill"))
        assert [week.profiled for week in memory.profiles.build_weeks(memory.profiles.due_weeks(), Billing("backfill"))]
        with memory.connections.connection() as connection:
            (person_id,) = connection.execute("SELECT id FROM entities WHERE NOT is_self").fetchall()
            (told,) = connection.execute("SELECT summary FROM entity_relationship_profiles").fetchall()
        answer = memory.context(person_id[0], max_tokens=None, as_of=None)
        return Read(items_of(memory), dropped(memory), answer.block, told[0])


def lines_of(block: Block, kind: str) -> list[str]:
    """Ids of the block's items of ``kind`` that are shown as surely so now."""
    unsure = {"lapsed", "doubted", "perhaps_done"}
    return [item.id for tier in block.tiers for item in tier.items if item.kind == kind and not unsure & {*item.marks}]


def truths(found: Read, labels: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By id of an item its label, where two careful people would not differ."""
    of_item = {found.items[i]["id"]: labels[j] for i, j in matched(found.items, labels).items()}
    return {key: label for key, label in of_item.items() if label["sure"] and label.get("status_sure", True)}


@pytest.mark.parametrize("name", PEOPLE)
def test_answers_written_by_hand_are_shown_as_true_as_they_are(name: str, database_url: str, tmp_path: Path) -> None:
    who = person(name)
    desk = Desk(who)
    with FakeAnthropic() as server:
        server.script = desk
        found = read(who, database_url, server.url, tmp_path)
    assert desk.unanswered == []
    assert len(who.readings) <= desk.served["reading"] <= 2 * len(who.readings)
    assert desk.served["profile"] == 1
    assert desk.served["summary"] >= len(who.summaries)
    labels, floors = labels_of(who.chats), who.floors
    judged, label_of = judge(found.items, labels), truths(found, labels)
    told = "\n".join([*judged.wrong, *found.dropped])
    assert judged.of("open list").precision >= floors["open_right"], told
    assert judged.of("open list").recall >= floors["open_found"], told
    assert judged.of("perhaps").recall >= floors["kept_closed"], told
    assert len(found.dropped) <= floors["dropped"], told
    tasks = [key for key in lines_of(found.block, "action_item") if key in label_of]
    right = [key for key in tasks if label_of[key]["status"] == "open"]
    assert len(right) >= floors["task_lines_right"] * len(tasks), found.block.text
    decisions = [key for key in lines_of(found.block, "decision") if key in label_of]
    outdated = [label_of[key]["text"] for key in decisions if label_of[key]["status"] == "superseded"]
    assert len(outdated) <= floors["outdated"], outdated
    assert found.profile in found.block.text
    assert comparable(found.profile) == comparable(who.profile["summary"])
