"""Shared parts of one process: settings, clock, connections, token counter, model, ledger; built on first use."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.settings import Settings, variable_of

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.adapters.dagster_home import Running
    from pkg_pipeline.adapters.postgres.engine import MakePool
    from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
    from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
    from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
    from pkg_pipeline.stages.llm.ask import LlmAccess
    from pkg_pipeline.stages.llm.batch_ports import LlmBatches
    from pkg_pipeline.stages.llm.batches import Batches
    from pkg_pipeline.stages.ports import Clock, Llm, TokenCounter
    from pkg_pipeline.wiring.models import Provider


class Process:
    """Settings in, adapters out. ``close`` closes the connections last."""

    def __init__(
        self, settings: Settings, *, url: str, connections: ConnectionPool, clock: Clock, pool: MakePool = engine.pool
    ) -> None:
        """``pool`` makes further connections to the same database, beside the general ``connections``."""
        self.settings = settings
        self.url = url
        self.clock = clock
        self.connections = connections
        self.pool = pool
        self._closers: list[Callable[[], None]] = []

    def close(self) -> None:
        for closer in reversed(self._closers):
            closer()
        self.connections.close()

    def at_close(self, closer: Callable[[], None]) -> None:
        """Register for ``close``; last in, first out."""
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
        from pkg_pipeline.wiring.models import budget_store

        return budget_store(self.settings, self.connections)

    @cached_property
    def ledger(self) -> PostgresLedgerStore:
        from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore

        return PostgresLedgerStore(self.connections)

    @property
    def provider(self) -> Provider:
        from pkg_pipeline.wiring.models import provider_of

        return provider_of(self.settings)

    @cached_property
    def llm(self) -> Llm:
        """The configured model. Raises LlmMisconfigured or SettingsError."""
        from pkg_pipeline.stages.llm.stores import recorder
        from pkg_pipeline.wiring.models import language_model

        llm = language_model(self.settings, self.counter, recorder(self.ledger))
        if (close := getattr(llm, "close", None)) is not None:
            self.at_close(close)
        return llm

    @cached_property
    def batch_client(self) -> LlmBatches | None:
        """The message batches of the model's service, if its protocol has any. Raises as ``llm``."""
        make = self.provider.batches
        return None if make is None else make(self.settings, self.llm)

    @cached_property
    def batches(self) -> Batches:
        from pkg_pipeline.adapters.postgres.llm.batches import PostgresBatchStore
        from pkg_pipeline.stages.llm.batches import Batches

        return Batches(lambda: self.batch_client, PostgresBatchStore(self.connections, self.budgets))

    @property
    def access(self) -> LlmAccess:
        from pkg_pipeline.stages.llm.ask import LlmAccess
        from pkg_pipeline.stages.llm.leased_work import WorkRules
        from pkg_pipeline.wiring.models import caps_of

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


def running(settings: Settings) -> Running:
    """How Dagster executes runs."""
    from pkg_pipeline.adapters.dagster_home import Running

    broker = settings.run_broker
    return Running(settings.most_runs, None if broker is None else broker.get_secret_value())


MEGABYTE = 1 << 20


class SpaceLow(Exception):
    """One line: free and required space, and what to do."""


@dataclass(frozen=True, slots=True)
class Space:
    """Free bytes on the disk of ``folder``, and the required minimum."""

    folder: Path
    free_bytes: int
    minimum_bytes: int

    @property
    def is_low(self) -> bool:
        return self.free_bytes < self.minimum_bytes

    @property
    def line(self) -> str:
        return (
            f"only {self.free_bytes // MEGABYTE:,} MB are free on the disk of {self.folder}; imports and runs need"
            f" {self.minimum_bytes // MEGABYTE:,} MB: free some space, or set {variable_of('minimum_free_megabytes')}"
        )

    def to_json(self) -> dict[str, Any]:
        return {"free_bytes": self.free_bytes, "minimum_bytes": self.minimum_bytes, "is_low": self.is_low}


def space(settings: Settings) -> Space | None:
    """Current space; None if the database is not on this machine or the check is off (minimum 0)."""
    if settings.database_url is not None or not settings.minimum_free_megabytes:
        return None
    there = next(place for place in (settings.home, *settings.home.parents) if place.exists())
    return Space(settings.home, shutil.disk_usage(there).free, settings.minimum_free_megabytes * MEGABYTE)


def require_space(settings: Settings) -> None:
    found = space(settings)
    if found is not None and found.is_low:
        raise SpaceLow(found.line)


def while_there_is_space(settings: Settings, heard: Callable[..., Any] | None = None) -> Callable[..., None]:
    """A callback that calls ``heard``, then raises SpaceLow if space is low."""

    def hear(*told: Any) -> None:
        if heard is not None:
            heard(*told)
        require_space(settings)

    return hear
