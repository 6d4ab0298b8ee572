"""The counters of sessions (H1, H16, W5), moved in the transaction that writes messages, whoever writes them.

What a policy makes of them is asked of a callable. The statements are in ``sessions/appending.sql``.
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
"""A session, when its policy is asked next, and the version of its row."""


def at_once(state: SessionState, source: str, now: datetime) -> datetime:
    """For whoever knows no policy: the next worker that looks will ask."""
    del state, source
    return now


@dataclass(frozen=True, slots=True)
class Touched:
    """A session of a batch: ``last_id`` is the last message of the chat before it."""

    id: UUID
    source: str
    last_id: int


class SessionCounters:
    """Counts what a batch of messages changes. ``due_at`` says when the policy is asked next."""

    def __init__(self, due_at: DueAt = at_once) -> None:
        self._due_at = due_at

    def due(self, state: SessionState, source: str, now: datetime) -> datetime | None:
        """Events (H7), dirty folds (H15) and a decided fold that is not done wait for nobody's policy."""
        if state.event is not None or state.dirty_folds or state.folding_to_id is not None:
            return now
        return self._due_at(state, source, now)

    def touched(self, connection: Connection, chats: Collection[UUID]) -> list[Touched]:
        """Those of the locked chats that are sessions, locked, before anything is written: mostly none."""
        return SQL.rows(connection, "touched", Touched, chats=list(chats))

    def replace(self, connection: Connection, touched: Sequence[Touched]) -> None:
        """Before messages become what is in the table ``changed``: counters by the difference, folds dirty (H15)."""
        if touched:
            given = _given(touched)
            SQL.run(connection, "count_changed", **given)
            SQL.run(connection, "mark_folds_dirty", **given)

    def settle(self, connection: Connection, touched: Sequence[Touched], *, now: datetime) -> list[Standing]:
        """At the end: counts what is new, and says when each is asked next."""
        if not touched:
            return []
        states = SQL.rows(connection, "count_new", SessionState, **_given(touched))
        sources = {one.id: one.source for one in touched}
        return self.set_due(connection, [(state, sources[state.id]) for state in states], now=now)

    def set_due(
        self, connection: Connection, sessions: Sequence[tuple[SessionState, str]], *, now: datetime
    ) -> list[Standing]:
        """Of sessions that are locked, with the source of each; the states with ``is_pending`` as it is now (W4)."""
        dues = {state.id: self.due(state, source, now) for state, source in sessions}
        rows = SQL.rows(connection, "set_due", ids=list(dues), dues=list(dues.values()))
        found = {row.id: row for row in rows}
        return [
            (replace(state, is_pending=row.is_pending), row.next_due_at, row.version)
            for state, _ in sessions
            if (row := found.get(state.id)) is not None
        ]


def advanced(state: SessionState, rows: Sequence[MessageRow]) -> SessionState:
    """The state once ``rows``, none of which is there yet, are appended; only the ids are not known yet."""
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
