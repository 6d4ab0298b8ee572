"""The store of imports: COPY into a staging table and set-based upserts, one transaction per batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.ingest.deletions import compare
from pkg_pipeline.adapters.postgres.ingest.echoes import mark, served_in
from pkg_pipeline.adapters.postgres.ingest.forgotten import forgotten_in
from pkg_pipeline.adapters.postgres.ingest.names import name_entities
from pkg_pipeline.adapters.postgres.people.settling import hold_items, settle
from pkg_pipeline.adapters.postgres.profiles.marks import dirty_changed
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters, Standing
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.message.deletions import Verdict
from pkg_pipeline.memory.message.forgotten import Forgotten
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.memory.text.cleaning import clean_text
from pkg_pipeline.stages.ingest.records import (
    ChatExport,
    ChatNames,
    Deletions,
    EntityRow,
    IngestBatch,
    IngestCounts,
    MessageRow,
    Unstorable,
)

SQL = Statements("ingest")

REPLACING = (
    "lock_items",
    "mark_changed",
    "keep_replaced",
    "leave_archive",
    "update_changed",
    "fill_topics",
    "keep_late",
    "drop_standing",
)
"""Statements for messages that were stored already, in this order."""


class PostgresIngestStore:
    """Every call is one transaction and may be repeated."""

    def __init__(
        self,
        connections: ConnectionPool,
        *,
        counters: SessionCounters | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        """``counters`` schedule sessions by the clock ``now``, or by the export's time without one."""
        self._connections = connections
        self._counters = counters or SessionCounters()
        self._now = now
        self._holding = dict[UUID, Connection]()  # their locks show that the imports are alive

    def known_selves(self, source: str) -> list[str]:
        """External ids on this source known to be me."""
        with self._connections.connection() as connection:
            return SQL.values(connection, "known_selves", source=source)

    def forgotten(self) -> Forgotten:
        """What may not come in again."""
        return forgotten_in(self._connections)

    def served(self, prints: Iterable[int]) -> frozenset[int]:
        """Those of these fingerprints that were served (B14)."""
        return served_in(self._connections, prints)

    def begin(self, *, batch_id: UUID, file: str, format_name: str) -> None:
        """Record an import, and close imports whose process is gone."""
        with transaction(self._connections) as connection:
            connection.execute(query("ingest", "end_dead_batches"))
        holding = self._holding[batch_id] = self._connections.getconn()
        holding.execute(query("ingest", "hold_batch"), {"id": batch_id})
        holding.execute(
            query("ingest", "begin_batch"), {"id": batch_id, "file": clean_text(file), "format": format_name}
        )

    def finish(
        self,
        *,
        batch_id: UUID,
        failed: bool,
        sha256: str | None,
        counts: Mapping[str, int],
        rejected: Sequence[Rejected],
    ) -> None:
        if (holding := self._holding.pop(batch_id, None)) is not None:
            with suppress(psycopg.OperationalError):  # a broken connection holds no lock
                holding.execute(query("ingest", "release_batch"), {"id": batch_id})
            self._connections.putconn(holding)
        with self._connections.connection() as connection:
            connection.execute(
                query("ingest", "finish_batch"),
                {
                    "id": batch_id,
                    "status": "failed" if failed else "done",
                    "sha256": sha256,
                    "counts": _json(dict(counts)),
                    "rejected": _json(
                        [{"where": clean_text(one.where), "reason": clean_text(one.reason)} for one in rejected]
                    ),
                },
            )

    def write(self, batch: IngestBatch, *, exported_at: datetime) -> IngestCounts:
        """Raises Unstorable."""
        try:
            return self._write(batch, exported_at)
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
            raise Unstorable(f"it cannot be stored: {type(error).__name__}") from error

    def _write(self, batch: IngestBatch, exported_at: datetime) -> IngestCounts:
        with transaction(self._connections) as connection:
            selves = lock_selves(connection, batch.entities)
            insert_entities(connection, batch.entities)
            if selves:
                connection.execute(query("ingest", "lock_entities"), {"ids": selves})
            _write_chats(connection, batch, selves)
            if selves:
                adopt(connection, selves)
            if not batch.messages:
                return IngestCounts()
            now = exported_at if self._now is None else self._now()
            counts, _ = write_messages(
                connection, batch.messages, exported_at=exported_at, counters=self._counters, now=now
            )
            mark(connection, batch.messages, batch.own)
            return counts

    def compare(self, exports: Sequence[ChatExport], *, verdict: Verdict) -> Deletions:
        """Save what a file shows of its chats and find deletions by all their exports. ``verdict`` "kept" concerns what
        this file lacks, "accepted" also what others lack in these chats.
        """
        now = datetime.now(UTC) if self._now is None else self._now()
        with transaction(self._connections) as connection:
            return compare(connection, exports, verdict=verdict, counters=self._counters, now=now)

    def name(self, *, chats: Mapping[UUID, ChatNames], entities: Mapping[UUID, tuple[datetime, str]]) -> None:
        """Titles of chats, and the latest name of each entity with the time of the message that carried it."""
        with transaction(self._connections) as connection:
            if entities:
                # a decision about who is who changes whose rows have to be locked
                connection.execute(query("ingest", "share_selves"))
                name_entities(connection, entities)
            if chats:
                connection.execute(query("ingest", "lock_chats"), {"ids": list(chats), "selves": []})
                called = chats.values()
                connection.execute(
                    query("ingest", "upsert_titles"),
                    {
                        "id": list(chats),
                        "title": [chat.title for chat in called],
                        "at": [chat.title_at for chat in called],
                        "metadata": [_json(dict(chat.metadata)) for chat in called],
                        "seen_at": [chat.seen_at for chat in called],
                    },
                )


