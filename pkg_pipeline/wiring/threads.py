"""Agent threads from a LangGraph saver's database. LangGraph is an extra, imported on use."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.ingest.threads import PostgresThreadMemory
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.archive import erasing
from pkg_pipeline.stages.archive.erasing import ErasureReport
from pkg_pipeline.stages.ingest import stage as ingest
from pkg_pipeline.stages.ingest import threads
from pkg_pipeline.stages.ingest.records import ImportReport
from pkg_pipeline.stages.ingest.threads import (
    SOURCE,
    LookedThrough,
    PruneParts,
    PruneResult,
    PruneRules,
    Threads,
    ThreadUnknown,
    ThreadUnreadable,
)
from pkg_pipeline.stages.interactions.stage import InteractionsReport
from pkg_pipeline.stages.ports import LlmError
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.wiring.forecasts import WorkEstimate
from pkg_pipeline.wiring.monitoring import leave_unreported
from pkg_pipeline.wiring.process import require_space

if TYPE_CHECKING:
    from pkg_pipeline.stages.folds.stage import Folding
    from pkg_pipeline.wiring.chunks import ChunkWork
    from pkg_pipeline.wiring.process import Process
    from pkg_pipeline.wiring.sessions import SessionWork

EXTRA = "LangGraph is not installed here; add the extra: pip install 'pkg-pipeline[langgraph]'"


@dataclass(slots=True)
class ThreadImport:
    """``passed_over``: (thread, reason) of unreadable ones."""

    report: ImportReport = field(default_factory=ImportReport)
    passed_over: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def to_json(self) -> dict[str, Any]:
        said = self.report.to_json()
        said["threads"] = said.pop("files")
        return {**said, "passed_over": [{"thread": thread, "reason": reason} for thread, reason in self.passed_over]}


@dataclass(frozen=True, slots=True)
class Across:
    sessions: Callable[[], SessionWork]
    build: Callable[[Collection[UUID]], InteractionsReport]
    estimate: Callable[[], WorkEstimate]
    folding: Callable[[], Folding]
    chunks: Callable[[], ChunkWork]


class ThreadWork:
    """``memory.threads``. Raises SettingsError without the extra or an address, ThreadsUnavailable by the adapter."""

    def __init__(self, process: Process, across: Across, *, url: str | None = None) -> None:
        self._process, self._across = process, across
        self._url = url
        self._known = PostgresThreadMemory(process.connections)
        self._opened: Threads | None = None

    def at(self, url: str | None) -> ThreadWork:
        return self if url is None else ThreadWork(self._process, self._across, url=url)

    @property
    def source(self) -> Threads:
        if self._opened is None:
            given = self._process.settings.langgraph_url
            url = self._url or (None if given is None else given.get_secret_value())
            self._opened = open_threads(url)
        return self._opened

    def list(self) -> list[dict[str, Any]]:
        """L8: threads with label, last activity and state in the memory, latest first."""
        labels = self._known.labels(SOURCE)
        found: list[dict[str, Any]] = []
        for one in self.source.list():
            label = labels.get(one.thread_id)
            found.append(
                {
                    "thread": one.thread_id,
                    "label": None if label is None else label.label,
                    "last_activity_at": None if one.last_at is None else iso(one.last_at),
                    "checkpoints": one.checkpoints,
                    "imported_messages": 0 if label is None else label.messages,
                    "folds": 0 if label is None else label.folds,
                }
            )
        return found

    def names(self) -> list[str]:
        return [one.thread_id for one in self.source.list()]

    def take_in(self, thread_ids: Sequence[str], *, on_thread: Callable[[str], None] = lambda _: None) -> ThreadImport:
        """Import threads as sessions; unreadable ones are skipped."""
        done = ThreadImport()
        for thread_id in thread_ids:
            on_thread(thread_id)
            try:
                self._take_in(thread_id, done.report)
            except (ThreadUnreadable, ThreadUnknown) as error:
                done.passed_over.append((thread_id, str(error)))
        return done

    def _take_in(self, thread_id: str, report: ImportReport) -> None:
        process, sessions = self._process, self._across.sessions()
        require_space(process.settings)
        export, notes = threads.export_of(self.source, self._known, thread_id)
        report.warnings += [f"{thread_id}: {note}" for note in notes]
        ingest.import_export(
            export,
            store=PostgresIngestStore(process.connections, counters=sessions.counters, now=process.clock.now),
            counter=process.counter,
            selves=frozenset(),
            report=report,
            batch_id=uuid.uuid4(),
        )
        sessions.ensure(hashing.chat_key(SOURCE, thread_id), policy="thread_size")

    def build(self, report: ImportReport) -> tuple[InteractionsReport, WorkEstimate]:
        made = self._across.build(report.chats)
        leave_unreported(self._process, report, made)
        return made, self._across.estimate()

    def prune(self, thread_id: str, *, dry_run: bool = False) -> PruneResult:
        """L2 for one thread."""
        return threads.prune(self._parts(), thread_id, dry_run=dry_run)

    def long(self, before: LookedThrough) -> LookedThrough:
        """L2: which threads are to be pruned, going on where ``before`` ended."""
        return threads.long_threads(self._parts(), before)

    def _parts(self) -> PruneParts:
        return PruneParts(
            threads=self.source,
            memory=self._known,
            take_in=lambda thread: self._take_in(thread, ImportReport()),
            build=lambda thread: _nothing(self._across.build([hashing.chat_id(SOURCE, thread)])),
            fold=self._fold,
            make_chunks=self._make_chunks,
            rules=PruneRules(most_messages=self._process.settings.max_messages_per_thread),
        )

    def covered(self, chat_id: UUID, message_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(message_ids) - self._known.coverage(chat_id, message_ids).missing

    def _fold(self, chat_id: UUID, by_hand: bool) -> str | None:
        """Why folding stopped, or None; a failing model is such a reason."""
        try:
            report = self._across.folding().fold_session(chat_id, trigger="manual" if by_hand else None)
        except (LlmError, SessionUnknown) as error:
            return str(error)
        if not self._process.settings.enable_summary:
            return "summaries are switched off (MEMORY_ENABLE_SUMMARY)"
        return "; ".join([*report.reasons, *report.warnings]) or None

    def _make_chunks(self, days: tuple[date, date]) -> str | None:
        reports = self._across.chunks().build(days)
        reasons = list(dict.fromkeys(reason for one in reports if one.pending for reason in one.reasons))
        return "; ".join(reasons) or ("some wait" if any(one.pending for one in reports) else None)

    def delete(self, thread_id: str) -> tuple[bool, ErasureReport]:
        """L8: delete the thread in LangGraph and in the memory; (whether LangGraph had it, counts)."""
        was_there = self.source.delete(thread_id)
        return was_there, self.forget(thread_id)

    def forget(self, thread_id: str) -> ErasureReport:
        """Delete the thread from the memory only."""
        return erasing.erase_chat(PostgresErasure(self._process.connections), threads.chat_of(thread_id))


def open_threads(url: str | None) -> Threads:
    """Raises SettingsError without an address or the extra."""
    if not url:
        raise SettingsError(
            "PKG_LANGGRAPH_URL: set it, or give --url, to the database that LangGraph's saver writes to"
        )
    try:
        from pkg_pipeline.adapters.langgraph.threads import PostgresThreads
    except ImportError as error:
        raise SettingsError(EXTRA) from error
    return PostgresThreads(url)


def _nothing(_: object) -> None:
    """A report that nobody reads here."""
