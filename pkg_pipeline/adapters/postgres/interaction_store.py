"""The interactions stage's store: one touched chat a transaction, its messages read through a server-side cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.records import ChatCategory
from pkg_pipeline.stages.message_stores import ChatInfo, InteractionRow, SegmentMessage

CHUNK_MESSAGES = 5_000
TOTALS_AT_ONCE = 200
"""Entities whose running totals are made again in one transaction."""


class PostgresInteractionStore:
    """Implements ``stages.message_stores.InteractionStore``."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def dirty_chats(self) -> list[UUID]:
        with self._connections.connection() as connection:
            return [row[0] for row in connection.execute(query("interactions", "dirty_chats"))]

    @contextmanager
    def open_chat(self, chat_id: UUID, *, gap_seconds: float, mass_senders: int) -> Iterator[PostgresChatSegment]:
        with transaction(self._connections) as connection:
            connection.execute(query("interactions", "create_planned"))
            yield _open(connection, chat_id, gap_seconds=gap_seconds, mass_senders=mass_senders)

    def set_category(self, chat_id: UUID, category: ChatCategory | None) -> bool:
        with self._connections.connection() as connection:
            parameters = {"chat": chat_id, "category": category}
            found = connection.execute(query("interactions", "set_category"), parameters).fetchone()
            return found is not None and found[0] == 1

    def complete_silent(self, *, before: datetime) -> int:
        with self._connections.connection() as connection:
            return connection.execute(query("interactions", "complete_silent"), {"before": before}).rowcount

    def refresh_totals(self) -> int:
        with self._connections.connection() as connection:
            dirty = connection.execute(query("interactions", "dirty_entities")).fetchall()
        for at in range(0, len(dirty), TOTALS_AT_ONCE):
            entities, marks, days = zip(*dirty[at : at + TOTALS_AT_ONCE], strict=True)
            parameters = {"entity": list(entities), "from_day": list(days)}
            with transaction(self._connections) as connection:
                for step in ("lock_entities", "clear_days", "build_days"):
                    connection.execute(query("interactions", step), parameters)
                connection.execute(query("interactions", "drop_marks"), {"ids": list(chain.from_iterable(marks))})
        return len(dirty)


def _open(connection: Connection, chat_id: UUID, *, gap_seconds: float, mass_senders: int) -> PostgresChatSegment:
    parameters: dict[str, Any] = {"chat": chat_id, "gap": gap_seconds, "mass_senders": mass_senders}
    found = connection.execute(query("interactions", "lock_chat"), parameters).fetchone()
    marks = connection.execute(query("interactions", "chat_marks"), parameters).fetchone()
    if found is None or marks is None or marks[0] is None:  # forgotten, or done by another worker meanwhile
        if found is None:
            connection.execute(query("interactions", "drop_lost_marks"), parameters)
        now = datetime.now(UTC)
        return PostgresChatSegment(connection, ChatInfo(chat_id, "-", "-", "direct", None, {}), [], (now, now))
    if found[3] != "direct" and connection.execute(query("interactions", "mark_mass"), parameters).fetchone():
        found = (*found[:4], "mass")
    identity, source, external_id, kind, category = found
    members = {
        entity: ((name,), is_self)
        for entity, name, is_self in connection.execute(query("interactions", "members"), parameters)
    }
    ids, from_at, to_at = marks
    bounds = connection.execute(
        query("interactions", "stretch"), {**parameters, "from_at": from_at, "to_at": to_at}
    ).fetchone()
    assert bounds is not None, "an aggregate always gives a row"
    return PostgresChatSegment(
        connection, ChatInfo(identity, source, external_id, kind, category, members), ids, bounds
    )