def lock_selves(connection: Connection, entities: Sequence[EntityRow]) -> list[UUID]:
    """Entities of the batch that become me, under a lock that makes other batches wait; usually none."""
    selves = [row.id for row in entities if row.is_self]
    if selves:
        connection.execute(query("ingest", "lock_selves"))
        selves = SQL.values(connection, "new_selves", ids=selves)
        if selves:
            hold_items(connection)
    else:
        connection.execute(query("ingest", "share_selves"))
    return selves


def adopt(connection: Connection, selves: Sequence[UUID]) -> None:
    """These accounts become me; whoever they were joined with is somebody else then."""
    connection.execute(query("ingest", "adopt_self"), {"selves": selves})
    settle(connection)


def insert_entities(connection: Connection, entities: Sequence[EntityRow]) -> None:
    if entities:
        columns = _columns(entities, "id", "source", "external_id", "name", "name_at")
        connection.execute(query("ingest", "insert_entities"), columns)
        connection.execute(query("ingest", "insert_identities"), columns)


def _write_chats(connection: Connection, batch: IngestBatch, selves: Sequence[UUID]) -> None:
    """Insert new chats, then lock all chats of the batch."""
    described = _columns(batch.chats, "id", "source", "external_id", "kind", "category")
    if batch.chats:
        connection.execute(query("ingest", "insert_chats"), described)
    touched = {row.chat_id for row in batch.messages} | {chat for chat, _ in batch.members} | set(described["id"])
    connection.execute(query("ingest", "lock_chats"), {"ids": list(touched), "selves": list(selves)})
    if batch.chats:
        connection.execute(query("ingest", "describe_chats"), described)
    if batch.members:
        chat_ids, entity_ids = zip(*batch.members, strict=True)
        connection.execute(
            query("ingest", "insert_members"), {"chat_id": list(chat_ids), "entity_id": list(entity_ids)}
        )


def write_messages(
    connection: Connection,
    rows: Sequence[MessageRow],
    *,
    exported_at: datetime,
    counters: SessionCounters,
    now: datetime,
    is_live: bool = False,
) -> tuple[IngestCounts, list[Standing]]:
    """Upsert messages of locked chats; returns counts and the sessions among the chats.

    ``is_live``: rows arrive in the order of their versions, whatever the clock says; for an export ``exported_at``
    decides.
    """
    run = connection.execute
    touched = counters.touched(connection, {row.chat_id for row in rows})
    run(query("ingest", "create_incoming"))
    with connection.cursor() as cursor, cursor.copy(query("ingest", "copy_incoming")) as copy:
        for row in rows:
            copy.write_row(_fields(row))
    parameters = {"exported_at": exported_at, "is_live": is_live, "now": now}
    (added,) = SQL.rows(connection, "insert_new", **parameters)
    counts = IngestCounts(new=added.messages - added.deleted, deleted=added.deleted)
    if added.messages == len(rows):
        return counts, counters.settle(connection, touched, now=now)
    run(query("ingest", "create_best"), parameters)
    run(query("ingest", "changed"), parameters)
    (found,) = SQL.rows(connection, "count_changed")
    is_changed = found.updated or found.deleted
    if is_changed:
        counters.replace(connection, touched)
    for step in REPLACING:
        run(query("ingest", step), parameters)
    if is_changed:
        dirty_changed(connection)
    run("DROP TABLE changed, best")
    unchanged = len(rows) - added.messages - found.updated - found.deleted
    counts += IngestCounts(updated=found.updated, deleted=found.deleted, unchanged=unchanged)
    return counts, counters.settle(connection, touched, now=now)


def _fields(row: MessageRow) -> tuple[Any, ...]:
    if row.parts is None and row.metadata is None:
        return row
    parts = None if row.parts is None else _json(row.parts)
    metadata = None if row.metadata is None else _json(row.metadata)
    return row._replace(parts=parts, metadata=metadata)


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer of more than 64 bits, which jsonb can hold
        return json.dumps(value, default=str)


def _columns(rows: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    rows = list(rows)
    return {name: [getattr(row, name) for row in rows] for name in names}
