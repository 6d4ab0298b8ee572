"""The rewrite's part of the composition root: a model that a read can wait for, its ledger, its share of the budget."""

from __future__ import annotations

import threading
from datetime import date, datetime
from typing import TYPE_CHECKING

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.ingest.spoken_languages import spoken_languages
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.memory.records import Language
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import LlmAttempt, LlmError, TokenCounter
from pkg_pipeline.stages.recall.rewriting import DEADLINE_SECONDS, OFFLINE, Asker, Rewritten, rewritten
from pkg_pipeline.wiring.attempts import row_of
from pkg_pipeline.wiring.lane_caps import budget_store, usd_cap
from pkg_pipeline.wiring.language_models import anthropic_llm

if TYPE_CHECKING:
    from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm

LEAST_SHARE = 0.02
"""A language of fewer messages is not asked for: one forwarded text would cost every question a phrasing."""


class RewritingWork:
    """Other words for questions, by the model that the settings name. One a process; close it before its connections.

    ``connections`` must be able to write the ledger and the budgets; nothing else is written. Nothing is built before
    the first question.
    """

    def __init__(self, settings: Settings, connections: ConnectionPool, counter: TokenCounter) -> None:
        self._settings, self._connections, self._counter = settings, connections, counter
        self._ledger = PostgresLedgerStore(connections)
        self._lock = threading.Lock()
        self._llm: AnthropicLlm | None = None
        self._ask: Asker | None = None
        self._languages: tuple[date, tuple[Language, ...]] | None = None

    def rewritten(self, question: str, asked_at: datetime) -> Rewritten:
        """``question`` first, then up to three other phrasings, or why there are none. Never raises (L10)."""
        settings = self._settings
        if not settings.uses_anthropic:
            return Rewritten((question,), OFFLINE)
        try:
            ask = self._asker()
        except (LlmError, SettingsError):
            return Rewritten((question,), "the model is not set up rightly")
        return rewritten(question, asked_at=asked_at, zone=settings.zone, ask=ask)

    def close(self) -> None:
        """Waits for the calls under way, a few seconds at most."""
        with self._lock:
            if self._ask is not None:
                self._ask.close()
            if self._llm is not None:
                self._llm.close()

    def _spoken(self, day: date) -> tuple[Language, ...]:
        """The memory's languages, counted once a day: they are a part of what is replayed."""
        known = self._languages
        if known is None or known[0] != day:
            known = self._languages = (day, spoken_languages(self._connections, least_share=LEAST_SHARE))
        return known[1]

    def _asker(self) -> Asker:
        with self._lock:
            if self._ask is None:
                settings = self._settings
                # asked once and given up soon: nobody waits for a second try of a better question
                self._llm = anthropic_llm(
                    settings, self._counter, on_attempt=self._record, timeout_seconds=DEADLINE_SECONDS, max_tries=1
                )
                self._ask = Asker(
                    ledger=self._ledger,
                    llm=self._llm,
                    counter=self._counter,
                    budgets=budget_store(settings, self._connections),
                    usd_cap=usd_cap(settings, "live"),
                    calls_cap=settings.recall_rewrites_per_day,
                    languages=self._spoken,
                    concurrency=settings.llm_concurrency,
                )
            return self._ask

    def _record(self, attempt: LlmAttempt) -> None:
        row = row_of(attempt, lane="live")
        if row is not None:
            self._ledger.record(row)
