"""What careful answers become: the demo's talks, answered by hand from the prompts alone (B16, B18)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.demo_truth import judge, matched
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.context.records import Block
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline_tests.desk.answered_by_hand import PEOPLE, Desk, person
from pkg_pipeline_tests.desk.reading import Read, labels_of, read


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
