"""A memory whose model is scripted and named by the settings, so that backfills run as the program wires them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.backfill_stores import Backfill, BackfillRequest
from pkg_pipeline.stages.summaries.stage import DayReport
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, USUAL, ScriptedLlm, SummaryRig

DAY = timedelta(days=1)


class BackfillRig(SummaryRig):
    """``talk`` loads conversations a day apart; ``work_off`` does what a run on a backfill's account does."""

    def use(self, llm: ScriptedLlm | None = None, **settings: Any) -> ScriptedLlm:
        """From now on this model is in force."""
        llm = llm or ScriptedLlm()
        one_by_one = {"llm_concurrency": 1, "talks_together": 1}
        given = {
            **one_by_one,
            "llm": "anthropic",
            "anthropic_api_key": SecretStr("sk-test"),
            "llm_model": llm.model,
            **settings,
        }
        self.memory.settings = self.memory.settings.model_copy(update=given)
        self.memory.__dict__.pop("summaries", None)
        self.memory.__dict__["llm"] = llm
        return llm

    def talk(self, count: int, *, first: int = 0) -> None:
        for index in range(first, first + count):
            self.say(f"c{index:02}", [f"topic{index}. {text}" for text in USUAL], at=OLD + index * DAY)
        self.load()

    def request(self, **given: Any) -> BackfillRequest:
        return self.memory.backfills.request(**given)

    def ask(self, **given: Any) -> Backfill:
        asked = self.memory.backfills.ask(self.request(**given), requested_by="test")
        assert asked.backfill is not None, "nothing fits the request"
        return asked.backfill

    def work_off(self, backfill_id: UUID, *, on_day: Callable[[DayReport], None] = lambda _: None) -> list[DayReport]:
        self.memory.backfills.settle(backfill_id)
        keys = self.memory.backfills.ready_days(backfill_id)
        if not keys:
            return []
        days = (date.fromisoformat(keys[0]), date.fromisoformat(keys[-1]))
        return self.memory.summarize(days, Billing("backfill"), scope=Scope(backfill_id=backfill_id), on_day=on_day)

    def told(self, backfill_id: UUID) -> dict[str, Any]:
        return self.memory.backfills.told(backfill_id).to_json()

    def summarized(self) -> list[str]:
        """Chats with a summary that is served."""
        found = self.rows(
            "SELECT c.external_id FROM interaction_summaries s JOIN interactions i ON i.id = s.interaction_id"
            " JOIN chats c ON c.id = i.chat_id WHERE s.status IN ('completed', 'dirty') ORDER BY 1"
        )
        return [row[0] for row in found]
