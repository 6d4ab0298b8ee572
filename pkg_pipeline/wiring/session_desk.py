"""Live sessions as the command line, HTTP and Python ask for them: names as people give them, answers as JSON shapes.

What is done is the work of ``wiring/sessions``, ``wiring/windows`` and ``wiring/folding``; no rule is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.reading import POOL_WAIT_SECONDS
from pkg_pipeline.memory.hashing import chat_id_of
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.memory.session.records import SessionEvent, Strategy
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS
from pkg_pipeline.stages.sessions.stage import AppendReport
from pkg_pipeline.stages.sessions.stores import SessionUnknown
from pkg_pipeline.wiring.sessions import SessionWork

if TYPE_CHECKING:
    from pkg_pipeline.memory.window.rendering import Form
    from pkg_pipeline.stages.recall.stage import RecallParts
    from pkg_pipeline.wiring.memory import Memory

APPEND_CONNECTIONS = 16
"""At most so many requests are written at the same time; others wait for one of them."""

FOLD_FIGURES: Final = (
    *("folds", "refolds", "messages", "busy", "failed", "deferred", "pending", "quarantined", "reasons", "warnings"),
    *("calls", "input_tokens", "output_tokens", "cost_usd", "source_tokens", "summary_tokens", "seconds"),
)


class NothingRead(ValueError):
    """Every message was refused, so that nothing was done; ``rejected`` says of each where it stands and why."""

    def __init__(self, rejected: list[Rejected]) -> None:
        first = rejected[0]
        more = f" (and {len(rejected) - 1:,} more)" if len(rejected) > 1 else ""
        super().__init__(f"no message could be read: {first.where}: {first.reason}{more}")
        self.rejected = rejected


def listed(messages: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Messages of one list with their places in it."""
    return ((f"messages[{number}]", message) for number, message in enumerate(messages))


class SessionDesk:
    """``session`` is an id or a chat key. Every call raises ``SessionUnknown`` for what is neither or not there."""

    def __init__(self, memory: Memory, *, appending: ConnectionPool | None = None) -> None:
        """``appending``: unchecked connections for that alone, where many append all the time."""
        self._memory = memory
        self._appending = appending
        self._work = memory.sessions if appending is None else SessionWork(memory, appending=appending)

    def append(self, session: str, messages: Iterable[tuple[str, Any]]) -> AppendReport:
        """Take in (place, message) pairs as they came. Raises ``NothingRead``."""
        parsed, rejected = self._work.parse(list(messages))
        if rejected and not parsed:
            raise NothingRead(rejected)
        try:
            return self._work.append(session, parsed, rejected=rejected)
        except (psycopg.OperationalError, psycopg.InterfaceError, *engine.STALE_PLANS) as error:
            # a restarted server leaves idle connections broken, and a migration their plans, which only using them
            # tells: replace those, and once more, since what is there already is not doubled
            if self._appending is None or isinstance(error, PoolTimeout):
                raise
            self._appending.check()
            return self._work.append(session, parsed, rejected=rejected)

    def event(self, session: str, event: SessionEvent) -> dict[str, Any]:
        """Say what happened; the session's fold is due at once."""
        self._work.event(session, event)
        return self._state(session)

    def set(self, session: str, **changes: Any) -> dict[str, Any]:
        """``policy``, ``strategy``, ``summary_interval``, ``label``: None leaves them."""
        self._work.set(session, **changes)
        return self._state(session)

    def fold(self, session: str) -> dict[str, Any]:
        """Fold what is complete and wait for it. Raises ``LlmMisconfigured``."""
        with _named(session) as session_id:
            self._work.ensure(str(session_id))
            try:
                report = self._memory.folding.fold_session(session_id)
            except SettingsError as error:
                raise LlmMisconfigured(str(error)) from error
        state = self._work.show(session)
        figures = {name: getattr(report, name) for name in FOLD_FIGURES}
        return {"session": state["session"], "id": state["id"], **figures}

    def list(self, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> dict[str, Any]:
        """Latest activity first. Raises ``BadCursor``."""
        return self._work.list(limit=limit, cursor=cursor).to_json()

    def show(self, session: str) -> dict[str, Any]:
        """Counters and the last messages."""
        return dict(self._work.show(session))

    def messages(self, session: str, *, limit: int = DEFAULT_ROWS, cursor: str | None = None) -> dict[str, Any]:
        """Newest first. Raises ``BadCursor``."""
        return self._work.messages(session, limit=limit, cursor=cursor).to_json()

    def _state(self, session: str) -> dict[str, Any]:
        shown = self.show(session)
        del shown["recent"]
        return shown

    def window(
        self,
        session: str,
        *,
        model_window: int | None = None,
        system_tokens: int = 0,
        strategy: Strategy | None = None,
        form: Form = "anthropic",
        model: str | None = None,
        query: str | None = None,
    ) -> dict[str, Any]:
        """The next prompt. Raises ``BadRequest``, ``LiveTurnTooLong``."""
        with _named(session) as session_id:
            found = self._memory.windows.window(
                session_id,
                model_window=model_window,
                system_tokens=system_tokens,
                strategy=strategy,
                form=form,
                model=model,
                query=query,
            )
        return found.to_json()


@contextmanager
def serving_desk(
    memory: Memory, *, reads: ConnectionPool, recall: RecallParts, wait_seconds: float = POOL_WAIT_SECONDS
) -> Iterator[SessionDesk]:
    """For a server: windows are read over ``reads``, messages appended over connections of their own, for one of which
    nobody waits longer than ``wait_seconds``, and what was served is recorded behind the answer.
    """
    appending = engine.pool(memory.url, size=APPEND_CONNECTIONS, is_checked=False, wait_seconds=wait_seconds)
    try:
        memory.windows.serving(reads, recall)
        yield SessionDesk(memory, appending=appending)
    finally:
        appending.close()


@contextmanager
def _named(session: str) -> Iterator[UUID]:
    """Its id; that there is none of it is said under the name it was asked by."""
    try:
        session_id = chat_id_of(session)
    except ValueError:
        raise SessionUnknown(f"{session[:100]!r} is neither an id nor a chat key (source:external-id)") from None
    try:
        yield session_id
    except SessionUnknown:
        raise SessionUnknown(f"there is no chat {session}") from None
