"""Sessions as rows: made, set, asked for, listed, with their messages. Appending is ``append_store``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.counters import STATE_COLUMNS, SessionCounters, state_of
from pkg_pipeline.memory.session.records import SessionEvent, SessionMessage, SessionState
from pkg_pipeline.stages.sessions.records import FoldSource, SessionChat, SessionRow, SessionStart

FAR = datetime(9999, 1, 1, tzinfo=UTC)
FIRST_ID = UUID(int=0)
PAST_LAST_MESSAGE = 2**63 - 1
ROW_COLUMNS = STATE_COLUMNS + 9


def make_session(
    connection: Connection, start: SessionStart, counters: SessionCounters, *, selves: Sequence[UUID] = ()
) -> None:
    """The chat and its session where they are missing, both locked then; a chat's messages are counted once.

    ``selves`` are entities that are about to become me: their chats are locked along (as imports do).
    """
    chat = start.chat
    described = {"id": [chat.id], "source": [chat.source], "external_id": [chat.external_id], "kind": [chat.kind]}
    connection.execute(query("ingest", "insert_chats"), described)
    connection.execute(query("ingest", "lock_chats"), {"ids": [chat.id], "selves": list(selves)})
    given = {"id": chat.id, "policy": start.policy, "strategy": start.strategy}
    if connection.execute(query("sessions", "insert_session"), given).fetchone() is not None:
        connection.execute(query("sessions", "count_all"), given)
        _set_due(connection, chat.id, chat.source, counters, start.now)


def _set_due(
    connection: Connection, session_id: UUID, source: str, counters: SessionCounters, now: datetime
) -> SessionState:
    """Says when a session that is locked is asked next."""
    row = connection.execute(query("sessions", "lock_state"), {"id": session_id}).fetchone()
    assert row is not None
    return counters.set_due(connection, [(state_of(row), source)], now=now)[0][0]


class PostgresSessionStore:
    """Rows of ``conversation_sessions`` with their chats and messages."""

    def __init__(self, connections: ConnectionPool, counters: SessionCounters) -> None:
        self._connections = connections
        self._counters = counters

    # ── writing ───────────────────────────────────────────────────────────────────────────────

    def ensure(self, start: SessionStart) -> SessionState:
        """The session, made with its chat where there is none; of a chat that was there the counters are counted."""
        found = self.state(start.chat.id)
        if found is not None:
            return found
        with transaction(self._connections) as connection:
            make_session(connection, start, self._counters)
            row = connection.execute(query("sessions", "state"), {"id": start.chat.id}).fetchone()
        if row is None:
            raise RuntimeError("a session that was made is not there")
        return state_of(row)

    def event(self, session_id: UUID, event: SessionEvent, *, source: str, now: datetime) -> SessionState | None:
        """Asks for a fold at once; None where there is no such session."""
        return self._changed(session_id, "set_event", {"event": event}, source, now)

    def change(
        self, session_id: UUID, changes: Mapping[str, Any], *, source: str, now: datetime
    ) -> SessionState | None:
        """``policy``, ``strategy``, ``interval``, ``label``: None leaves it. An empty label takes it away, an interval
        of 0 is that of the settings. None where there is no such session.
        """
        return self._changed(session_id, "change", changes, source, now)

    def _changed(
        self, session_id: UUID, name: str, given: Mapping[str, Any], source: str, now: datetime
    ) -> SessionState | None:
        with transaction(self._connections) as connection:
            if connection.execute(query("sessions", "lock_state"), {"id": session_id}).fetchone() is None:
                return None
            connection.execute(query("sessions", name), {"id": session_id, **given})
            return _set_due(connection, session_id, source, self._counters, now)

    # ── reading ───────────────────────────────────────────────────────────────────────────────

    def chat(self, chat_id: UUID) -> SessionChat | None:
        rows = self._rows("chat", {"chat": chat_id})
        return SessionChat(*rows[0]) if rows else None

    def state(self, session_id: UUID) -> SessionState | None:
        rows = self._rows("state", {"id": session_id})
        return state_of(rows[0]) if rows else None

    def page(self, *, after: tuple[datetime | None, UUID] | None, limit: int) -> list[SessionRow]:
        """Latest activity first, those without any last."""
        at, last = after or (FAR, FIRST_ID)
        rows: list[tuple[Any, ...]] = []
        if at is not None:
            rows = self._rows("page_dated", {"at": at, "id": last, "limit": limit})
            last = FIRST_ID
        if len(rows) < limit:
            rows += self._rows("page_undated", {"id": last, "limit": limit - len(rows)})
        return [_row(row) for row in rows]

    def recent(self, session_id: UUID, *, limit: int) -> tuple[SessionRow, list[SessionMessage]] | None:
        """H16: the counters and the last live messages, oldest first, in one bounded statement."""
        rows = self._rows("recent", {"id": session_id, "limit": limit})
        if not rows:
            return None
        return _row(rows[0]), [message_of(row[ROW_COLUMNS:]) for row in rows if row[ROW_COLUMNS] is not None]

    def messages(self, session_id: UUID, *, before_id: int | None, limit: int) -> list[SessionMessage]:
        """Live messages of a chat, newest first; archived texts are read from the archive."""
        before = PAST_LAST_MESSAGE if before_id is None else before_id
        return [message_of(row) for row in self._rows("messages", {"id": session_id, "before": before, "limit": limit})]

    def sources(self, session_id: UUID, fold_id: UUID) -> list[FoldSource] | None:
        """T6: all that a fold covers, in order; None where there is no such fold."""
        given = {"id": session_id, "fold": fold_id}
        if not self._rows("fold_is_there", given):
            return None
        return [FoldSource(message_of(row), row[-2], row[-1]) for row in self._rows("fold_messages", given)]

    def _rows(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with self._connections.connection() as connection:
            return connection.execute(query("sessions", name), parameters).fetchall()


def _row(row: Sequence[Any]) -> SessionRow:
    return SessionRow(state_of(row), *row[STATE_COLUMNS:ROW_COLUMNS])


def message_of(row: Sequence[Any]) -> SessionMessage:
    """The columns of a message, as every statement here gives them."""
    (
        number,
        external_id,
        sent_at,
        text,
        role,
        kind,
        parts,
        sender,
        name,
        is_self,
        is_outgoing,
        content_hash,
        tokens,
        score,
        reason,
        is_folded,
        *_,
    ) = row
    return SessionMessage(
        id=number,
        external_id=external_id,
        sent_at=sent_at,
        text=text,
        role=role,
        kind=kind,
        parts=None if parts is None else tuple(parts),
        sender_entity_id=sender,
        sender_name=name or "",
        is_self=bool(is_self),
        is_outgoing=is_outgoing,
        content_hash=content_hash,
        token_count=tokens,
        importance_score=score,
        importance_reason=reason,
        is_folded=is_folded,
    )
