"""What the folding stage reads: sessions with their state, pages of their messages, folds that stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.session.records import SessionMessage, SessionState
from pkg_pipeline.stages.folds.stores import DirtyFold, Running, SessionView

STATE_COLUMNS = 21
"""The first ones of the statement ``view``, in the order of the state's fields."""


class PostgresFoldReads:
    """What goes into folds."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def view(self, session_id: UUID) -> SessionView | None:
        rows = self._rows("view", session=session_id)
        return view_of(rows[0]) if rows else None

    def page(self, session_id: UUID, *, after_id: int, to_id: int, limit: int) -> list[SessionMessage]:
        """What is there of (``after_id``, ``to_id``], service entries among it, deleted messages not; in order."""
        return [_message(row) for row in self._rows("page", session=session_id, after=after_id, to=to_id, limit=limit)]

    def tail(self, session_id: UUID, *, after_id: int, limit: int) -> list[SessionMessage]:
        """The last ``limit`` of what came after ``after_id``, in order."""
        return [_message(row) for row in self._rows("tail", session=session_id, after=after_id, limit=limit)]

    def earlier(self, session_id: UUID, *, before_id: int, limit: int) -> list[str]:
        """The last summaries of folds that end before ``before_id``, oldest first; none that rests on a deleted
        message.
        """
        return [row[0] for row in reversed(self._rows("earlier", session=session_id, before=before_id, limit=limit))]

    def summaries(self, session_id: UUID) -> list[tuple[int, str]]:
        """(id of the last message, summary) of every live fold, oldest first; none that rests on a deleted message."""
        return [(row[0], row[1]) for row in self._rows("summaries", session=session_id)]

    def next_dirty(self, session_id: UUID) -> DirtyFold | None:
        """The oldest fold that is to be made anew."""
        rows = self._rows("next_dirty", session=session_id)
        return DirtyFold(*rows[0]) if rows else None

    def is_folded(self, session_id: UUID, *, to_id: int, input_hash: str) -> bool:
        """Whether a live fold stands for exactly this (H8)."""
        return bool(self._rows("is_folded", session=session_id, to=to_id, input_hash=input_hash)[0][0])

    def _rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with self._connections.connection() as connection:
            return connection.execute(query("folds", name), parameters).fetchall()


def view_of(row: Sequence[Any]) -> SessionView:
    """A row of the statement ``view``."""
    source, external_id, attempts, text, tokens, fold_id = row[STATE_COLUMNS:]
    state = SessionState(*row[:STATE_COLUMNS])
    return SessionView(state, source, external_id, attempts, Running(text, tokens, fold_id))


def _message(row: Sequence[Any]) -> SessionMessage:
    number, external_id, sent_at, text, role, kind, parts, *rest = row
    return SessionMessage(
        number, external_id, sent_at, text, role, kind, None if parts is None else tuple(parts), *rest
    )
