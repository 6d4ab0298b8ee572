"""Live sessions over a real database that any model folds, what was published of them, and recounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.sessions.fold_reads import PostgresFoldReads
from pkg_pipeline.adapters.postgres.sessions.folds import PostgresFoldStore
from pkg_pipeline.adapters.postgres.sessions.store import PostgresSessionStore
from pkg_pipeline.memory.session import triggers
from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline.stages.folds import call as fold_call
from pkg_pipeline.stages.folds.rows import FoldDeps
from pkg_pipeline.stages.folds.stage import Folding, FoldReport
from pkg_pipeline.stages.llm.ask import LlmAccess
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.stores import Caps
from pkg_pipeline.stages.ports import Embedder, Llm, LlmRequest
from pkg_pipeline.wiring import PinnedClock
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, SessionRig, counted
from pkg_pipeline_tests.stages.summaries.summary_rig import WORK, ScriptedLlm, taken

PARAMS: dict[str, Any] = {
    "rules": FoldRules(),
    "step_messages": 60,
    "step_tokens": 8000,
    "max_summary_tokens": 1000,
    "timezone": "UTC",
}


def good_fold(request: LlmRequest, **changes: Any) -> dict[str, Any]:
    """An answer that passes the gate: everything in it stands in the stretch."""
    source = request.payload
    if request.task == fold_call.COMPRESS_TASK:
        return {"summary": source.text[: 3 * source.target_tokens].rpartition(" ")[0].rstrip(".") + "."}
    words = " ".join(" ".join(one.text.split()[:12]).rstrip(".?!") for one in source.messages[:2])
    return {
        "summary": f"This was said: {words}.",
        "facts": [],
        "decisions": [],
        "open_questions": [],
        "topics": [" ".join(source.messages[0].text.split()[:2]).rstrip(".?!")],
        **changes,
    }


def fold_llm(answer: Callable[[LlmRequest], object] = good_fold, **options: Any) -> ScriptedLlm:
    return ScriptedLlm(answer, **options)


class FoldRig(SessionRig):
    """``append`` and ``take`` as ever; ``fold_due`` works off what is due at ``now``."""

    def __init__(self, url: str, *, rules: FoldRules = FoldRules(), **options: Any) -> None:
        super().__init__(url, **options)
        self.rules = rules
        self.counters = SessionCounters(
            lambda state, source, now: triggers.due_at(state, rules, now=now, source=source)
        )
        self.store = PostgresIngestStore(self.pool, counters=self.counters, now=lambda: self.now)
        self.session_store = PostgresSessionStore(self.pool, self.counters)
        self.sessions = self.process()
        self.writes = PostgresFoldStore(self.pool)
        self.reads = PostgresFoldReads(self.pool)
        self.budgets = PostgresBudgetStore(self.pool, timezone="UTC")

    def at(self, now: datetime) -> None:
        self.now = now

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    def folding(
        self,
        llm: Llm | None = None,
        *,
        embedder: Embedder | None = None,
        spent: float = 0.0,
        calls_cap: int | None = None,
        usd_cap: float = 5.0,
        **params: Any,
    ) -> Folding:
        """``params`` are those of ``FoldDeps`` and of ``WorkRules``."""
        llm, work = llm or fold_llm(), replace(WORK, **taken(params, WorkRules))
        given: dict[str, Any] = {
            "reads": self.reads,
            "writes": self.writes,
            "clock": PinnedClock(self.now),
            "embedder": None if embedder is None else lambda: embedder,
            **PARAMS,
            "rules": self.rules,
            **params,
        }
        access = LlmAccess(
            llm=lambda: llm,
            model=llm.model,
            ledger=PostgresLedgerStore(self.pool),
            budgets=self.budgets,
            counter=self.counter,
            caps=lambda _task, _lane: Caps(usd_cap, calls_cap),
            work=work,
        )
        return Folding(deps=FoldDeps(**given), access=access, spent_usd=lambda _: spent)

    def fold_due(self, llm: Llm | None = None, *, limit: int | None = None, **params: Any) -> FoldReport:
        return self.folding(llm, **params).fold_due(limit=limit)

    def fold_now(self, llm: Llm | None = None, *, session: str = CHAT, **params: Any) -> FoldReport:
        return self.folding(llm, **params).fold_session(self.state(session).id)

    def talk(self, count: int, *, start: int = 0, session: str = CHAT, words: int = 30, **more: Any) -> None:
        """So many messages, the user and the assistant in turn, a minute apart; ``words`` make their tokens."""
        self.append(
            *(
                {
                    "id": str(number),
                    "role": "assistant" if number % 2 else "user",
                    "text": f"Point {number} about the garden " + "and the lake " * (words // 3),
                    "sent_at": (self.now + timedelta(minutes=number - start - count)).isoformat(),
                    **more,
                }
                for number in range(start, start + count)
            ),
            session=session,
        )

    def folds(self, session: str = CHAT) -> list[Mapping[str, Any]]:
        """Every fold, superseded ones too, oldest range first."""
        return [
            row[0]
            for row in self.rows(
                "SELECT to_jsonb(f) FROM session_summaries f WHERE session_id = %s"
                " ORDER BY to_message_id, generated_at",
                self.state(session).id,
            )
        ]

    def live(self, session: str = CHAT) -> list[Mapping[str, Any]]:
        return [fold for fold in self.folds(session) if fold["status"] != "superseded"]

    def row(self, session: str = CHAT) -> Mapping[str, Any]:
        found = self.value("SELECT to_jsonb(s) FROM conversation_sessions s WHERE id = %s", self.state(session).id)
        assert isinstance(found, dict)
        return found

    def retries_are_due(self) -> None:
        self.run("UPDATE conversation_sessions SET retry_at = clock_timestamp()")

    def leases_ran_out(self) -> None:
        self.run("UPDATE leases SET expires_at = clock_timestamp()")

    def wait_for_the_dead(self) -> None:
        """The server rolls back what a killed process had begun a moment after its end."""
        self.run("SELECT id FROM chats FOR UPDATE")

    def leases(self) -> int:
        return self.value("SELECT count(*) FROM leases WHERE kind = 'session'")

    def wrong(self, session: str = CHAT) -> list[str]:
        """What of the promises about folds does not hold: each message once, HWM, counters, topics."""
        state = self.state(session)
        live = self.live(session)
        problems: list[str] = []
        covered = [number for fold in live for number in fold["message_ids"]]
        there = self._ids(state.id, up_to=state.hwm_message_id)
        if sorted(covered) != there:
            problems.append(f"covered {len(covered)} ({len(set(covered))} different), there are {len(there)}")
        if state.hwm_message_id != max((fold["to_message_id"] for fold in live), default=0):
            problems.append("the HWM is not the end of the last fold")
        ranges = [(fold["from_message_id"], fold["to_message_id"]) for fold in live]
        if any(before[1] >= after[0] for before, after in pairwise(ranges)):
            problems.append("ranges overlap")
        if counted(state) != tuple(self.recount(state.id)):
            problems.append(f"counters {counted(state)} are not {self.recount(state.id)}")
        topics = dict(self.rows("SELECT topic, mention_count FROM memory_topics WHERE session_id = %s", state.id))
        named: dict[str, int] = {}
        for topic in (topic for fold in live for topic in fold["topics"]):
            named[topic] = named.get(topic, 0) + 1
        if topics != named:
            problems.append(f"topics {topics} are not {named}")
        return problems

    def _ids(self, chat: UUID, *, up_to: int) -> list[int]:
        found = self.rows(
            "SELECT id FROM messages WHERE chat_id = %s AND id <= %s AND deleted_at IS NULL ORDER BY id", chat, up_to
        )
        return [row[0] for row in found]
