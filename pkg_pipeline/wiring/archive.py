"""Wiring of the archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.postgres.archive.store import PostgresArchiveStore
from pkg_pipeline.stages.archive import stage as archive
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.stages.archive.stage import ArchiveDeps, ArchiveParams, ArchiveStatus, MonthReport, RestoreReport

if TYPE_CHECKING:
    from pkg_pipeline.wiring.process import Process


class ArchiveWork:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._store = PostgresArchiveStore(process.connections)

    def due_months(self) -> list[date]:
        return archive.due_months(self._deps, self._params)

    def archive_months(
        self,
        months: Sequence[date],
        *,
        run_id: str | None = None,
        on_month: Callable[[MonthReport], None] = lambda _: None,
    ) -> list[MonthReport]:
        del run_id
        return archive.archive_months(months, deps=self._deps, params=self._params, on_month=on_month)

    def blank_deleted(self) -> int:
        """Blank messages deleted at their source long enough ago; returns how many."""
        after_days = self._process.settings.deleted_revision_retention_days
        return archive.blank_deleted(self._store, clock=self._process.clock, after_days=after_days)

    def status(self) -> ArchiveStatus:
        return archive.status(self._deps, self._params)

    def restore(self, scope: RestoreScope) -> RestoreReport:
        """Restore texts unchanged. Raises ``stages.archive.NothingThere``."""
        after_days = self._process.settings.archive_after_days
        return archive.restore(scope, store=self._store, clock=self._process.clock, after_days=after_days)

    def compact(self) -> tuple[int, int]:
        """Bytes of messages and archive before and after the rewrite. Raises ``ArchiveBusy``."""
        return self._store.compact()

    @cached_property
    def _deps(self) -> ArchiveDeps:
        return ArchiveDeps(
            store=self._store,
            partitions=self._process.partitions,
            clock=self._process.clock,
        )

    @cached_property
    def _params(self) -> ArchiveParams:
        settings = self._process.settings
        return ArchiveParams(
            after_days=settings.archive_after_days,
            keep_months=settings.archive_keep_months,
            minimum_messages=settings.summary_min_messages,
            zone=settings.zone,
        )
