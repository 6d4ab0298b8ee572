"""Questions rewritten over a real ledger and budget: by the real SDK against the local server, or by a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool
from pydantic import SecretStr

from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.llm.stores import Caps
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline.stages.recall.rewriting import Asker, Rewritten, rewritten
from pkg_pipeline.wiring.rewriting import RewritingWork
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY, LetterCounter
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

ASKED_AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
QUESTION = "When did Anna move to the new flat?"
WORDS = {"queries": ["Anna has moved", "Anna's new address"]}


class Stopwatch:
    """A clock that stands until it is told otherwise."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


@contextmanager
def asker(
    connections: ConnectionPool, answer: Callable[[LlmRequest], object] = lambda _: WORDS, **options: Any
) -> Iterator[tuple[Asker, ScriptedLlm]]:
    """A scripted model behind real stores."""
    llm = ScriptedLlm(answer, is_paid=options.pop("is_paid", True))
    made = Asker(
        **{
            "ledger": PostgresLedgerStore(connections),
            "llm": llm,
            "counter": LetterCounter(),
            "budgets": PostgresBudgetStore(connections, timezone="UTC"),
            "caps": Caps(options.pop("usd_cap", 1.0), options.pop("calls_cap", None)),
            **options,
        }
    )
    try:
        yield made, llm
    finally:
        made.close()


def ask(made: Asker, question: str = QUESTION, *, at: datetime = ASKED_AT, zone: str = "UTC") -> Rewritten:
    return rewritten(question, asked_at=at, zone=ZoneInfo(zone), ask=made)


class WorkRig:
    """The wired rewrite and the server it asks."""

    def __init__(self, connections: ConnectionPool, folder: Path, *rules: Fault, **settings: Any) -> None:
        self.fake = FakeAnthropic(rules=rules, api_key=KEY).start()
        given = {"llm": "anthropic", "anthropic_api_key": SecretStr(KEY), "anthropic_base_url": self.fake.url}
        self.work = RewritingWork(Settings(home=folder, **{**given, **settings}), connections, LetterCounter())

    def ask(self, question: str = QUESTION, *, at: datetime = ASKED_AT) -> Rewritten:
        return self.work.rewritten(question, at)

    @property
    def prompts(self) -> list[str]:
        return [call["body"]["messages"][0]["content"] for call in self.fake.journal]

    def close(self) -> None:
        self.work.close()
        self.fake.stop()


def ledger(connections: ConnectionPool) -> list[tuple[Any, ...]]:
    """Every call: task, lane, outcome, what it was about, and whether an answer is kept."""
    with connections.connection() as connection:
        return connection.execute(
            "SELECT c.task, c.lane, c.outcome, s.subject_kind, c.reply IS NOT NULL FROM llm_calls c"
            " JOIN llm_call_subjects s ON s.call_id = c.id ORDER BY c.created_at, c.id"
        ).fetchall()


def everything(connections: ConnectionPool) -> str:
    """All rows of all tables as text, without the answers that are kept for replay."""
    with connections.connection() as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pkg' ORDER BY 1").fetchall()
        rows = [
            connection.execute(SQL("SELECT to_jsonb(t) - 'reply' FROM pkg.{} t").format(Identifier(table))).fetchall()
            for (table,) in tables
        ]
    return json.dumps(rows, ensure_ascii=False, default=str)
