"""Reads of the folding stage."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.statements import Statements, part
from pkg_pipeline.memory.session.records import SessionMessage, SessionState
from pkg_pipeline.stages.folds.stores import DirtyFold, Running, SessionView

SQL = Statements("folds")


class PostgresFoldReads:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def view(self, session_id: UUID) -> SessionView | None:
        return SQL.one(self._connections, "view", view_of, session=session_id)

    def page(self, session_id: UUID, *, after_id: int, to_id: int, limit: int) -> list[SessionMessage]:
        """Undeleted messages, service entries included, of (``after_id``, ``to_id``], in order."""
        given = {"session": session_id, "after": after_id, "to": to_id, "limit": limit}
        return SQL.rows(self._connections, "page", SessionMessage, **given)

    def tail(self, session_id: UUID, *, after_id: int, limit: int) -> list[SessionMessage]:
        """The last ``limit`` messages after ``after_id``, in order."""
        return SQL.rows(self._connections, "tail", SessionMessage, session=session_id, after=after_id, limit=limit)

    def earlier(self, session_id: UUID, *, before_id: int, limit: int) -> list[str]:
        """Summaries of the last folds before ``before_id``, oldest first; none that rests on a deleted message."""
        return SQL.values(self._connections, "earlier", session=session_id, before=before_id, limit=limit)[::-1]

    def summaries(self, session_id: UUID) -> list[tuple[int, str]]:
        """(last message id, summary) of every live fold, oldest first, without those that rest on a deleted message."""
        return SQL.rows(self._connections, "summaries", session=session_id)

    def next_dirty(self, session_id: UUID) -> DirtyFold | None:
        """The oldest dirty fold."""
        return SQL.one(self._connections, "next_dirty", DirtyFold, session=session_id)

    def is_folded(self, session_id: UUID, *, to_id: int, input_hash: str) -> bool:
        """Whether a live fold has exactly this input (H8)."""
        return SQL.value(self._connections, "is_folded", session=session_id, to=to_id, input_hash=input_hash)


def view_of(**columns: Any) -> SessionView:
    """A row of the statement ``view``."""
    state, running = part(SessionState, columns), part(Running, columns)
    return SessionView(state=state, running=running, **columns)
