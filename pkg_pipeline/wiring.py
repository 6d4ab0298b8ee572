"""The composition root: builds the adapters that the settings ask for and hands them to the stages.

The only place where a stage meets its adapters. No rule, no SQL, no Dagster.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters import embedded
from pkg_pipeline.adapters.clock import PinnedClock, SystemClock
from pkg_pipeline.adapters.offline.version import MODEL as OFFLINE_MODEL
from pkg_pipeline.adapters.postgres import engine, migrate
from pkg_pipeline.adapters.postgres.ingest_store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.interaction_store import PostgresInteractionStore
from pkg_pipeline.adapters.postgres.partition_store import PostgresBudgetStore, PostgresPartitionStore
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.read_store import PostgresReadStore
from pkg_pipeline.adapters.postgres.receipts import PostgresReceiptSink
from pkg_pipeline.adapters.postgres.summary_store import PostgresSummaryStore
from pkg_pipeline.prompts import interaction_summary
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages import ingest, interactions, owner, summaries
from pkg_pipeline.stages.context import ContextRequest, ContextSettings, EntityContext, entity_context
from pkg_pipeline.stages.ingest import ImportReport
from pkg_pipeline.stages.interactions import InteractionsReport
from pkg_pipeline.stages.message_stores import ExportSource
from pkg_pipeline.stages.ports import Clock, Llm, LlmAttempt, TokenCounter
from pkg_pipeline.stages.stores import Lane, LedgerRow
from pkg_pipeline.stages.summaries import DayReport, Estimate, SummaryDeps, SummaryParams

POOL_CONNECTIONS = 6


class ImportFailed(Exception):
    """Nothing was taken in; one line says why and what to do."""


def clock_of(settings: Settings) -> Clock:
    """The memory's clock. Raises SettingsError for a pinned time that has not come yet."""
    if settings.now is None:
        return SystemClock()
    if settings.now > datetime.now(UTC):
        raise SettingsError(f"PKG_NOW: {settings.now.isoformat()} lies in the future")
    return PinnedClock(settings.now)


