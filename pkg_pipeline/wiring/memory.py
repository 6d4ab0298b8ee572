"""Everything one process does with the memory: adapters are built when first asked for and handed to the stages."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pkg_pipeline.offline import MODEL as OFFLINE_MODEL
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring.space import require_space, while_there_is_space

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore
    from pkg_pipeline.adapters.postgres.llm.budget import PostgresBudgetStore
    from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.compare.wiring import CompareWork
    from pkg_pipeline.memory.message.deletions import Verdict
    from pkg_pipeline.stages.ingest.report import ImportReport
    from pkg_pipeline.stages.ingest.stores import ExportSource
    from pkg_pipeline.stages.interactions.stage import InteractionsReport
    from pkg_pipeline.stages.ports import Clock, Llm, LlmAttempt, TokenCounter
    from pkg_pipeline.stages.reads.context import EntityContext
    from pkg_pipeline.stages.summaries.stage import DayReport, Estimate
    from pkg_pipeline.stages.summaries.stores import Lane, Scope
    from pkg_pipeline.wiring.archive import ArchiveWork
    from pkg_pipeline.wiring.backfills import BackfillWork
    from pkg_pipeline.wiring.chunks import ChunkWork
    from pkg_pipeline.wiring.folding import FoldWork
    from pkg_pipeline.wiring.monitoring import MonitoringWork
    from pkg_pipeline.wiring.profiles import ProfileWork
    from pkg_pipeline.wiring.recall import RecallWork
    from pkg_pipeline.wiring.reembed import ReembedWork
    from pkg_pipeline.wiring.rewriting import RewritingWork
    from pkg_pipeline.wiring.sessions import SessionWork
    from pkg_pipeline.wiring.summaries import SummaryWork
    from pkg_pipeline.wiring.threads import ThreadWork
    from pkg_pipeline.wiring.windows import WindowWork


class ImportFailed(Exception):
    """Nothing was taken in; one line says why and what to do."""


class Memory:
    """Everything one process does with the memory. Made by ``open_memory``.

    Adapters and stages are loaded when first asked for: a command from the shell uses one or two of them.
    """

    def __init__(self, settings: Settings, *, url: str, connections: ConnectionPool, clock: Clock) -> None:
        self.settings = settings
        self.url = url
        self.clock = clock
        self.connections = connections
        self._ledger_context: tuple[Lane, str | None, uuid.UUID | None] = ("backfill", None, None)
        self._closers: list[Callable[[], None]] = []

    def close(self) -> None:
        for closer in reversed(self._closers):
            closer()
        self.connections.close()

    @cached_property
    def partitions(self) -> PostgresPartitionStore:
        from pkg_pipeline.adapters.postgres.interactions.partitions import PostgresPartitionStore

        return PostgresPartitionStore(self.connections)

    @cached_property
    def budgets(self) -> PostgresBudgetStore:
        from pkg_pipeline.wiring.lane_caps import budget_store

        return budget_store(self.settings, self.connections)

    @cached_property
    def _ledger(self) -> PostgresLedgerStore:
        from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore

        return PostgresLedgerStore(self.connections)

    @cached_property
    def counter(self) -> TokenCounter:
        from pkg_pipeline.adapters.text.tokens import TiktokenCounter

        return TiktokenCounter()

    @cached_property
    def llm(self) -> Llm:
        """The model that the settings name. Raises LlmMisconfigured or SettingsError."""
        settings = self.settings
        if not settings.uses_anthropic:
            from pkg_pipeline.offline.llm import OfflineLlm

            return OfflineLlm(self.counter)
        from pkg_pipeline.wiring.language_models import anthropic_llm

        llm = anthropic_llm(settings, self.counter, on_attempt=self._record_attempt)
        self._closers.append(llm.close)
        return llm

    def import_path(
        self,
        path: Path,
        *,
        format_name: str | None = None,
        self_rule: str | None = None,
        unknown_self_ok: bool = False,
        missing: Verdict = "open",
        on_progress: Callable[[ExportSource], None] | None = None,
    ) -> ImportReport:
        """Take in a file, folder or zip. Raises ImportFailed, SelfUnknown, SpaceLow.

        ``unknown_self_ok`` is for drops that nobody watches: then an export that does not say whose it is goes in
        without an owner, and the report says so. ``missing`` is what the person says of messages that it lacks.
        """
        from pkg_pipeline.adapters.exports.containers import UnreadableExport
        from pkg_pipeline.adapters.exports.detect import open_export
        from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
        from pkg_pipeline.stages.ingest import owner
        from pkg_pipeline.stages.ingest import report as import_report
        from pkg_pipeline.stages.ingest import stage as ingest

        require_space(self.settings)
        try:
            exports = open_export(path, format=format_name, timezone=self.settings.timezone)
        except (UnreadableExport, ValueError) as error:
            raise ImportFailed(str(error)) from error
        store = PostgresIngestStore(self.connections, counters=self.sessions.counters, now=self.clock.now)
        report = import_report.ImportReport()
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
                missing=missing,
                on_progress=while_there_is_space(self.settings, on_progress),
            )
        if report.counts.deleted:
            self.archive.blank_deleted()
        return report

    def build_interactions(self, chats: Collection[uuid.UUID] | None = None) -> InteractionsReport:
        """Interactions of every touched chat, or of ``chats`` and a few more."""
        from pkg_pipeline.adapters.postgres.interactions.store import PostgresInteractionStore
        from pkg_pipeline.adapters.postgres.monitoring.work import PostgresWorkStore
        from pkg_pipeline.stages.interactions import stage as interactions

        settings = self.settings
        report = interactions.build_interactions(
            PostgresInteractionStore(self.connections),
            clock=self.clock,
            params=interactions.InteractionParams(
                gap_seconds=settings.gap_hours * 3600,
                due_after_seconds=self.due_after_seconds,
                minimum_messages=settings.summary_min_messages,
                mass_senders=settings.mass_senders,
                timezone=settings.timezone,
            ),
            chats=chats,
        )
        PostgresWorkStore(self.connections).keep_first_month()
        self.monitoring.recount()
        return report

    def summarize(
        self,
        days: tuple[date, date],
        *,
        lane: Lane,
        run_id: str | None = None,
        scope: Scope | None = None,
        on_day: Callable[[DayReport], None] = lambda _: None,
    ) -> list[DayReport]:
        """What is due in the closed range of days, or what ``scope`` says of it.

        Raises LlmMisconfigured when every further call would fail.
        """
        from pkg_pipeline.stages.summaries.stores import ALL_DUE

        counted = self.monitoring.counting(on_day)
        reports = self.summaries.summarize(days, lane=lane, run_id=run_id, scope=scope or ALL_DUE, on_day=counted)
        self.monitoring.recount()
        return reports

    @cached_property
    def summaries(self) -> SummaryWork:
        from pkg_pipeline.wiring.summaries import SummaryWork

        return SummaryWork(self)

    @cached_property
    def profiles(self) -> ProfileWork:
        from pkg_pipeline.wiring.profiles import ProfileWork

        return ProfileWork(self)

    @cached_property
    def backfills(self) -> BackfillWork:
        from pkg_pipeline.wiring.backfills import BackfillWork

        return BackfillWork(self)

    @cached_property
    def chunks(self) -> ChunkWork:
        from pkg_pipeline.wiring.chunks import ChunkWork

        return ChunkWork(self)

    @cached_property
    def reembedding(self) -> ReembedWork:
        from pkg_pipeline.wiring.reembed import ReembedWork

        return ReembedWork(self)

    @cached_property
    def archive(self) -> ArchiveWork:
        from pkg_pipeline.wiring.archive import ArchiveWork

        return ArchiveWork(self)

    @cached_property
    def monitoring(self) -> MonitoringWork:
        from pkg_pipeline.wiring.monitoring import MonitoringWork

        return MonitoringWork(self)

    @cached_property
    def recall(self) -> RecallWork:
        from pkg_pipeline.wiring.recall import RecallWork

        return RecallWork(self)

    @cached_property
    def sessions(self) -> SessionWork:
        from pkg_pipeline.wiring.sessions import SessionWork

        return SessionWork(self)

    @cached_property
    def windows(self) -> WindowWork:
        from pkg_pipeline.wiring.windows import WindowWork

        work = WindowWork(self)
        self._closers.append(work.close)
        return work

    @cached_property
    def threads(self) -> ThreadWork:
        from pkg_pipeline.wiring.threads import ThreadWork

        return ThreadWork(self)

    @cached_property
    def comparing(self) -> CompareWork:
        from pkg_pipeline.compare.wiring import CompareWork

        return CompareWork(self)

    @cached_property
    def rewriting(self) -> RewritingWork | None:
        """Other words for questions, one a process; None unless the settings want them."""
        if not self.settings.recall_rewrite:
            return None
        from pkg_pipeline.wiring.rewriting import RewritingWork

        work = RewritingWork(self.settings, self.connections, self.counter)
        self._closers.append(work.close)
        return work

    @cached_property
    def folding(self) -> FoldWork:
        from pkg_pipeline.wiring.folding import FoldWork

        return FoldWork(self)

    @cached_property
    def reads(self) -> PostgresReadStore:
        """Entities, summaries, contexts: nothing here can write memory."""
        from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

        return PostgresReadStore(self.connections, zone=self.settings.zone)

    def context(
        self, entity_id: uuid.UUID, *, max_tokens: int | None, as_of: datetime | None, hint: str | None = None
    ) -> EntityContext:
        """The context of one entity. Raises EntityUnknown, BadRequest."""
        from pkg_pipeline.adapters.postgres.reads.receipts import PostgresReceiptSink
        from pkg_pipeline.stages.reads.context import ContextRequest, entity_context
        from pkg_pipeline.wiring.contexts import context_settings

        return entity_context(
            self.reads,
            self.counter,
            ContextRequest(entity_id=entity_id, now=self.clock.now(), as_of=as_of, max_tokens=max_tokens, hint=hint),
            settings=context_settings(self.settings),
            receipts=PostgresReceiptSink(self.connections) if self.settings.receipts else None,
            relevant=None if hint is None else self.recall.relevant,
        )

    @property
    def model_name(self) -> str:
        """What the settings ask for, known without loading it."""
        return self.settings.llm_model if self.settings.uses_anthropic else OFFLINE_MODEL

    def revive_failed(self) -> int:
        """What was given up under another prompt or model is due again (P19); returns how many."""
        return self.summaries.revive()

    def estimate(self) -> Estimate:
        """What summarising all that is due would take, before anything is paid."""
        return self.summaries.estimate()

    @property
    def due_after_seconds(self) -> float:
        """P12: due at the end plus the minimum age; nothing is complete before the gap has passed."""
        return max(self.settings.summary_min_age_days * 86_400, self.settings.gap_hours * 3_600)

    def paying(self, lane: Lane, run_id: str | None, backfill_id: uuid.UUID | None = None) -> None:
        """On whose account the calls from here on are: for the tries that bring no answer. What processes that are gone
        may have spent is booked first.
        """
        self.budgets.settle_lost()
        self._ledger_context = (lane, run_id, backfill_id)

    def _record_attempt(self, attempt: LlmAttempt) -> None:
        from pkg_pipeline.wiring.attempts import row_of

        lane, run_id, backfill_id = self._ledger_context
        row = row_of(attempt, lane=lane, run_id=run_id, backfill_id=backfill_id)
        if row is not None:
            self._ledger.record(row)
