"""Live sessions over the adapters and policies of the settings in force: ``memory.sessions``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.reading import POOL_WAIT_SECONDS
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
from pkg_pipeline.wiring.embedders import embedder_name
from pkg_pipeline.wiring.folds import fold_rules

if TYPE_CHECKING:
    from typing import Unpack

    from pkg_pipeline.stages.recall.stage import RecallParts
    from pkg_pipeline.stages.window.stage import WindowOptions
    from pkg_pipeline.wiring.memory import Memory

APPEND_CONNECTIONS = 16
"""At most so many requests are written at the same time; others wait for one of them."""

FOLD_FIGURES: Final = (
    *("folds", "refolds", "messages", "busy", "failed", "deferred", "pending", "quarantined", "reasons", "warnings"),
    *("calls", "input_tokens", "output_tokens", "cost_usd", "source_tokens", "summary_tokens", "seconds"),
)


class SessionWork(Sessions):
    """The stage over the memory's stores, and what goes across stages: folding at once, windows, blanking."""

    def __init__(self, memory: Memory, *, appending: ConnectionPool | None = None) -> None:
        """``appending``: unchecked connections for that alone, where many append all the time."""
        self._memory, self._unchecked = memory, appending
        settings = memory.settings
        rules, has_embedder = fold_rules(settings), embedder_name(settings) is not None

        def due_at(state: SessionState, source: str, now: datetime) -> datetime | None:
            return triggers.due_at(state, rules, now=now, has_embedder=has_embedder, source=source)

        self.counters = SessionCounters(due_at)
        super().__init__(
            PostgresAppendStore(appending or memory.connections, self.counters),
            PostgresSessionStore(memory.connections, self.counters),
            counter=memory.counter,
            clock=memory.clock,
            zone=settings.zone,
            policy=settings.session_policy,
            strategy=settings.session_strategy,
            record_usage=lambda session_id, usage: memory.windows.reported(session_id, usage),
        )

    def append(self, session: str, given: Iterable[tuple[str, Any]]) -> AppendReport:
        """As the stage says; words of messages that were deleted long enough ago are blanked (P29)."""
        given = list(given)
        try:
            report = super().append(session, given)
        except (psycopg.OperationalError, psycopg.InterfaceError, *engine.STALE_PLANS) as error:
            # a restarted server leaves idle connections broken, and a migration their plans, which only using them
            # tells: replace those, and once more, since what is there already is not doubled
            if self._unchecked is None or isinstance(error, PoolTimeout):
                raise
            self._unchecked.check()
            report = super().append(session, given)
        if report.counts.deleted:
            self._memory.archive.blank_deleted()
        return report

    def fold(self, session: str) -> dict[str, Any]:
        """Fold what is complete and wait for it. Raises SessionUnknown, LlmMisconfigured."""
        with _named(session) as session_id:
            self.ensure(str(session_id))
            try:
                report = self._memory.folding.fold_session(session_id)
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
            return self._memory.windows.window(session_id, **options).to_json()


@contextmanager
def serving_sessions(
    memory: Memory, *, reads: ConnectionPool, recall: RecallParts, wait_seconds: float = POOL_WAIT_SECONDS
) -> Iterator[SessionWork]:
    """For a server: windows are read over ``reads``, messages appended over connections of their own, for one of which
    nobody waits longer than ``wait_seconds``, and what was served is recorded behind the answer.
    """
    appending = engine.pool(memory.url, size=APPEND_CONNECTIONS, is_checked=False, wait_seconds=wait_seconds)
    try:
        memory.windows.serving(reads, recall)
        yield SessionWork(memory, appending=appending)
    finally:
        appending.close()


@contextmanager
def _named(session: str) -> Iterator[UUID]:
    """The id of a session; that there is none is said under the name it was asked by."""
    try:
        session_id = chat_id_of(session)
    except ValueError:
        raise SessionUnknown(f"{session[:100]!r} is neither an id nor a chat key (source:external-id)") from None
    try:
        yield session_id
    except SessionUnknown:
        raise SessionUnknown(f"there is no chat {session}") from None