class PostgresChatSegment:
    """Implements ``stages.message_stores.ChatSegment`` inside the transaction that ``open_chat`` holds."""

    def __init__(
        self, connection: Connection, chat: ChatInfo, marks: list[int], bounds: tuple[datetime, datetime]
    ) -> None:
        self._connection = connection
        self._marks = marks
        self._bounds = {"chat": chat.id, "from_at": bounds[0], "to_at": bounds[1]}
        self._changed = 0
        self.chat = chat

    def chunks(self) -> Iterator[list[SegmentMessage]]:
        if not self._marks:
            return
        is_group = self.chat.kind != "direct" and self.chat.category != "mass"
        with self._connection.cursor("segment") as cursor:
            cursor.itersize = CHUNK_MESSAGES
            cursor.execute(query("interactions", "segment"), {**self._bounds, "is_group": is_group})
            while rows := cursor.fetchmany(CHUNK_MESSAGES):
                yield [SegmentMessage(*row) for row in rows]
                if len(rows) < CHUNK_MESSAGES:
                    break

    def save(self, rows: Sequence[InteractionRow], *, due_after_seconds: float, minimum_messages: int) -> None:
        if not rows:
            return
        run = self._connection.execute
        columns = _columns(rows, "id", "day", "started_at", "ended_at", "status", "message_count", "token_count")
        columns |= _columns(rows, "important_count", "language", "first_external_id", "input_hash")
        run(query("interactions", "insert_planned"), columns)
        found = run(
            query("interactions", "upsert_interactions"),
            {
                **columns,
                "chat": self.chat.id,
                "due_after": due_after_seconds,
                "minimum": minimum_messages,
                "is_eligible": self.chat.category != "mass",
            },
        ).fetchone()
        self._changed += found[0] if found else 0
        run(query("interactions", "assign_messages"), {**columns, "chat": self.chat.id})
        self._save_participants(rows)
        if self.chat.kind != "direct":
            self._save_belongings(rows)

    def _save_participants(self, rows: Sequence[InteractionRow]) -> None:
        pairs = [(row, participant) for row in rows for participant in row.participants]
        ids = {
            "interaction_id": [row.id for row, _ in pairs],
            "entity_id": [participant.entity_id for _, participant in pairs],
        }
        self._connection.execute(
            query("interactions", "delete_participants"),
            {
                "interaction": [row.id for row in rows],
                "pair_interaction": ids["interaction_id"],
                "pair_entity": ids["entity_id"],
            },
        )
        self._connection.execute(
            query("interactions", "upsert_participants"),
            {
                **ids,
                "role": [participant.role for _, participant in pairs],
                "message_count": [participant.message_count for _, participant in pairs],
                "token_count": [participant.token_count for _, participant in pairs],
                "started_at": [row.started_at for row, _ in pairs],
                "ended_at": [row.ended_at for row, _ in pairs],
                # a moved start leaves its old day: nothing before the stretch can have changed
                "from_at": self._bounds["from_at"],
            },
        )

    def _save_belongings(self, rows: Sequence[InteractionRow]) -> None:
        run = self._connection.execute
        run(query("interactions", "create_belongs"))
        with self._connection.cursor() as cursor, cursor.copy(query("interactions", "copy_belongs")) as copy:
            for row in rows:
                for one in row.belongings:
                    entity, interaction = str(one.entity_id), str(row.id)
                    for message_id, sent_us in zip(one.message_ids.tolist(), one.sent_at_us.tolist(), strict=True):
                        copy.write_row((entity, message_id, interaction, sent_us))
        run(query("interactions", "delete_belongings"), {"interaction": [row.id for row in rows]})
        run(query("interactions", "upsert_belongings"))
        run(query("interactions", "clear_belongs"))

    def finish(self) -> int:
        if not self._marks:
            return 0
        run = self._connection.execute
        if vanished := run(query("interactions", "vanished"), self._bounds).fetchall():
            ids, heirs, days = (list(column) for column in zip(*vanished, strict=True))
            run(query("interactions", "retire"), {**self._bounds, "id": ids, "heir": heirs, "day": days})
        run(query("interactions", "drop_marks"), {"ids": self._marks})
        return self._changed + len(vanished)


def _columns(rows: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    return {name: [getattr(row, name) for row in rows] for name in names}
