"""The store of sessions: create, change, list, with their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.adapters.postgres.statements import Statements, part
from pkg_pipeline.memory.session.records import SessionEvent, SessionMessage, SessionState
from pkg_pipeline.stages.sessions.records import FoldSource, SessionChat, SessionRow, SessionStart

FAR = datetime(9999, 1, 1, tzinfo=UTC)
FIRST_ID = UUID(int=0)
PAST_LAST_MESSAGE = 2**63 - 1
SQL = Statements("sessions")
MESSAGE_COLUMNS = (
    "message_id",
    "message_tokens",
    *(field.name for field in fields(SessionMessage) if field.name not in ("id", "token_count")),
)


def make_session(
    connection: Connection, start: SessionStart, counters: SessionCounters, *, selves: Sequence[UUID] = ()
) -> None:
    """Create chat and session if missing and lock both; existing messages are counted.

    ``selves``: entities about to become me, whose chats are locked too.
    """
    chat = start.chat
    described = {"id": [chat.id], "source": [chat.source], "external_id": [chat.external_id], "kind": [chat.kind]}
    connection.execute(query("ingest", "insert_chats"), described)
    connection.execute(query("ingest", "lock_chats"), {"ids": [chat.id], "selves": list(selves)})
    given = {"id": chat.id, "policy": start.policy, "strategy": start.strategy}
    if SQL.run(connection, "insert_session", **given):
        SQL.run(connection, "count_all", id=chat.id)
        _set_due(connection, chat.id, chat.source, counters, start.now)


def _set_due(
    connection: Connection, session_id: UUID, source: str, counters: SessionCounters, now: datetime
) -> SessionState:
    """Set when a locked session is next due."""
    state = SQL.one(connection, "lock_state", SessionState, id=session_id)
    assert state is not None
    ((found, _, _),) = counters.set_due(connection, [(state, source)], now=now)
    return found


class PostgresSessionStore:
    def __init__(self, connections: ConnectionPool, counters: SessionCounters) -> None:
        self._connections = connections
        self._counters = counters

    # ── writing ───────────────────────────────────────────────────────────────────────────────

    def ensure(self, start: SessionStart) -> SessionState:
        """The session, created with its chat if missing."""
        found = self.state(start.chat.id)
        if found is not None:
            return found
        with transaction(self._connections) as connection:
            make_session(connection, start, self._counters)
            state = SQL.one(connection, "state", SessionState, id=start.chat.id)
        if state is None:
            raise RuntimeError("a session that was made is not there")
        return state

    def event(self, session_id: UUID, event: SessionEvent, *, source: str, now: datetime) -> SessionState | None:
        """Request a fold now; None if there is no such session."""
        return self._changed(session_id, "set_event", {"event": event}, source, now)

    def change(
        self, session_id: UUID, changes: Mapping[str, Any], *, source: str, now: datetime
    ) -> SessionState | None:
        """``policy``, ``strategy``, ``interval``, ``label``: None keeps the value, an empty label removes it, interval
        0 is the setting's. None if there is no such session.
        """
        return self._changed(session_id, "change", changes, source, now)

    def _changed(
        self, session_id: UUID, name: str, given: Mapping[str, Any], source: str, now: datetime
    ) -> SessionState | None:
        with transaction(self._connections) as connection:
            if not SQL.run(connection, "lock_state", id=session_id):
                return None
            SQL.run(connection, name, id=session_id, **given)
            return _set_due(connection, session_id, source, self._counters, now)

    # ── reading ───────────────────────────────────────────────────────────────────────────────

    def chat(self, chat_id: UUID) -> SessionChat | None:
        return SQL.one(self._connections, "chat", SessionChat, chat=chat_id)

    def state(self, session_id: UUID) -> SessionState | None:
        return SQL.one(self._connections, "state", SessionState, id=session_id)

    def page(self, *, after: tuple[datetime | None, UUID] | None, limit: int) -> list[SessionRow]:
        at, last = after or (FAR, FIRST_ID)
        found: list[SessionRow] = []
        if at is not None:
            found = SQL.rows(self._connections, "page_dated", _listed, at=at, id=last, limit=limit)
            last = FIRST_ID
        if len(found) < limit:
            found += SQL.rows(self._connections, "page_undated", _listed, id=last, limit=limit - len(found))
        return found

    def recent(self, session_id: UUID, *, limit: int) -> tuple[SessionRow, list[SessionMessage]] | None:
        found = SQL.rows(self._connections, "recent", _with_message, id=session_id, limit=limit)
        if not found:
            return None
        session, _ = found[0]
        return session, [message for _, message in found if message is not None]

    def messages(self, session_id: UUID, *, before_id: int | None, limit: int) -> list[SessionMessage]:
        before = PAST_LAST_MESSAGE if before_id is None else before_id
        return SQL.rows(self._connections, "messages", _message, id=session_id, before=before, limit=limit)

    def sources(self, session_id: UUID, fold_id: UUID) -> list[FoldSource] | None:
        if SQL.value(self._connections, "fold_is_there", id=session_id, fold=fold_id) is None:
            return None
        return SQL.rows(self._connections, "fold_messages", _source, id=session_id, fold=fold_id)


def _listed(*, chat_source: str, chat_external_id: str, chat_title: str | None, **columns: Any) -> SessionRow:
    state = part(SessionState, columns)
    return SessionRow(state, chat_source, chat_external_id, chat_title, **columns)


def _message(*, message_id: int, message_tokens: int, **columns: Any) -> SessionMessage:
    return SessionMessage(id=message_id, token_count=message_tokens, **columns)


def _with_message(**columns: Any) -> tuple[SessionRow, SessionMessage | None]:
    """A session with one of its messages, if any."""
    message = {name: columns.pop(name) for name in MESSAGE_COLUMNS}
    return _listed(**columns), None if message["message_id"] is None else _message(**message)


def _source(*, is_archived: bool, is_deleted: bool, **columns: Any) -> FoldSource:
    return FoldSource(_message(**columns), is_archived, is_deleted)
