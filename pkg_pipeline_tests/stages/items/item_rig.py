"""A memory whose talks are read: by the offline model, or by a paid one whose answers a function gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.postgres.items.store import PostgresItemStore
from pkg_pipeline.memory.items.fact_rules import ConfirmRules
from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.stages.items.report import ItemsReport
from pkg_pipeline.stages.items.stage import Items
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.ports import Billing, Lane, Llm
from pkg_pipeline.wiring import PinnedClock
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter
from pkg_pipeline_tests.stages.summaries.summary_rig import WORK, SummaryRig, taken

DERIVED = (
    "SELECT to_jsonb(i) - 'known_from' FROM items i ORDER BY id",
    "SELECT to_jsonb(s) - 'known_from' FROM item_states s ORDER BY item_id, place",
    "SELECT item_id, entity_id FROM item_people ORDER BY 1, 2",
    "SELECT interaction_id, ended_at, input_hash, shown_hash, is_checked, prompt_version, model_version, content,"
    " item_ids FROM interaction_readings ORDER BY 1",
    "SELECT id, entity_id, fact_type, value, status, valid_from, interaction_id, quote, message_ids FROM entity_facts"
    " ORDER BY 1",
)


class ItemRig(SummaryRig):
    def items(
        self, llm: Llm | None = None, *, usd_cap: float = 5.0, calls_cap: int | None = None, **params: Any
    ) -> Items:
        llm = llm or OfflineLlm(LetterCounter(), OfflineEmbedder().embed)
        work: WorkRules = replace(WORK, **taken(params, WorkRules))
        return Items(
            store=PostgresItemStore(self.connections, timezone=self.timezone, fact_rules=ConfirmRules(0.9)),
            access=self.access(llm, usd_cap=usd_cap, calls_cap=calls_cap, work=work),
            clock=PinnedClock(self.now),
            **{"gap_seconds": 6 * 3600, "window_messages": 500, "is_paid": llm.is_paid, **params},
        )

    def read(
        self, llm: Llm | None = None, *, lane: Lane = "backfill", stale: bool = False, **params: Any
    ) -> ItemsReport:
        return self.items(llm, **params).run(Billing(lane), stale=stale)

    def derived(self) -> list[tuple[Any, ...]]:
        """Everything that follows from readings, without clocks and costs."""
        return [row for statement in DERIVED for row in self.rows(statement)]

    def states(self, text: str = "") -> list[tuple[Any, ...]]:
        """(kind, status, due date) of the items whose words have ``text``, oldest first."""
        return self.rows(
            "SELECT kind, status, due_date FROM items WHERE text ILIKE %s ORDER BY first_at, id", f"%{text}%"
        )

    def attempts_are_due(self) -> None:
        self.run("UPDATE reading_attempts SET retry_at = clock_timestamp()")


def task(text: str, number: int, quote: str, **more: Any) -> dict[str, Any]:
    item = {"kind": "task", "text": text, "owner": "me", "importance": "medium", "quote": quote, "messages": [number]}
    return {**item, **more}


def answered(
    *items: dict[str, Any], changes: Sequence[dict[str, Any]] = (), facts: Sequence[Any] = ()
) -> dict[str, Any]:
    return {"items": list(items), "changes": list(changes), "facts": list(facts)}


PROMISE = re.compile(r"^I (?P<how>will|may) (?P<what>[^.]+)\.")
AGREED = re.compile(r"^Agreed: (?P<what>[^.]+)\.")


def promises(source: ReadingInput) -> dict[str, Any]:
    """What a plain model would answer to talks in which "I will WHAT." promises, "I may WHAT." does so silently,
    "Done: WHAT." keeps and "Agreed: WHAT." settles.
    """
    items: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for message in source.messages:
        if (said := PROMISE.match(message.text)) is not None:
            owner = {"owner": "me"} if message.sender.is_self else {"owner": "them", "who": message.sender.name}
            made = task(said["what"].capitalize(), message.number, said.group(), **owner)
            items.append(made | ({"silent": True} if said["how"] == "may" else {}))
        elif (said := AGREED.match(message.text)) is not None:
            items.append(task(said["what"], message.number, said.group(), kind="decision", owner="both"))
        elif message.text.startswith("Done: "):
            what = message.text.removeprefix("Done: ").rstrip(".")
            evidence = {"quote": message.text, "messages": [message.number]}
            shown = next((one for one in source.shown if what.casefold() in one.text.casefold()), None)
            new = next((one for one in items if what.casefold() in one["text"].casefold()), None)
            if shown is not None:
                changes.append({"id": shown.ref, "state": "done", **evidence})
            elif new is not None:
                new["end"] = {"state": "done", **evidence}
    return answered(*items, changes=changes)


def by(answer: Callable[[ReadingInput], object]) -> Callable[[Any], object]:
    return lambda request: answer(request.payload)
