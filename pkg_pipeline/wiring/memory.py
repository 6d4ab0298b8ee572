"""``Memory``: all operations of one process; adapters are built on first use."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from pkg_pipeline.adapters.postgres.reading import POOL_WAIT_SECONDS
from pkg_pipeline.wiring.process import Process, require_space, while_there_is_space

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.memory.message.deletions import Verdict
    from pkg_pipeline.stages.folds.stage import Folding
    from pkg_pipeline.stages.ingest.records import ExportSource, ImportReport
    from pkg_pipeline.stages.interactions.stage import InteractionsReport
    from pkg_pipeline.stages.items.deciding import ItemEdit
    from pkg_pipeline.stages.items.stage import Items
    from pkg_pipeline.stages.ports import Billing
    from pkg_pipeline.stages.profiles.stage import Profiles
    from pkg_pipeline.stages.reads.context import Asked, EntityContext
    from pkg_pipeline.stages.recall.stage import RecallParts
    from pkg_pipeline.stages.summaries.backfill import Backfills
    from pkg_pipeline.stages.summaries.batched import BatchedSummaries
    from pkg_pipeline.stages.summaries.stage import DayReport, Summaries
    from pkg_pipeline.stages.summaries.stores import Scope
    from pkg_pipeline.wiring.archive import ArchiveWork
    from pkg_pipeline.wiring.briefs import BriefWork
    from pkg_pipeline.wiring.chunks import ChunkWork, ReembedWork
    from pkg_pipeline.wiring.forecasts import WorkEstimate
    from pkg_pipeline.wiring.forgetting import ForgettingWork
    from pkg_pipeline.wiring.marts import MartWork
    from pkg_pipeline.wiring.monitoring import MonitoringWork
    from pkg_pipeline.wiring.recall import RecallWork
    from pkg_pipeline.wiring.rewriting import RewritingWork
    from pkg_pipeline.wiring.sessions import SessionWork
    from pkg_pipeline.wiring.threads import ThreadWork
    from pkg_pipeline.wiring.windows import WindowWork


APPEND_CONNECTIONS = 16
"""Requests written at the same time; others wait."""


class ImportFailed(Exception):
    """Nothing was imported; one line with the reason and remedy."""


class Memory(Process):
    """All operations on one memory; made by ``open_memory``."""

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
        """Import a file, folder or zip. Raises ImportFailed, SelfUnknown, SpaceLow.

        ``unknown_self_ok``: an export without a known owner is imported anyway, and reported. ``missing``: verdict on
        messages it lacks.
        """
        from pkg_pipeline.adapters.exports.containers import UnreadableExport
        from pkg_pipeline.adapters.exports.detect import open_export
        from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
        from pkg_pipeline.stages.ingest import owner
        from pkg_pipeline.stages.ingest import stage as ingest
        from pkg_pipeline.stages.ingest.records import ImportReport

        require_space(self.settings)
        try:
            exports = open_export(path, format=format_name, timezone=self.settings.timezone)
        except (UnreadableExport, ValueError) as error:
            raise ImportFailed(str(error)) from error
        store = PostgresIngestStore(self.connections, counters=self.sessions.counters, now=self.clock.now)
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
                missing=missing,
                on_progress=while_there_is_space(self.settings, on_progress),
            )
        if report.counts.deleted:
            self.archive.blank_deleted()
        return report

    def build_interactions(
        self, chats: Collection[uuid.UUID] | None = None, *, alone: bool = False
    ) -> InteractionsReport:
        """Build interactions of all changed chats, or of ``chats`` and, unless ``alone``, a few more."""
        from pkg_pipeline.wiring.interactions import build_interactions

        return build_interactions(self, chats, alone=alone)

    def make_searchable(self, chats: Collection[uuid.UUID] | None = None, *, alone: bool = False) -> InteractionsReport:
        """As ``build_interactions``; where little changed, recall finds it from now on, else once its days are run."""
        built = self.build_interactions(chats, alone=alone)
        self.chunks.make_at_once(built)
        return built

    def summarize(
        self,
        days: tuple[date, date],
        billing: Billing,
        scope: Scope | None = None,
        on_day: Callable[[DayReport], None] = lambda _: None,
    ) -> list[DayReport]:
        """Summarise what is due in the closed range of days within ``scope``; a backfill's account implies its scope.
        Raises LlmMisconfigured, ``BackfillUnknown``.
        """
        from pkg_pipeline.wiring.summaries import summarize

        return summarize(self, days, billing, scope, on_day)

    @cached_property
    def batched(self) -> BatchedSummaries:
        from pkg_pipeline.wiring.summaries import batched_summaries

        return batched_summaries(self)

    @cached_property
    def summaries(self) -> Summaries:
        from pkg_pipeline.wiring.summaries import summaries_stage

        return summaries_stage(self)

    @cached_property
    def items(self) -> Items:
        from pkg_pipeline.wiring.items import items_stage

        return items_stage(self)

    @cached_property
    def profiles(self) -> Profiles:
        from pkg_pipeline.wiring.summaries import profiles_stage

        return profiles_stage(self)

    @cached_property
    def backfills(self) -> Backfills:
        from pkg_pipeline.wiring.summaries import backfills_stage

        return backfills_stage(self, self.summaries)

    @cached_property
    def chunks(self) -> ChunkWork:
        from pkg_pipeline.wiring.chunks import ChunkWork

        return ChunkWork(self)

    @cached_property
    def reembedding(self) -> ReembedWork:
        from pkg_pipeline.wiring.chunks import ReembedWork

        return ReembedWork(self)

    @cached_property
    def archive(self) -> ArchiveWork:
        from pkg_pipeline.wiring.archive import ArchiveWork

        return ArchiveWork(self)

    @cached_property
    def marts(self) -> MartWork:
        from pkg_pipeline.wiring.marts import MartWork

        return MartWork(self)

    @cached_property
    def monitoring(self) -> MonitoringWork:
        from pkg_pipeline.wiring.monitoring import MonitoringWork

        return MonitoringWork(self)

    @cached_property
    def recall(self) -> RecallWork:
        from pkg_pipeline.wiring.recall import RecallWork

        return RecallWork(self, rewriting=self.rewriting)

    @cached_property
    def sessions(self) -> SessionWork:
        return self.session_work()

    @contextmanager
    def serving_sessions(
        self,
        *,
        reads: ConnectionPool,
        recall: RecallParts,
        connections: int = APPEND_CONNECTIONS,
        wait_seconds: float = POOL_WAIT_SECONDS,
    ) -> Iterator[SessionWork]:
        """For a server: reads over ``reads``, appends over own connections (waiting at most ``wait_seconds``), receipts
        written after the answer, and what was appended made searchable after it.
        """
        from pkg_pipeline.adapters.postgres.background_sink import BackgroundSink
        from pkg_pipeline.wiring.searchable import SearchableChats

        appending = self.pool(
            self.url, size=connections, is_checked=False, wait_seconds=wait_seconds, now=self.settings.now
        )
        chats = SearchableChats(self)
        making = BackgroundSink(chats, name="searchable")
        try:
            self.windows.serving(reads, recall)
            yield self.session_work(appending=appending, on_change=making.put)
        finally:
            chats.end()
            making.close()
            appending.close()

    def session_work(
        self, *, appending: ConnectionPool | None = None, on_change: Callable[[uuid.UUID], object] = lambda _: None
    ) -> SessionWork:
        """``appending``, ``on_change``: as in ``SessionWork``."""
        from pkg_pipeline.wiring.sessions import SessionWork

        return SessionWork(
            self,
            windows=lambda: self.windows,
            folding=lambda: self.folding,
            blank_deleted=lambda: self.archive.blank_deleted(),
            appending=appending,
            on_change=on_change,
        )

    @cached_property
    def windows(self) -> WindowWork:
        from pkg_pipeline.wiring.windows import WindowWork

        work = WindowWork(self, recall=lambda: self.recall.parts, ensure=lambda session: self.sessions.ensure(session))
        self.at_close(work.close)
        return work

    @cached_property
    def threads(self) -> ThreadWork:
        from pkg_pipeline.wiring.threads import Across, ThreadWork

        across = Across(
            sessions=lambda: self.sessions,
            build=self.build_interactions,
            estimate=self.estimate,
            folding=lambda: self.folding,
            chunks=lambda: self.chunks,
        )
        return ThreadWork(self, across)

    @cached_property
    def forgetting(self) -> ForgettingWork:
        from pkg_pipeline.wiring.forgetting import ForgettingWork

        return ForgettingWork(self, self.sessions)

    @cached_property
    def rewriting(self) -> RewritingWork | None:
        """Rephrasing of questions, one per process; None if switched off."""
        if not self.settings.recall_rewrite:
            return None
        from pkg_pipeline.wiring.rewriting import RewritingWork

        work = RewritingWork(self.settings, self.connections, self.counter)
        self.at_close(work.close)
        return work

    @cached_property
    def briefs(self) -> BriefWork:
        """Contexts in brief, one per process."""
        from pkg_pipeline.wiring.briefs import BriefWork

        work = BriefWork(self.settings, self.connections, self.counter)
        self.at_close(work.close)
        return work

    @cached_property
    def folding(self) -> Folding:
        from pkg_pipeline.wiring.folds import folding_stage

        return folding_stage(self)

    @cached_property
    def reads(self) -> PostgresReadStore:
        from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

        return PostgresReadStore(self.connections, zone=self.settings.zone)

    @cached_property
    def item_reads(self) -> PostgresItemReads:
        from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads

        return PostgresItemReads(self.connections, zone=self.settings.zone)

    def estimate(self) -> WorkEstimate:
        """Of all readings and summaries that are due. Raises LlmMisconfigured."""
        from pkg_pipeline.wiring.forecasts import WorkEstimate

        return WorkEstimate(self.summaries.estimate(), self.items.estimate())

    def decide_item(self, item_id: uuid.UUID, wanted: ItemEdit) -> None:
        """Keep what a person decided, and apply it. Raises ItemUnknown, BadRequest."""
        from pkg_pipeline.adapters.postgres.items.verdicts import PostgresVerdictStore
        from pkg_pipeline.stages.items.deciding import decide

        decide(PostgresVerdictStore(self.connections), item_id, wanted, now=self.clock.now())

    def context(self, entity_id: uuid.UUID, *, brief: bool = False, **asked: Unpack[Asked]) -> EntityContext:
        """The context of one entity. Raises EntityUnknown, BadRequest."""
        from pkg_pipeline.adapters.postgres.reads.receipts import PostgresReceiptSink
        from pkg_pipeline.stages.reads.context import ContextRequest, entity_context
        from pkg_pipeline.wiring.contexts import context_settings

        return entity_context(
            self.reads,
            self.counter,
            ContextRequest(entity_id=entity_id, now=self.clock.now(), **asked),
            settings=context_settings(self.settings),
            receipts=PostgresReceiptSink(self.connections) if self.settings.receipts else None,
            relevant=None if asked.get("hint") is None else self.recall.relevant,
            brief=self.briefs.brief if brief else None,
        )
