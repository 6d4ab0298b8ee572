"""The folding stage's writes: leases of sessions, folds, topics, and the fold columns of a session's row.

Reading is ``fold_reads``. Every transaction takes the chat's lock first, then its session's, then looks at the lease.
"""

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
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.fold_reads import view_of
from pkg_pipeline.memory.session.records import FoldTrigger, SessionEvent
from pkg_pipeline.stages.folds.stores import ClaimedSession, DirtyFold, Ending, FoldRow, Look, Running
from pkg_pipeline.stages.llm.stores import Failure

STORED_ERROR_CHARACTERS = 1_000

Read = Sequence[tuple[int, str]]
"""Ids of messages with the content hashes that were read."""


class PostgresFoldStore(Leasing):
    """Leases of sessions, folds, and what a session's row says of them. ``False``: another worker has it, nothing was
    written.
    """

    _lease_kind = "session"

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, now: datetime, *, limit: int) -> int:
        """How many sessions could be claimed now, at most ``limit``."""
        with self._connections.connection() as connection:
            found = connection.execute(query("folds", "due"), {"now": now, "limit": limit}).fetchone()
        return int(found[0]) if found else 0

    def unfolded(self, *, least_messages: int, limit: int) -> int:
        """How many sessions have so many messages since their HWM, due or not; counted up to ``limit``."""
        parameters = {"least": least_messages, "limit": limit}
        with self._connections.connection() as connection:
            found = connection.execute(query("folds", "unfolded"), parameters).fetchone()
        return int(found[0]) if found else 0

    def ask_all(self, now: datetime, *, least_messages: int) -> int:
        """H7, ``scheduled``: asks for a fold of every session with so many messages since its HWM; how many."""
        with self._connections.connection() as connection:
            return connection.execute(query("folds", "ask_all"), {"now": now, "least": least_messages}).rowcount

    def claim(
        self, *, now: datetime, limit: int, besides: Sequence[UUID], holder: str, lease_seconds: float
    ) -> list[ClaimedSession]:
        """Due sessions that nobody works on, the longest due first, none of ``besides``."""
        parameters = {"now": now, "limit": limit, "besides": list(besides), "holder": holder, "lease": lease_seconds}
        with self._connections.connection() as connection:
            return [ClaimedSession(*row) for row in connection.execute(query("folds", "claim"), parameters)]

    def claim_one(
        self, session_id: UUID, *, event: SessionEvent | None, now: datetime, holder: str, lease_seconds: float
    ) -> ClaimedSession | None:
        """Asks for a fold of this session and takes it, due or not; None while another worker has it."""
        parameters = {"session": session_id, "event": event, "now": now}
        lease = {"kind": self._lease_kind, "ids": [session_id], "holder": holder, "lease": lease_seconds}
        with transaction(self._connections) as connection:
            connection.execute(query("folds", "lock_chat"), parameters)
            connection.execute(query("folds", "ask"), parameters)
            found = connection.execute(query("leases", "take"), lease).fetchone()
        return None if found is None else ClaimedSession(*found)

    def begin(self, claimed: ClaimedSession, *, to_id: int, trigger: FoldTrigger, event: SessionEvent | None) -> bool:
        """Writes down that it is folded up to ``to_id``, so that the work goes on whoever is killed. ``event``, which
        was looked at, is over; one that came meanwhile stays.
        """
        with self._writing(claimed) as writing:
            if writing is not None:
                writing.run("begin", to=to_id, trigger=trigger, event=event)
        return writing is not None

    def publish(
        self, row: FoldRow, *, claimed: ClaimedSession, running: Running, now: datetime, ending: Ending | None
    ) -> bool:
        """H10: the fold, topics and the HWM at once. ``ending`` None keeps the lease for the next step.

        What was edited or deleted since it was read makes the fold dirty from the beginning. A live fold of the same
        window is not doubled: the HWM moves alone (H8).
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
                messages=sum(is_message for _, _, is_message, _ in window),
                tokens=sum(tokens for _, _, is_message, tokens in window if is_message),
                now=now,
                is_last=ending is not None,
            )
            writing.account(running, [row.to_at])
            if ending is not None:
                writing.leave(ending)
        return True

    def replace(self, row: FoldRow, *, claimed: ClaimedSession, running: Running | None) -> bool:
        """H15: the fold in place of ``row.parent``, which is superseded. HWM and counters stay, and so does the lease.
        ``running`` None: it is made anew with another fold.
        """
        parent = row.parent
        assert parent is not None, "a fold that was made anew stands for another one"
        with self._writing(claimed) as writing:
            if writing is None:
                return False
            _, reason = writing.window(row.after_id, row.to_id, row.messages)
            found = writing.run("supersede", fold=parent.id).fetchone()
            writing.insert(row, reason)
            writing.run("recount_topics", topics=sorted({*(found[0] if found else ()), *row.content.topics}))
            writing.account(running, [parent.to_at, row.to_at])
        return True

    def confirm(
        self, fold: DirtyFold, *, messages: Sequence[tuple[int, str]], claimed: ClaimedSession, running: Running | None
    ) -> bool:
        """What the fold covers is again what it was made from: unless ``messages``, as read, changed since, it is not
        dirty any more.
        """
        with self._writing(claimed) as writing:
            if writing is None:
                return False
            if writing.window(fold.after_id, fold.to_id, messages)[1] is None:
                writing.run("confirm", fold=fold.id)
            writing.account(running, [fold.to_at])
        return True

    def leave(self, claimed: ClaimedSession, look: Look, *, ending: Ending) -> bool:
        """Nothing (more) is to be folded: the lease goes back."""
        with self._writing(claimed) as writing:
            if writing is not None:
                writing.run("look", event=look.event, is_of_drift=look.is_of_drift)
                writing.leave(ending)
        return writing is not None

    def fail(self, claimed: ClaimedSession, failure: Failure) -> None:
        """Nothing moves: the attempt is counted or put off, with its reason, and the lease goes back."""
        with self._writing(claimed) as writing:
            if writing is not None:
                error = failure.error[:STORED_ERROR_CHARACTERS]
                writing.run("fail", counts=int(failure.counts), error=error, retry_after=failure.retry_after_seconds)
                writing.give_back()

    def rest(self, now: datetime, *, seconds: float, reason: str) -> int:
        """All that is due waits so long, by the database's clock: a cap or the service would refuse it all alike."""
        parameters = {"now": now, "seconds": seconds, "error": reason[:STORED_ERROR_CHARACTERS]}
        with self._connections.connection() as connection:
            return connection.execute(query("folds", "rest"), parameters).rowcount

    @contextmanager
    def _writing(self, claimed: ClaimedSession) -> Iterator[_Writing | None]:
        """A transaction over a locked session; None when the lease is another worker's by now."""
        parameters = {"session": claimed.session_id}
        held = {"kind": self._lease_kind, "id": claimed.session_id, "token": claimed.token}
        with transaction(self._connections) as connection:
            connection.execute(query("folds", "lock_chat"), parameters)
            session = connection.execute(query("folds", "lock_session"), parameters).fetchone()
            lease = connection.execute(query("leases", "holds"), held).fetchone()
            yield None if session is None or lease is None else _Writing(self, connection, claimed, session[0])


