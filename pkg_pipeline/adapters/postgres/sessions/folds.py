"""Writes of the folding stage. Every transaction locks the chat, then its session, then checks the lease."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.json_rows import rows_of
from pkg_pipeline.adapters.postgres.llm.leases import Leasing
from pkg_pipeline.adapters.postgres.sessions.fold_reads import view_of
from pkg_pipeline.adapters.postgres.statements import Statements, fields_of
from pkg_pipeline.memory.session.records import FoldTrigger, SessionEvent
from pkg_pipeline.stages.folds.stores import ClaimedSession, DirtyFold, Ending, FoldRow, Look, Running
from pkg_pipeline.stages.llm.stores import Failure

SQL = Statements("folds")
STORED_ERROR_CHARACTERS = 1_000

Read = Sequence[tuple[int, str]]
"""Message ids with the content hashes as read."""


class PostgresFoldStore(Leasing):
    """Leases, folds and the fold columns of sessions. ``False``: another worker has the lease, nothing was written."""

    _lease_kind = "session"

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, now: datetime, *, limit: int) -> int:
        """Sessions that can be claimed now, counted up to ``limit``."""
        return SQL.value(self._connections, "due", now=now, limit=limit)

    def unfolded(self, *, least_messages: int, limit: int) -> int:
        """Sessions with at least so many messages since their HWM, counted up to ``limit``."""
        return SQL.value(self._connections, "unfolded", least=least_messages, limit=limit)

    def ask_all(self, now: datetime, *, least_messages: int) -> int:
        """H7, ``scheduled``: request a fold of every session with so many messages since its HWM; returns how many."""
        return SQL.run(self._connections, "ask_all", now=now, least=least_messages)

    def claim(
        self, *, now: datetime, limit: int, besides: Sequence[UUID], holder: str, lease_seconds: float
    ) -> list[ClaimedSession]:
        """Due sessions without a lease, longest due first, none of ``besides``."""
        given = {"now": now, "limit": limit, "besides": list(besides), "holder": holder, "lease": lease_seconds}
        return SQL.rows(self._connections, "claim", ClaimedSession, **given)

    def claim_one(
        self, session_id: UUID, *, event: SessionEvent | None, now: datetime, holder: str, lease_seconds: float
    ) -> ClaimedSession | None:
        """Request a fold of this session and take its lease, due or not; None while another worker has it."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_chat", session=session_id)
            SQL.run(connection, "ask", session=session_id, event=event, now=now)
            tokens = self.take(connection, [session_id], holder=holder, lease_seconds=lease_seconds)
        return ClaimedSession(session_id, tokens[session_id]) if tokens else None

    def begin(self, claimed: ClaimedSession, *, to_id: int, trigger: FoldTrigger, event: SessionEvent | None) -> bool:
        """Store that the session is being folded up to ``to_id``, to resume after a crash, and clear ``event`` unless a
        new one came.
        """
        with self._writing(claimed) as writing:
            if writing is not None:
                writing.run("begin", to=to_id, trigger=trigger, event=event)
        return writing is not None

    def publish(
        self, row: FoldRow, *, claimed: ClaimedSession, running: Running, now: datetime, ending: Ending | None
    ) -> bool:
        """H10: save fold, topics and HWM together. ``ending`` None keeps the lease for the next step.

        A fold whose messages changed since they were read is saved as dirty. If a live fold of this window exists only
        the HWM moves (H8).
        """
        with self._writing(claimed) as writing:
            if writing is None or writing.hwm != row.after_id:
                return False
            window, reason = writing.window(row.after_id, row.to_id, row.messages)
            if writing.insert(row, reason):
                writing.run("add_topics", topics=list(row.content.topics), to_at=row.to_at)
            writing.run(
                "move_hwm",
                to=row.to_id,
                messages=sum(one.is_message for one in window),
                tokens=sum(one.token_count for one in window if one.is_message),
                now=now,
                is_last=ending is not None,
            )
            writing.account(running, [row.to_at])
            if ending is not None:
                writing.leave(ending)
        return True

    def replace(self, row: FoldRow, *, claimed: ClaimedSession, running: Running | None) -> bool:
        """H15: save the fold and supersede ``row.parent``; HWM, counters and lease stay. ``running`` None keeps the
        running summary.
        """
        parent = row.parent
        assert parent is not None, "a fold that was made anew stands for another one"
        with self._writing(claimed) as writing:
            if writing is None:
                return False
            _, reason = writing.window(row.after_id, row.to_id, row.messages)
            topics = SQL.value(writing.connection, "supersede", session=row.session_id, fold=parent.id) or ()
            writing.insert(row, reason)
            writing.run("recount_topics", topics=sorted({*topics, *row.content.topics}))
            writing.account(running, [parent.to_at, row.to_at])
        return True

    def confirm(
        self, fold: DirtyFold, *, messages: Sequence[tuple[int, str]], claimed: ClaimedSession, running: Running | None
    ) -> bool:
        """The fold's input is unchanged: clear its dirty mark unless ``messages`` changed since they were read."""
        with self._writing(claimed) as writing:
            if writing is None:
                return False
            if writing.window(fold.after_id, fold.to_id, messages)[1] is None:
                writing.run("confirm", fold=fold.id)
            writing.account(running, [fold.to_at])
        return True

    def leave(self, claimed: ClaimedSession, look: Look, *, ending: Ending) -> bool:
        """Release the lease; nothing more to fold."""
        with self._writing(claimed) as writing:
            if writing is not None:
                writing.run("look", event=look.event, is_of_drift=look.is_of_drift)
                writing.leave(ending)
        return writing is not None

    def fail(self, claimed: ClaimedSession, failure: Failure) -> None:
        """Count or postpone the attempt with its reason and release the lease."""
        with self._writing(claimed) as writing:
            if writing is not None:
                error = failure.error[:STORED_ERROR_CHARACTERS]
                writing.run("fail", counts=int(failure.counts), error=error, retry_after=failure.retry_after_seconds)
                writing.give_back()

    def rest(self, now: datetime, *, seconds: float, reason: str) -> int:
        """Postpone all due sessions by ``seconds`` of the database clock, after an error that would meet them all."""
        return SQL.run(self._connections, "rest", now=now, seconds=seconds, error=reason[:STORED_ERROR_CHARACTERS])

    @contextmanager
    def _writing(self, claimed: ClaimedSession) -> Iterator[_Writing | None]:
        """A transaction over a locked session; None if another worker has the lease."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_chat", session=claimed.session_id)
            hwm = SQL.value(connection, "lock_session", session=claimed.session_id)
            yield _Writing(self, connection, claimed, hwm) if self.holds(connection, claimed) else None


class _Writing:
    """Writes to one session while its locks and lease are held."""

    def __init__(self, store: Leasing, connection: Connection, claimed: ClaimedSession, hwm: int) -> None:
        self._store, self.connection, self._claimed, self.hwm = store, connection, claimed, hwm

    def run(self, name: str, **given: Any) -> int:
        return SQL.run(self.connection, name, session=self._claimed.session_id, **given)

    def window(self, after_id: int, to_id: int, read: Read) -> tuple[list[Any], str | None]:
        """The window now, and what changed since it was read: ``deleted``, ``edited`` or None."""
        found = SQL.rows(self.connection, "window_now", session=self._claimed.session_id, after=after_id, to=to_id)
        now = {one.id: one.content_hash for one in found}
        if any(number not in now for number, _ in read):
            return found, "deleted"
        return found, None if now == dict(read) else "edited"

    def insert(self, row: FoldRow, dirty_reason: str | None) -> bool:
        """False if a live fold of this window exists (H8)."""
        return SQL.run(self.connection, "insert_fold", **_columns(row, dirty_reason)) == 1

    def account(self, running: Running | None, moments: Sequence[datetime]) -> None:
        """None keeps the running summary."""
        self.run("keep_account", has_running=running is not None, **fields_of(running or Running("", 0, None)))
        self.run("mark_chunks", moments=list(moments))

    def leave(self, ending: Ending) -> None:
        view = SQL.one(self.connection, "view", view_of, session=self._claimed.session_id)
        assert view is not None, "it is locked"
        self.run("leave", now=ending.now, due_at=ending.due(view.state))
        self.give_back()

    def give_back(self) -> None:
        self._store.give_back(self.connection, (self._claimed.session_id, self._claimed.token))


def _columns(row: FoldRow, dirty_reason: str | None) -> dict[str, Any]:
    content = row.content
    return {
        **fields_of(row),
        "parent": None if row.parent is None else row.parent.id,
        "status": "dirty" if dirty_reason else "completed",
        "dirty_reason": dirty_reason,
        "summary": content.summary,
        "facts": Jsonb([_fact(row, fact) for fact in rows_of(content.facts)]),
        "decisions": Jsonb([_chosen(item, DECISION) for item in rows_of(content.decisions)]),
        "open_questions": Jsonb(rows_of(content.open_questions)),
        "topics": list(content.topics),
        "message_ids": [number for number, _ in row.messages],
        "noise_ids": list(row.noise_ids),
        "quarantined": Jsonb(rows_of(row.quarantined)),
    }


FACT = ("id", "fact_type", "value", "confidence", "quote", "message_ids")
DECISION = ("id", "description", "date", "importance", "quote", "message_ids")


def _fact(row: FoldRow, fact: dict[str, Any]) -> dict[str, Any]:
    about = fact["entity_id"]
    return {**_chosen(fact, FACT), "about": None if about is None else row.names.get(UUID(about))}


def _chosen(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: item[name] for name in names}
