"""A memory built by the real import and the real interactions hop, summarised by any model over a real database."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict

from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore
from pkg_pipeline.memory.records import SummaryInput, Usage
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.llm.ask import LlmAccess
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.stores import Caps, LedgerRow, LedgerStore, Period, recorder
from pkg_pipeline.stages.partitions import PartitionStore
from pkg_pipeline.stages.ports import Billing, Lane, Llm, LlmAttempt, LlmError, LlmReply, LlmRequest
from pkg_pipeline.stages.summaries.making import MakingRules
from pkg_pipeline.stages.summaries.stage import DayReport, Summaries
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline.wiring import Memory, PinnedClock
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
OLD = datetime(2026, 2, 2, 10, 0, tzinfo=UTC)
"""Well over seven days before ``NOW``."""

ALL_DAYS = (date(2026, 1, 1), date(2026, 3, 15))
WORK = WorkRules("test")


class Params(TypedDict):
    rules: MakingRules
    due_after_seconds: float
    minimum_messages: int
    gap_seconds: float
    also_current: tuple[str, ...]


PARAMS: Params = {
    "rules": MakingRules(window_messages=500),
    "due_after_seconds": 7 * 86_400,
    "minimum_messages": 3,
    "gap_seconds": 6 * 3600,
    "also_current": (),
}
USUAL = ("Hello, shall we meet on Friday?", "Yes, agreed: Friday at noon for 300 EUR.", "I will send the contract.")


def good_answer(asked: SummaryInput | UpdateInput | MergeInput, **changes: Any) -> dict[str, Any]:
    """An answer that passes the gate: everything in it stands in the conversation; ``changes``: of the words."""
    source = asked if isinstance(asked, SummaryInput) else asked.source
    if isinstance(asked, MergeInput):
        return {"summary": source.messages[0].text.split("\n")[0], "points": ["They talked"], "tone": "neutral"}
    said = next(message for message in source.messages if message.text.strip())
    words = " ".join(said.text.split()[:30])
    told = {
        "summary": f"They talked about this: {words.rstrip('.?!')}. The tone was even.",
        "points": [words],
        "tone": "neutral",
        "important": [],
        **changes,
    }
    return told if isinstance(asked, UpdateInput) else {"talks": [{"talk": 1, **told}]}


class ScriptedLlm:
    """A paid model whose answers a function gives: a dict becomes JSON, a string stays, an error is raised."""

    is_paid = True

    def __init__(
        self,
        answer: Callable[[LlmRequest], object] = lambda request: good_answer(request.payload),
        *,
        model: str = "scripted-1",
        window_tokens: int = 200_000,
        usd_per_call: float = 0.001,
        is_paid: bool = True,
    ) -> None:
        self.model, self.window_tokens, self.is_paid = model, window_tokens, is_paid
        self._answer, self._usd = answer, usd_per_call
        self.requests: list[LlmRequest] = []

    def price(self, usage: Usage) -> float:
        return self._usd

    def complete(self, request: LlmRequest) -> LlmReply:
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, LlmError):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return LlmReply(text=text, model=self.model, usage=Usage(100, 50), stop_reason="end_turn")

    def calls_about(self, words: str) -> int:
        return sum(words in request.user for request in self.requests)


def taken(params: dict[str, Any], record: type[Any]) -> dict[str, Any]:
    """Those of ``params`` that are fields of ``record``, taken out of it."""
    return {field.name: params.pop(field.name) for field in fields(record) if field.name in params}


class SummaryRig:
    """One database, one owner. ``say`` collects lines, ``load`` imports them and builds interactions."""

    def __init__(self, url: str, folder: Path, *, now: datetime = NOW, timezone: str = "UTC", size: int = 6) -> None:
        self.url, self.folder, self.now, self.timezone = url, folder, now, timezone
        self.connections = engine.pool(url, size=size)
        settings = Settings(home=folder / "home", database_url=SecretStr(url), now=now, timezone=timezone)
        self.memory = Memory(settings, url=url, connections=self.connections, clock=PinnedClock(now))
        self.memory.counter = LetterCounter()
        self.store = PostgresSummaryStore(self.connections, timezone=timezone)
        self.partitions = PostgresPartitionStore(self.connections)
        self.ledger_store = PostgresLedgerStore(self.connections)
        self.budgets = PostgresBudgetStore(self.connections, timezone=timezone)
        self._lines: list[dict[str, Any]] = []
        self._files = 0

    def close(self) -> None:
        self.connections.close()

    def say(
        self,
        chat: str,
        texts: Sequence[str] = USUAL,
        *,
        at: datetime = OLD,
        minutes: float = 1.0,
        senders: Sequence[str] = ("Anna", "Me"),
        **fields: Any,
    ) -> None:
        """A conversation: senders take turns, one message every ``minutes``; ids go by chat and start."""
        for index, text in enumerate(texts):
            sender = senders[index % len(senders)]
            self.line(
                chat, f"{at:%Y%m%d%H%M}-{index:05}", text, at + timedelta(minutes=index * minutes), sender, **fields
            )

    def line(self, chat: str, message: str, text: str, at: datetime, sender: str, **fields: Any) -> None:
        self._lines.append(
            {
                "chat_id": chat,
                "message_id": message,
                "sender_id": sender.lower(),
                "sender_name": sender,
                "sent_at": at.isoformat(),
                "text": text,
                "chat_kind": "direct",
                "is_self": sender == "Me",
                **fields,
            }
        )

    def take_in(self) -> None:
        """The import alone, without a look at the interactions."""
        self._files += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"export{self._files}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self._lines), encoding="utf-8")
        self._lines = []
        self.memory.import_path(path)

    def load(self) -> None:
        self.take_in()
        self.memory.build_interactions()

    def access(
        self,
        llm: Llm,
        *,
        ledger: LedgerStore | None = None,
        calls_cap: int | None = None,
        usd_cap: float = 5.0,
        period: Period = "day",
        work: WorkRules = WORK,
    ) -> LlmAccess:
        return LlmAccess(
            llm=lambda: llm,
            model=llm.model,
            ledger=ledger or self.ledger_store,
            budgets=self.budgets,
            counter=LetterCounter(),
            caps=lambda _task, _lane: Caps(usd_cap, calls_cap, period),
            work=work,
        )

    def stage(
        self,
        llm: Llm | None = None,
        *,
        store: PostgresSummaryStore | None = None,
        partitions: PartitionStore | None = None,
        ledger: LedgerStore | None = None,
        calls_cap: int | None = None,
        usd_cap: float = 5.0,
        **params: Any,
    ) -> Summaries:
        """``params`` are the stage's, those of ``MakingRules`` and of ``WorkRules``."""
        llm = llm or ScriptedLlm()
        work = replace(WORK, **taken(params, WorkRules))
        rules = replace(PARAMS["rules"], **taken(params, MakingRules))
        return Summaries(
            store=store or self.store,
            partitions=partitions or self.partitions,
            access=self.access(llm, ledger=ledger, calls_cap=calls_cap, usd_cap=usd_cap, work=work),
            clock=PinnedClock(self.now),
            **{**PARAMS, "rules": rules, **params},
        )

    def summarize(
        self,
        llm: Llm | None = None,
        *,
        days: tuple[date, date] = ALL_DAYS,
        lane: Lane = "backfill",
        retry_failed: bool = False,
        scope: Scope | None = None,
        stage: Summaries | None = None,
        **params: Any,
    ) -> list[DayReport]:
        stage = stage or self.stage(llm, **params)
        return stage.run(days, Billing(lane), scope or Scope(retry_failed=retry_failed))

    def anthropic(self, base_url: str, *, lane: Lane = "backfill", **options: Any) -> AnthropicLlm:
        """The real SDK; tries without an answer go into the ledger as ``wiring`` writes them."""

        def record(attempt: LlmAttempt) -> None:
            recorder(self.ledger_store)(replace(attempt, billing=Billing(lane)))

        options = {"sleep": lambda _: None, "draw": lambda: 0.0, **options}
        return AnthropicLlm(
            api_key=SecretStr("sk-test"), counter=LetterCounter(), base_url=base_url, on_attempt=record, **options
        )

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self.connections.connection() as connection:
            return connection.execute(statement, parameters).fetchall()  # type: ignore[arg-type]

    def run(self, statement: str, *parameters: Any) -> None:
        with self.connections.connection() as connection:
            connection.execute(statement, parameters)  # type: ignore[arg-type]

    def one(self, statement: str, *parameters: Any) -> Any:
        return self.rows(statement, *parameters)[0][0]

    def retries_are_due(self) -> None:
        """As if the time to the next retry had passed."""
        self.run("UPDATE summary_attempts SET retry_at = clock_timestamp()")

    def leases_ran_out(self) -> None:
        self.run("UPDATE leases SET expires_at = clock_timestamp()")

    def status_of(self, chat: str) -> list[str]:
        found = self.rows(
            "SELECT s.status FROM interaction_summaries s JOIN interactions i ON i.id = s.interaction_id"
            " JOIN chats c ON c.id = i.chat_id WHERE c.external_id = %s ORDER BY s.generated_at",
            chat,
        )
        return [row[0] for row in found]

    def digest(self) -> list[tuple[Any, ...]]:
        """Everything published, without clocks, costs and serial ids."""
        return [
            *self.rows(
                "SELECT id::text, interaction_id::text, parent_summary_id::text, status, input_hash, summary,"
                " key_points::text, important_messages::text, message_ids,"
                " revision_count FROM interaction_summaries WHERE status <> 'quarantined' ORDER BY id"
            ),
            *self.rows("SELECT id::text, entity_id::text, value, status FROM entity_facts ORDER BY id"),
            *self.rows("SELECT partition_key, pending FROM partition_states ORDER BY 1"),
        ]

    def ledger(self) -> list[LedgerRow | tuple[Any, ...]]:
        return self.rows("SELECT outcome, input_tokens, output_tokens, cost_usd FROM llm_calls ORDER BY created_at")  # type: ignore[return-value]
