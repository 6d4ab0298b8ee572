"""Wiring of question rewriting: a model with short timeout, its ledger and budget."""

from __future__ import annotations

import threading
from datetime import date, datetime

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.ingest.spoken_languages import spoken_languages
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.memory.records import Language
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.llm.stores import recorder
from pkg_pipeline.stages.ports import Llm, LlmError, TokenCounter
from pkg_pipeline.stages.recall.rewriting import DEADLINE_SECONDS, OFFLINE, TASK, Asker, Rewritten, rewritten
from pkg_pipeline.wiring.models import Patience, budget_store, caps, language_model, provider_of

LEAST_SHARE = 0.02
"""Share of messages from which on a language is asked for."""


class RewritingWork:
    """Rephrases questions with the configured model; one per process, close it before its connections.

    ``connections`` write ledger and budgets. Built with the first question.
    """

    def __init__(self, settings: Settings, connections: ConnectionPool, counter: TokenCounter) -> None:
        self._settings, self._connections, self._counter = settings, connections, counter
        self._ledger = PostgresLedgerStore(connections)
        self._lock = threading.Lock()
        self._llm: Llm | None = None
        self._ask: Asker | None = None
        self._languages: tuple[date, tuple[Language, ...]] | None = None

    def rewritten(self, question: str, asked_at: datetime) -> Rewritten:
        """``question``, then up to three phrasings, or why there are none. Never raises (L10)."""
        settings = self._settings
        if not provider_of(settings).is_paid:
            return Rewritten((question,), OFFLINE)
        try:
            ask = self._asker()
        except (LlmError, SettingsError):
            return Rewritten((question,), "the model is not set up rightly")
        return rewritten(question, asked_at=asked_at, zone=settings.zone, ask=ask)

    def close(self) -> None:
        """Waits a few seconds for running calls."""
        with self._lock:
            if self._ask is not None:
                self._ask.close()
            if (close := getattr(self._llm, "close", None)) is not None:
                close()

    def _spoken(self, day: date) -> tuple[Language, ...]:
        """The memory's languages; cached per day because they are part of the replay key."""
        known = self._languages
        if known is None or known[0] != day:
            known = self._languages = (day, spoken_languages(self._connections, least_share=LEAST_SHARE))
        return known[1]

    def _asker(self) -> Asker:
        with self._lock:
            if self._ask is None:
                settings = self._settings
                # short timeout, no retry: a read waits
                once = Patience(DEADLINE_SECONDS, max_tries=1)
                self._llm = language_model(settings, self._counter, recorder(self._ledger), once)
                self._ask = Asker(
                    ledger=self._ledger,
                    llm=self._llm,
                    counter=self._counter,
                    budgets=budget_store(settings, self._connections),
                    caps=caps(settings, TASK, "live"),
                    languages=self._spoken,
                    concurrency=settings.llm_concurrency,
                )
            return self._ask