class _Writing:
    """What may be written of one session while its locks and its lease are held."""

    def __init__(self, store: Leasing, connection: Connection, claimed: ClaimedSession, hwm: int) -> None:
        self._store, self._connection, self._claimed, self.hwm = store, connection, claimed, hwm

    def run(self, name: str, **parameters: Any) -> Any:
        return self._connection.execute(query("folds", name), {"session": self._claimed.session_id, **parameters})

    def window(self, after_id: int, to_id: int, read: Read) -> tuple[list[tuple[int, str, bool, int]], str | None]:
        """The window as it is now, and what was done to it since it was read: ``deleted``, ``edited`` or nothing."""
        found: list[tuple[int, str, bool, int]] = self.run("window_now", after=after_id, to=to_id).fetchall()
        now = {number: content_hash for number, content_hash, _, _ in found}
        if any(number not in now for number, _ in read):
            return found, "deleted"
        return found, None if now == dict(read) else "edited"

    def insert(self, row: FoldRow, dirty_reason: str | None) -> bool:
        """False where a live fold of this very window stands already (H8)."""
        return self.run("insert_fold", **_columns(row, dirty_reason)).fetchone() is not None

    def account(self, running: Running | None, moments: Sequence[datetime]) -> None:
        """None leaves the running summary as it is."""
        given = running or Running("", 0, None)
        self.run(
            "keep_account",
            has_running=running is not None,
            running=given.text,
            running_tokens=given.tokens,
            running_fold=given.fold_id,
        )
        self.run("mark_chunks", moments=list(moments))

    def leave(self, ending: Ending) -> None:
        row = self.run("view").fetchone()
        self.run("leave", now=ending.now, due_at=ending.due(view_of(row).state))
        self.give_back()

    def give_back(self) -> None:
        self._store.give_back(self._connection, (self._claimed.session_id, self._claimed.token))


def _columns(row: FoldRow, dirty_reason: str | None) -> dict[str, Any]:
    content = row.content
    return {
        "id": row.id,
        "parent": None if row.parent is None else row.parent.id,
        "after": row.after_id,
        "to": row.to_id,
        "to_at": row.to_at,
        "status": "dirty" if dirty_reason else "completed",
        "dirty_reason": dirty_reason,
        "trigger": row.trigger,
        "input_hash": row.input_hash,
        "prompt_version": row.prompt_version,
        "model": row.model,
        "language": row.language,
        "summary": content.summary,
        "facts": Jsonb([_fact(row, fact) for fact in rows_of(content.facts)]),
        "decisions": Jsonb([_chosen(item, DECISION) for item in rows_of(content.decisions)]),
        "open_questions": Jsonb(rows_of(content.open_questions)),
        "topics": list(content.topics),
        "message_ids": [number for number, _ in row.messages],
        "noise_ids": list(row.noise_ids),
        "message_count": row.message_count,
        "source_tokens": row.source_tokens,
        "summary_tokens": row.summary_tokens,
        "quarantined": Jsonb(rows_of(row.quarantined)),
        "cost_usd": row.cost_usd,
        "seconds": row.seconds,
    }


FACT = ("id", "fact_type", "value", "confidence", "quote", "message_ids")
DECISION = ("id", "description", "date", "importance", "quote", "message_ids")


def _fact(row: FoldRow, fact: dict[str, Any]) -> dict[str, Any]:
    about = fact["entity_id"]
    return {**_chosen(fact, FACT), "about": None if about is None else row.names.get(UUID(about))}


def _chosen(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: item[name] for name in names}
