"""What one process shares: settings, clock, connections, the token counter, the model, partitions, ledger and budget.

It knows no stage. Adapters are built when first asked for: a command from the shell uses one or two of them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pkg_pipeline.settings import Settings

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
    from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
    from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
    from pkg_pipeline.stages.llm.ask import LlmAccess
    from pkg_pipeline.stages.ports import Clock, Llm, TokenCounter
    from pkg_pipeline.wiring.llms import Provider


class Process:
    """Settings in, adapters out. ``close`` ends what was opened, the connections last."""

    def __init__(self, settings: Settings, *, url: str, connections: ConnectionPool, clock: Clock) -> None:
        self.settings = settings
        self.url = url
        self.clock = clock
        self.connections = connections
        self._closers: list[Callable[[], None]] = []

    def close(self) -> None:
        for closer in reversed(self._closers):
            closer()
        self.connections.close()

    def at_close(self, closer: Callable[[], None]) -> None:
        """Called at the end, the last one given first."""
        self._closers.append(closer)

    @cached_property
    def counter(self) -> TokenCounter:
        from pkg_pipeline.adapters.text.tokens import TiktokenCounter

        return TiktokenCounter()

    @cached_property
    def partitions(self) -> PostgresPartitionStore:
        from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore

        return PostgresPartitionStore(self.connections)

    @cached_property
    def budgets(self) -> PostgresBudgetStore:
        from pkg_pipeline.wiring.llms import budget_store

        return budget_store(self.settings, self.connections)

    @cached_property
    def ledger(self) -> PostgresLedgerStore:
        from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore

        return PostgresLedgerStore(self.connections)

    @property
    def provider(self) -> Provider:
        """Whose model the settings ask for; nothing is loaded for it."""
        from pkg_pipeline.wiring.llms import provider_of

        return provider_of(self.settings)

    @cached_property
    def llm(self) -> Llm:
        """The model that the settings name. Raises LlmMisconfigured or SettingsError."""
        from pkg_pipeline.stages.llm.stores import recorder
        from pkg_pipeline.wiring.llms import language_model

        llm = language_model(self.settings, self.counter, recorder(self.ledger))
        if (close := getattr(llm, "close", None)) is not None:
            self.at_close(close)
        return llm

    @property
    def access(self) -> LlmAccess:
        """What every stage that asks a model is given; the model is loaded with the first run."""
        from pkg_pipeline.stages.llm.ask import LlmAccess
        from pkg_pipeline.stages.llm.leased_work import WorkRules
        from pkg_pipeline.wiring.llms import caps_of

        settings, provider = self.settings, self.provider
        return LlmAccess(
            llm=lambda: self.llm,
            model=provider.model(settings),
            ledger=self.ledger,
            budgets=self.budgets,
            counter=self.counter,
            caps=caps_of(settings),
            work=WorkRules(
                holder=f"{socket.gethostname()}:{os.getpid()}",
                attempt_limit=settings.attempt_limit,
                backoff_seconds=settings.attempt_backoff_seconds,
                lease_seconds=settings.lease_seconds,
                concurrency=settings.llm_concurrency if provider.is_paid else 1,
            ),
        )
