"""The demo's talks answered by hand, through the whole path: imported, read, summarised, profiled, served."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.demo_truth import TRUTH, items_of
from pkg_pipeline.demo import account
from pkg_pipeline.memory.context.records import Block
from pkg_pipeline.memory.gate.truth import AS_SAID
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests.desk.answered_by_hand import Person

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


class KeptOut(NamedTuple):
    """A part that is not published as it was written; ``day``: of its conversation, "" of a profile."""

    day: str
    part: str
    reason: str

    @property
    def is_lost(self) -> bool:
        """Whether it was whole in itself, and the messages' own words do not stand in its place."""
        return not self.reason.endswith(AS_SAID) and PARTS.fullmatch(self.part) is not None


@dataclass(frozen=True, slots=True)
class Read:
    """What the memory holds in the end: items of its lists, parts that the gate kept out, the context's lines, the
    profile's summary.
    """

    items: list[dict[str, Any]]
    kept_out: list[KeptOut]
    block: Block
    profile: str

    @property
    def dropped(self) -> list[str]:
        return [f"{one.part}: {one.reason}" for one in self.kept_out if one.is_lost]


PARTS_KEPT_OUT = """
    SELECT to_char(i.started_at, 'YYYY-MM-DD'), part FROM interactions AS i JOIN interaction_readings AS r
        ON r.interaction_id = i.id CROSS JOIN LATERAL jsonb_array_elements(r.quarantined) AS part
    UNION ALL SELECT to_char(i.started_at, 'YYYY-MM-DD'), part FROM interactions AS i JOIN interaction_summaries AS s
        ON s.interaction_id = i.id CROSS JOIN LATERAL jsonb_array_elements(s.quarantined) AS part
    UNION ALL SELECT '', part FROM entity_relationship_profiles AS p
        CROSS JOIN LATERAL jsonb_array_elements(p.quarantined) AS part
"""


def kept_out(memory: Memory) -> list[KeptOut]:
    with memory.connections.connection() as connection:
        rows = connection.execute(PARTS_KEPT_OUT).fetchall()
    return sorted(KeptOut(day, part["part"], part["reason"]) for day, part in rows)


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
        return Read(items_of(memory), kept_out(memory), answer.block, told[0])