def database_url(settings: Settings, *, start: bool = True) -> str:
    """The libpq URL in force; the embedded server is started if need be."""
    if settings.database_url is not None:
        return engine.libpq_url(settings.database_url.get_secret_value())
    return embedded.start(settings.database_folder) if start else embedded.dsn(settings.database_folder)


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The URL for as long as the caller needs the server; an embedded one ends with its last user."""
    if settings.database_url is not None:
        yield engine.libpq_url(settings.database_url.get_secret_value())
    else:
        with embedded.running(settings.database_folder) as url:
            yield url


@contextmanager
def open_memory(settings: Settings) -> Iterator[Memory]:
    """The memory, migrated and ready. Raises DatabaseUnavailable, EmbeddedError or SettingsError with one line."""
    clock = clock_of(settings)
    with database(settings) as url:
        migrate.upgrade(url)
        _keep_time_zone(url, settings)
        connections = engine.pool(url, size=POOL_CONNECTIONS)
        memory = Memory(settings, url=url, connections=connections, clock=clock)
        try:
            yield memory
        finally:
            memory.close()


def _keep_time_zone(url: str, settings: Settings) -> None:
    """Partitions are local days: another zone would file old interactions under other days."""
    with engine.connect(url, autocommit=True) as connection:
        connection.execute(query("work", "keep_setting"), {"key": "timezone", "value": settings.timezone})
        found = connection.execute(query("work", "kept_setting"), {"key": "timezone"}).fetchone()
    if found is not None and found[0] != settings.timezone:
        raise SettingsError(
            f"PKG_TIMEZONE: this memory was made with {found[0]} and its days are cut there; set it back, "
            f"or begin a new PKG_HOME with {settings.timezone}"
        )


def context_settings(settings: Settings) -> ContextSettings:
    """P1, P2 and P6 as the reads need them."""
    return ContextSettings(
        zone=settings.zone,
        max_tokens=settings.context_tokens,
        hot_days=settings.hot_days,
        hot_messages=settings.hot_messages,
        warm_days=settings.warm_days,
        warm_summaries=settings.warm_summaries,
        shares={
            "permanent": settings.permanent_share,
            "hot": settings.hot_share,
            "warm": settings.warm_share,
            "cold": settings.cold_share,
            "relevant": settings.relevant_share,
        },
    )


class Memory:
    """Everything one process does with the memory. Made by ``open_memory``; adapters are built when first asked for."""

    def __init__(self, settings: Settings, *, url: str, connections: ConnectionPool, clock: Clock) -> None:
        self.settings = settings
        self.url = url
        self.clock = clock
        self.connections = connections
        self.partitions = PostgresPartitionStore(connections)
        self._summaries = PostgresSummaryStore(connections, timezone=settings.timezone)
        self._ledger_context: tuple[Lane, str | None] = ("backfill", None)
        self._closers: list[Callable[[], None]] = []

    def close(self) -> None:
        for closer in reversed(self._closers):
            closer()
        self.connections.close()

    @cached_property
    def counter(self) -> TokenCounter:
        from pkg_pipeline.adapters.tokens import TiktokenCounter

        return TiktokenCounter()

    @cached_property
    def llm(self) -> Llm:
        """The model that the settings name. Raises LlmMisconfigured or SettingsError."""
        settings = self.settings
        if not settings.uses_anthropic:
            from pkg_pipeline.adapters.offline.llm import OfflineLlm

            return OfflineLlm(self.counter)
        if settings.anthropic_api_key is None:
            raise SettingsError("PKG_LLM: anthropic needs ANTHROPIC_API_KEY; set it, or PKG_LLM=offline")
        from pkg_pipeline.adapters.anthropic_llm import AnthropicLlm

        llm = AnthropicLlm(
            api_key=settings.anthropic_api_key,
            base_url=settings.anthropic_base_url,
            model=settings.llm_model,
            counter=self.counter,
            on_attempt=self._record_attempt,
        )
        self._closers.append(llm.close)
        return llm

    def import_path(
        self,
        path: Path,
        *,
        format_name: str | None = None,
        self_rule: str | None = None,
        unknown_self_ok: bool = False,
        on_progress: Callable[[ExportSource], None] | None = None,
    ) -> ImportReport:
        """Take in a file, folder or zip. Raises ImportFailed, SelfUnknown.

        ``unknown_self_ok`` is for drops that nobody watches: then an export that does not say whose it is goes in
        without an owner, and the report says so.
        """
        from pkg_pipeline.adapters.exports.containers import UnreadableExport
        from pkg_pipeline.adapters.exports.detect import open_export

        try:
            exports = open_export(path, format=format_name, timezone=self.settings.timezone)
        except (UnreadableExport, ValueError) as error:
            raise ImportFailed(str(error)) from error
        store = PostgresIngestStore(self.connections)
        report = ImportReport()
        try:
            selves = owner.resolve_self(exports, rule=self_rule, known=store.known_selves)
        except owner.SelfUnknown as unknown:
            if not unknown_self_ok:
                raise
            selves = frozenset[tuple[str, str]]()
            report.warnings.append(str(unknown))
        for export in exports:
            ingest.import_export(
                export,
                store=store,
                counter=self.counter,
                selves=selves,
                report=report,
                batch_id=uuid.uuid4(),
                on_progress=on_progress,
            )
        return report

    def build_interactions(self) -> InteractionsReport:
        """Interactions of every touched chat."""
        settings = self.settings
        return interactions.build_interactions(
            PostgresInteractionStore(self.connections),
            clock=self.clock,
            params=interactions.InteractionParams(
                gap_seconds=settings.gap_hours * 3600,
                due_after_seconds=self._due_after_seconds,
                minimum_messages=settings.summary_min_messages,
                mass_senders=settings.mass_senders,
                timezone=settings.timezone,
            ),
        )

    def summarize(
        self,
        days: tuple[date, date],
        *,
        lane: Lane,
        run_id: str | None = None,
        retry_failed: bool = False,
        on_day: Callable[[DayReport], None] = lambda _: None,
    ) -> list[DayReport]:
        """What is due in the closed range of days. Raises LlmMisconfigured when every further call would fail."""
        self._ledger_context = (lane, run_id)
        return summaries.summarize_days(
            days,
            deps=self._summary_deps,
            params=self._summary_params(lane),
            prompt_version=interaction_summary.VERSION,
            lane=lane,
            holder=f"{socket.gethostname()}:{os.getpid()}",
            run_id=run_id,
            retry_failed=retry_failed,
            on_day=on_day,
        )

    @cached_property
    def reads(self) -> PostgresReadStore:
        """Entities, summaries, contexts: nothing here can write memory."""
        return PostgresReadStore(self.connections, zone=self.settings.zone)

    def context(self, entity_id: uuid.UUID, *, max_tokens: int | None, as_of: datetime | None) -> EntityContext:
        """The context of one entity. Raises EntityUnknown."""
        return entity_context(
            self.reads,
            self.counter,
            ContextRequest(entity_id=entity_id, now=self.clock.now(), as_of=as_of, max_tokens=max_tokens),
            settings=context_settings(self.settings),
            receipts=PostgresReceiptSink(self.connections) if self.settings.receipts else None,
        )

    @property
    def model_name(self) -> str:
        """What the settings ask for, known without loading it."""
        return self.settings.llm_model if self.settings.uses_anthropic else OFFLINE_MODEL

    def revive_failed(self) -> int:
        """What was given up under another prompt or model is due again (P19); returns how many."""
        return self._summaries.revive(prompt_version=interaction_summary.VERSION, model=self.model_name)

    def estimate(self) -> Estimate:
        """What summarising all that waits would take, before anything is paid."""
        waiting = self._summaries.waiting(
            minimum_messages=self.settings.summary_min_messages, window_messages=self.settings.window_messages
        )
        return summaries.estimate(self.llm, waiting)

    @cached_property
    def _summary_deps(self) -> SummaryDeps:
        return SummaryDeps(
            store=self._summaries,
            partitions=self.partitions,
            budgets=PostgresBudgetStore(self.connections, timezone=self.settings.timezone),
            llm=self.llm,
            counter=self.counter,
            clock=self.clock,
        )

    def _summary_params(self, lane: Lane) -> SummaryParams:
        settings = self.settings
        return SummaryParams(
            due_after_seconds=self._due_after_seconds,
            minimum_messages=settings.summary_min_messages,
            attempt_limit=settings.attempt_limit,
            backoff_seconds=settings.attempt_backoff_seconds,
            lease_seconds=settings.lease_seconds,
            window_messages=settings.window_messages,
            fact_confidence=settings.fact_confirm_confidence,
            timezone=settings.timezone,
            calls_cap=settings.live_summaries_per_day if lane == "live" else None,
            usd_cap=settings.live_usd_per_day if lane == "live" else settings.backfill_usd_per_day,
            concurrency=settings.llm_concurrency if self.llm.is_paid else 1,
            gap_seconds=settings.gap_hours * 3_600,
        )

    @property
    def _due_after_seconds(self) -> float:
        """P12: due at the end plus the minimum age; nothing is complete before the gap has passed."""
        return max(self.settings.summary_min_age_days * 86_400, self.settings.gap_hours * 3_600)

    def _record_attempt(self, attempt: LlmAttempt) -> None:
        """Tries that brought no answer; the one that did is recorded by the stage, with its answer."""
        if attempt.outcome == "ok":
            return
        from pkg_pipeline.memory.records import Usage

        lane, run_id = self._ledger_context
        self._summaries.record(
            LedgerRow(
                interaction_id=uuid.UUID(attempt.subject),
                request_hash=attempt.request_hash,
                task=attempt.task,
                model=attempt.model,
                prompt_version=attempt.prompt_version,
                lane=lane,
                outcome=attempt.outcome,
                usage=attempt.usage or Usage(0, 0),
                cost_usd=attempt.cost_usd,
                duration_seconds=attempt.duration_seconds,
                run_id=run_id,
                request_id=attempt.request_id,
                error=f"HTTP {attempt.status_code}" if attempt.status_code else attempt.stop_reason,
            )
        )
