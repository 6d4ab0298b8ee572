"""``memory.sessions``: wiring of live sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.sessions.append import PostgresAppendStore
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.sessions.store import PostgresSessionStore
from pkg_pipeline.memory.hashing import chat_id_of
from pkg_pipeline.memory.session import triggers
from pkg_pipeline.memory.session.records import SessionState
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.stages.sessions.stage import AppendReport, Sessions
from pkg_pipeline.wiring.folds import fold_rules
from pkg_pipeline.wiring.models import embedder_name

if TYPE_CHECKING:
    from typing import Unpack

    from pkg_pipeline.stages.folds.stage import Folding
    from pkg_pipeline.stages.window.stage import WindowOptions
    from pkg_pipeline.wiring.process import Process
    from pkg_pipeline.wiring.windows import WindowWork

FOLD_FIGURES: Final = (
    *("folds", "refolds", "messages", "busy", "failed", "deferred", "pending", "quarantined", "reasons", "warnings"),
    *("calls", "input_tokens", "output_tokens", "cost_usd", "source_tokens", "summary_tokens", "seconds"),
)


class SessionWork(Sessions):
    """``Sessions`` with folding, windows and blanking."""

    def __init__(
        self,
        process: Process,
        *,
        windows: Callable[[], WindowWork],
        folding: Callable[[], Folding],
        blank_deleted: Callable[[], object],
        appending: ConnectionPool | None = None,
        on_change: Callable[[UUID], object] = lambda _: None,
    ) -> None:
        """``appending``: unchecked connections reserved for appends. ``on_change`` gets the chat whose words an append
        changed. Other stages are built on first use.
        """
        self._windows, self._folding, self._blank_deleted, self._unchecked = windows, folding, blank_deleted, appending
        self._on_change = on_change
        settings = process.settings
        rules, has_embedder = fold_rules(settings), embedder_name(settings) is not None

        def due_at(state: SessionState, source: str, now: datetime) -> datetime | None:
            return triggers.due_at(state, rules, now=now, has_embedder=has_embedder, source=source)

        self.counters = SessionCounters(due_at)
        super().__init__(
            PostgresAppendStore(appending or process.connections, self.counters),
            PostgresSessionStore(process.connections, self.counters),
            counter=process.counter,
            clock=process.clock,
            zone=settings.zone,
            policy=settings.session_policy,
            strategy=settings.session_strategy,
            record_usage=lambda session_id, usage: windows().reported(session_id, usage),
        )

    def append(self, session: str, given: Iterable[tuple[str, Any]]) -> AppendReport:
        """As in ``Sessions``; also blanks messages deleted long enough ago (P29)."""
        given = list(given)
        try:
            report = super().append(session, given)
        except (psycopg.OperationalError, psycopg.InterfaceError, *engine.STALE_PLANS) as error:
            # connections broken by a server restart, or plans by a migration, show only in use: replace them and
            # repeat once; stored messages are not doubled
            if self._unchecked is None or isinstance(error, PoolTimeout):
                raise
            self._unchecked.check()
            report = super().append(session, given)
        counts = report.counts
        if counts.deleted:
            self._blank_deleted()
        if counts.new or counts.updated or counts.deleted:
            self._on_change(report.chat.id)
        return report

    def fold(self, session: str) -> dict[str, Any]:
        """Fold what is complete and wait. Raises SessionUnknown, LlmMisconfigured."""
        with _named(session) as session_id:
            self.ensure(str(session_id))
            try:
                report = self._folding().fold_session(session_id)
            except SettingsError as error:
                raise LlmMisconfigured(str(error)) from error
        state = self.show(session)
        return {
            "session": state["session"],
            "id": state["id"],
            **{name: getattr(report, name) for name in FOLD_FIGURES},
        }

    def window(self, session: str, **options: Unpack[WindowOptions]) -> dict[str, Any]:
        """The next prompt. Raises SessionUnknown, BadRequest, LiveTurnTooLong, StoreUnavailable."""
        with _named(session) as session_id:
            return self._windows().window(session_id, **options).to_json()


@contextmanager
def _named(session: str) -> Iterator[UUID]:
    """The session's id; errors name the session as given."""
    try:
        session_id = chat_id_of(session)
    except ValueError:
        raise SessionUnknown(f"{session[:100]!r} is neither an id nor a chat key (source:external-id)") from None
    try:
        yield session_id
    except SessionUnknown:
        raise SessionUnknown(f"there is no chat {session}") from None
