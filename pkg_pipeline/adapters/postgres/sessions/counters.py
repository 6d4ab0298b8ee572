"""The counters of sessions (H1, H16, W5), updated in the transaction that writes messages. Statements:
``appending.sql``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.session.records import SessionState
from pkg_pipeline.stages.ingest.records import MessageRow
from pkg_pipeline.stages.sessions.records import DueAt

SQL = Statements("appending")

Standing = tuple[SessionState, datetime | None, int]
"""A session, when it is next due, and the version (xmin) of its row."""


def at_once(state: SessionState, source: str, now: datetime) -> datetime:
    """Without a policy: due at once, so that the next worker asks."""
    del state, source
    return now


@dataclass(frozen=True, slots=True)
class Touched:
    """A session of a batch; ``last_id``: the chat's last message before it."""

    id: UUID
    source: str
    last_id: int


class SessionCounters:
    """``due_at`` asks the session's policy when it is next due."""

    def __init__(self, due_at: DueAt = at_once) -> None:
        self._due_at = due_at

    def due(self, state: SessionState, source: str, now: datetime) -> datetime | None:
        """At once after events (H7), with dirty folds (H15) and during a fold of several steps; else as the policy
        says.
        """
        if state.event is not None or state.dirty_folds or state.folding_to_id is not None:
            return now
        return self._due_at(state, source, now)

    def touched(self, connection: Connection, chats: Collection[UUID]) -> list[Touched]:
        """The sessions among the locked chats, locked before anything is written; usually none."""
        return SQL.rows(connection, "touched", Touched, chats=list(chats))

    def replace(self, connection: Connection, touched: Sequence[Touched]) -> None:
        """Before messages are updated from the table ``changed``: adjust counters, mark folds dirty (H15)."""
        if touched:
            given = _given(touched)
            SQL.run(connection, "count_changed", **given)
            SQL.run(connection, "mark_folds_dirty", **given)

    def settle(self, connection: Connection, touched: Sequence[Touched], *, now: datetime) -> list[Standing]:
        """After everything is written: count new messages and set when each session is due."""
        if not touched:
            return []
        states = SQL.rows(connection, "count_new", SessionState, **_given(touched))
        sources = {one.id: one.source for one in touched}
        return self.set_due(connection, [(state, sources[state.id]) for state in states], now=now)

    def set_due(
        self, connection: Connection, sessions: Sequence[tuple[SessionState, str]], *, now: datetime
    ) -> list[Standing]:
        """For locked sessions with their sources; returns states with the current ``is_pending`` (W4)."""
        dues = {state.id: self.due(state, source, now) for state, source in sessions}
        rows = SQL.rows(connection, "set_due", ids=list(dues), dues=list(dues.values()))
        found = {row.id: row for row in rows}
        return [
            (replace(state, is_pending=row.is_pending), row.next_due_at, row.version)
            for state, _ in sessions
            if (row := found.get(state.id)) is not None
        ]


def advanced(state: SessionState, rows: Sequence[MessageRow]) -> SessionState:
    """The state after appending ``rows``, all of them new; only ids are missing."""
    live = [row for row in rows if not row.is_deleted]
    if not live:
        return state
    count, tokens = len(live), sum(row.token_count for row in live)
    return replace(
        state,
        message_count=state.message_count + count,
        token_count=state.token_count + tokens,
        messages_since_hwm=state.messages_since_hwm + count,
        tokens_since_hwm=state.tokens_since_hwm + tokens,
        first_since_at=state.first_since_at if state.messages_since_hwm else live[0].sent_at,
        last_message_at=live[-1].sent_at,
        messages_since_fold=state.messages_since_fold + count,
        messages_since_look=state.messages_since_look + count,
    )


def _given(touched: Sequence[Touched]) -> dict[str, list[Any]]:
    return {"ids": [one.id for one in touched], "last_ids": [one.last_id for one in touched]}
