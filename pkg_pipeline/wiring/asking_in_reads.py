"""A model asked within reads: short timeout, ledger, budget; one per process and task, built when first asked."""

from __future__ import annotations

import threading
from typing import Any, Generic, TypeVar

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.llm.asking_in_reads import ReadAsker
from pkg_pipeline.stages.llm.stores import recorder
from pkg_pipeline.stages.ports import Llm, LlmError, LlmTask, TokenCounter
from pkg_pipeline.wiring.models import Patience, budget_store, caps, language_model, provider_of

Asker = TypeVar("Asker", bound=ReadAsker[Any, Any])

NOT_SET_UP = "the model is not set up rightly"


class WorkInReads(Generic[Asker]):
    """``connections`` write ledger and budgets; close it before them."""

    def __init__(self, settings: Settings, connections: ConnectionPool, counter: TokenCounter) -> None:
        self._settings, self._connections, self._counter = settings, connections, counter
        self._lock = threading.Lock()
        self._llm: Llm | None = None
        self._ask: Asker | None = None

    @property
    def is_offline(self) -> bool:
        return not provider_of(self._settings).is_paid

    def close(self) -> None:
        """Waits a few seconds for running calls."""
        with self._lock:
            if self._ask is not None:
                self._ask.close()
            if (close := getattr(self._llm, "close", None)) is not None:
                close()

    def _made(self, **parts: Any) -> Asker:
        raise NotImplementedError

    def _asker(self, task: LlmTask, deadline_seconds: float) -> Asker | None:
        """None if the model is not set up rightly."""
        with self._lock:
            try:
                return self._ask or self._build(task, deadline_seconds)
            except (LlmError, SettingsError):
                return None

    def _build(self, task: LlmTask, deadline_seconds: float) -> Asker:
        settings, ledger = self._settings, PostgresLedgerStore(self._connections)
        # short timeout, no retry: a read waits
        once = Patience(deadline_seconds, max_tries=1)
        self._llm = language_model(settings, self._counter, recorder(ledger), once)
        self._ask = self._made(
            ledger=ledger,
            llm=self._llm,
            counter=self._counter,
            budgets=budget_store(settings, self._connections),
            caps=caps(settings, task, "live"),
            concurrency=settings.llm_concurrency,
        )
        return self._ask
