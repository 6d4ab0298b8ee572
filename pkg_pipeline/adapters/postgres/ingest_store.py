"""The ingest stage's store: COPY into a staging table and set-based upserts, one transaction a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb, set_json_dumps
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.stages.message_stores import ChatRow, EntityRow, IngestBatch, IngestCounts, MessageRow


class PostgresIngestStore:
    """Implements ``stages.message_stores.IngestStore``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections
        set_json_dumps(orjson.dumps)

    def known_selves(self, source: str) -> list[str]:
        with self._connections.connection() as connection:
            return [row[0] for row in connection.execute(query("ingest", "known_selves"), {"source": source})]

    def begin(self, *, batch_id: UUID, file: str, format_name: str) -> None:
        with self._connections.connection() as connection:
            connection.execute(query("ingest", "begin_batch"), {"id": batch_id, "file": file, "format": format_name})

    def finish(
        self,
        *,
        batch_id: UUID,
        failed: bool,
        sha256: str | None,
        counts: Mapping[str, int],
        rejected: Sequence[Rejected],
    ) -> None:
        with self._connections.connection() as connection:
            connection.execute(
                query("ingest", "finish_batch"),
                {
                    "id": batch_id,
                    "status": "failed" if failed else "done",
                    "sha256": sha256,
                    "counts": Jsonb(dict(counts)),
                    "rejected": Jsonb([{"where": item.where, "reason": item.reason} for item in rejected]),
                },
            )

    def write(self, batch: IngestBatch, *, exported_at: datetime) -> IngestCounts:
        with transaction(self._connections) as connection:
            _write_people(connection, batch.entities)
            _write_chats(connection, batch.chats)
            if batch.members:
                chat_ids, entity_ids = zip(*sorted(batch.members, key=str), strict=True)
                connection.execute(
                    query("ingest", "insert_members"), {"chat_id": list(chat_ids), "entity_id": list(entity_ids)}
                )
            return _write_messages(connection, batch.messages, exported_at) if batch.messages else IngestCounts()

    def name(self, *, titles: Mapping[UUID, tuple[str, datetime]], names: Mapping[UUID, tuple[str, datetime]]) -> None:
        with transaction(self._connections) as connection:
            for statement, column, given in (("upsert_titles", "title", titles), ("upsert_names", "name", names)):
                if given:
                    ordered = sorted(given.items())  # one order for everybody: two imports cannot deadlock
                    connection.execute(
                        query("ingest", statement),
                        {
                            "id": [key for key, _ in ordered],
                            column: [text for _, (text, _) in ordered],
                            "at": [at for _, (_, at) in ordered],
                        },
                    )


def _write_people(connection: Connection, entities: Sequence[EntityRow]) -> None:
    if not entities:
        return
    ordered = sorted(entities, key=lambda row: row.id)
    columns = _columns(ordered, "id", "source", "external_id", "name", "name_at", "is_self")
    touched = connection.execute(query("ingest", "upsert_entities"), columns).fetchall()
    connection.execute(query("ingest", "insert_identities"), columns)
    if selves := [row[0] for row in touched if row[0] is not None]:
        connection.execute(query("ingest", "adopt_self"), {"ids": selves})


def _write_chats(connection: Connection, chats: Sequence[ChatRow]) -> None:
    if not chats:
        return
    ordered = sorted(chats, key=lambda row: row.id)
    columns = _columns(ordered, "id", "source", "external_id", "kind", "category", "title")
    columns["metadata"] = [Jsonb(dict(row.metadata)) for row in ordered]
    columns["title_at"] = ["-infinity"] * len(ordered)
    connection.execute(query("ingest", "upsert_chats"), columns)


def _write_messages(connection: Connection, rows: Sequence[MessageRow], exported_at: datetime) -> IngestCounts:
    connection.execute(query("ingest", "create_incoming"))
    connection.execute(query("ingest", "lock_chats"), {"ids": list({row.chat_id for row in rows})})
    with connection.cursor() as cursor, cursor.copy(query("ingest", "copy_incoming")) as copy:
        for row in rows:
            copy.write_row(_fields(row))
    parameters = {"exported_at": exported_at}
    found = connection.execute(query("ingest", "insert_new"), parameters).fetchone()
    new, incoming, deleted, _ = found or (0, 0, 0, 0)
    if new == incoming:
        return IngestCounts(new=new, deleted=deleted)
    connection.execute(query("ingest", "changed"), parameters)
    connection.execute(query("ingest", "keep_revisions"))
    connection.execute(query("ingest", "mark_changed"))
    updated = connection.execute(query("ingest", "update_changed")).fetchall()
    connection.execute("DROP TABLE changed")
    gone = sum(1 for row in updated if row[0])
    return IngestCounts(
        new=new, updated=len(updated) - gone, deleted=deleted + gone, unchanged=incoming - new - len(updated)
    )


def _fields(row: MessageRow) -> tuple[Any, ...]:
    return (
        row.chat_id,
        row.sender_entity_id,
        row.sent_at,
        row.edited_at,
        row.token_count,
        row.importance_score,
        row.is_deleted,
        row.is_outgoing,
        row.is_time_assumed,
        row.kind,
        row.role,
        row.importance_reason,
        row.external_id,
        row.content,
        row.content_hash,
        row.reply_to,
        row.topic,
        row.forwarded_from,
        None if row.parts is None else Jsonb(row.parts),
        None if row.metadata is None else Jsonb(dict(row.metadata)),
    )


def _columns(rows: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    rows = list(rows)
    return {name: [getattr(row, name) for row in rows] for name in names}
