"""Appends to sessions in one transaction: two statements if chat and senders are known and every message is new, else
the statements of imports.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.ingest.echoes import mark, marks, served_in
from pkg_pipeline.adapters.postgres.ingest.forgotten import forgotten_near
from pkg_pipeline.adapters.postgres.ingest.names import name_entities
from pkg_pipeline.adapters.postgres.ingest.store import adopt, insert_entities, lock_selves, write_messages
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters, advanced
from pkg_pipeline.adapters.postgres.sessions.store import make_session
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.message.forgotten import Forgotten
from pkg_pipeline.memory.session.records import SessionState
from pkg_pipeline.stages.ingest.records import IngestCounts, MessageRow
from pkg_pipeline.stages.sessions.records import AppendBatch, Appended, MessageTimes, Newcomers, SessionChat

SQL, ECHOES = Statements("appending"), Statements("echoes")


class _Outdated(Exception):
    """The chat, its session or a sender is missing: roll back."""


class PostgresAppendStore:
    def __init__(self, connections: ConnectionPool, counters: SessionCounters) -> None:
        self._connections = connections
        self._counters = counters

    def times(self, chat_id: UUID, message_ids: Collection[str]) -> MessageTimes:
        """Of those of these messages that are stored."""
        with self._connections.connection() as connection:
            return _times(connection, chat_id, message_ids)

    def forgotten(self, chat: SessionChat, people: Iterable[str]) -> Forgotten:
        """What of a chat, and of people who write there, may not come in again."""
        return forgotten_near(self._connections, chat.source, chat.external_id, people)

    def served(self, prints: Iterable[int]) -> frozenset[int]:
        """Those of these fingerprints that were served (B14)."""
        return served_in(self._connections, prints)

    def append(self, batch: AppendBatch) -> Appended | None:
        """Save messages and counters in one transaction, which may be repeated.

        None, nothing written: a batch without newcomers has a sender unknown in this chat.
        """
        if batch.newcomers is None and batch.last is not None and batch.rows:
            done = self._append_known(batch, batch.last)
            if done is not None:
                return done
        try:
            with transaction(self._connections) as connection:
                if batch.newcomers is not None:
                    _let_in(connection, batch.newcomers, self._counters)
                done = self._append(connection, batch)
                mark(connection, batch.rows, batch.own)
                return done
        except _Outdated:
            return None

    def _append_known(self, batch: AppendBatch, last: Appended) -> Appended | None:
        """One round trip (a pipeline is one transaction), or None with nothing written."""
        if len({row.external_id for row in batch.rows}) < len(batch.rows):
            return None
        state = advanced(last.state, batch.rows)
        given = {**self._given(batch, state), "version": last.version}
        echoes = marks(batch.rows, batch.own)
        with self._connections.connection() as connection, connection.pipeline():
            SQL.execute(connection, "lock_session", {"chat": batch.chat.id})
            cursor = SQL.execute(connection, "append", given)
            if echoes is not None:
                ECHOES.execute(connection, "mark", echoes)
        done = cursor.fetchone()
        return None if done is None else _appended(state, done)

    def _append(self, connection: Connection, batch: AppendBatch) -> Appended:
        state = SQL.one(connection, "lock_session", SessionState, chat=batch.chat.id)
        if state is None:
            raise _Outdated
        if not batch.rows:
            (standing,) = self._counters.set_due(connection, [(state, batch.chat.source)], now=batch.now)
            return Appended(IngestCounts(), *standing)
        state = advanced(state, batch.rows)
        given = self._given(batch, state)
        done = SQL.one(connection, "append", **given)
        if done is None or done.senders < len(given["senders"]):
            raise _Outdated
        appended = _appended(state, done)
        if done.keys is None and done.inserted == len(batch.rows):
            return appended
        others = _not_inserted(batch.rows, done.keys or ())
        if untimed := batch.untimed.intersection(row.external_id for row in others):
            times = _times(connection, batch.chat.id, untimed)
            others = [_at(row, times.get(row.external_id)) for row in others]
        more, standing = write_messages(
            connection, others, exported_at=batch.now, counters=self._counters, now=batch.now, is_live=True
        )
        return Appended(appended.counts + more, *standing[0], frozenset(done.keys or ()))

    def _given(self, batch: AppendBatch, state: SessionState) -> dict[str, Any]:
        return {
            "chat": batch.chat.id,
            "now": batch.now,
            "due": self._counters.due(state, batch.chat.source, batch.now),
            "senders": list({row.sender_entity_id for row in batch.rows}),
            "rows": _json([_fields(number, row) for number, row in enumerate(batch.rows)]),
            "given": len(batch.rows),
            "version": None,
        }


def _appended(state: SessionState, done: Any) -> Appended:
    """``state`` with the result of the statement "append"."""
    counts = IngestCounts(new=done.inserted - done.deleted, deleted=done.deleted)
    now = replace(state, last_message_id=done.last_message_id, is_pending=done.is_pending)
    return Appended(counts, now, done.next_due_at, done.version)


def _let_in(connection: Connection, newcomers: Newcomers, counters: SessionCounters) -> None:
    """Insert the chat, its session and senders, in the lock order of imports."""
    entities, start = newcomers.entities, newcomers.start
    selves = lock_selves(connection, entities)
    insert_entities(connection, entities)
    if selves:
        connection.execute(query("ingest", "lock_entities"), {"ids": selves})
    if newcomers.names:
        name_entities(connection, newcomers.names)
    make_session(connection, start, counters, selves=selves)
    if entities:
        members = {"chat_id": [start.chat.id] * len(entities), "entity_id": [row.id for row in entities]}
        connection.execute(query("ingest", "insert_members"), members)
    if selves:
        adopt(connection, selves)


def _times(connection: Connection, chat_id: UUID, message_ids: Collection[str]) -> MessageTimes:
    found = SQL.rows(connection, "times", chat=chat_id, ids=list(message_ids))
    return {row.external_id: (row.sent_at, row.is_time_assumed) for row in found}


def _at(row: MessageRow, time: tuple[datetime, bool] | None) -> MessageRow:
    return row if time is None else row._replace(sent_at=time[0], is_time_assumed=time[1])


def _not_inserted(rows: Sequence[MessageRow], keys: Sequence[str]) -> list[MessageRow]:
    """Rows that were stored already, and repeated ids within the batch."""
    new = Counter(keys)
    others: list[MessageRow] = []
    for row in rows:
        if new[row.external_id]:
            new[row.external_id] -= 1
        else:
            others.append(row)
    return others


def _fields(number: int, row: MessageRow) -> dict[str, Any]:
    """One record of ``jsonb_to_recordset``; absent fields are NULL."""
    given: dict[str, Any] = {
        "n": number,
        "sender": row.sender_entity_id,
        "at": row.sent_at,
        "gone": row.is_deleted,
        "tokens": row.token_count,
        "score": row.importance_score,
        "assumed": row.is_time_assumed,
        "key": row.external_id,
        "text": row.content,
        "hash": row.content_hash,
    }
    seldom = (
        ("role", row.role),
        ("reason", row.importance_reason),
        ("edited", row.edited_at),
        ("reply", row.reply_to),
        ("parts", row.parts),
        ("meta", row.metadata),
    )
    given.update((name, value) for name, value in seldom if value is not None)
    return given


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer of more than 64 bits, which jsonb can hold
        return json.dumps(value, default=_plain)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
