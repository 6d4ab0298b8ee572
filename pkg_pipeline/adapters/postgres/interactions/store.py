"""The store of the interactions stage: dirty chats in batches of one transaction, messages through a server-side
cursor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import chain, groupby
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import ServerCursor
from psycopg.rows import kwargs_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, server_cursor, transaction
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of
from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.message.attribution import NEIGHBOURS
from pkg_pipeline.memory.records import ChatCategory
from pkg_pipeline.stages.interactions.records import (
    LANGUAGE_MESSAGES,
    ChatInfo,
    Continued,
    InteractionRow,
    ParticipantRow,
    SegmentMessage,
)

SQL, READINGS = Statements("interactions"), Statements("readings")

CHUNK_MESSAGES = 5_000
CHATS_AT_ONCE = 500
MESSAGES_AT_ONCE = 50_000
"""Limits of one transaction (at least one chat), so that locks are held for about half a second."""
TOTALS_AT_ONCE = 1_000
"""Entities per transaction."""
CONTINUED_AT_ONCE = 8
"""Chats whose interactions go on from where they ended; more at once are built whole, with one read for all."""
CONTEXT_MESSAGES = 2 * NEIGHBOURS
"""Before what is new in a group: they and it decide to whom the nearest of them belongs."""


class PostgresInteractionStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def dirty_chats(self, chats: Collection[UUID] | None = None, *, limit: int | None = None) -> list[UUID]:
        """Dirty chats among ``chats`` (None: all), oldest mark first, at most ``limit``."""
        given = {"chats": None if chats is None else list(chats), "limit": limit}
        with self._connections.connection() as connection:
            return [row.chat_id for row in SQL.rows(connection, "dirty_chats", **given)]

    @contextmanager
    def open_batch(
        self, chats: Sequence[UUID], *, gap_seconds: float, mass_senders: int, waits: bool
    ) -> Iterator[PostgresChatBatch]:
        """As many of ``chats`` as one transaction takes. With ``waits`` False locked chats are skipped."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "create_planned")
            given = {"chats": list(chats[:CHATS_AT_ONCE]), "messages": MESSAGES_AT_ONCE}
            (sized,) = SQL.rows(connection, "chats_at_once", **given)
            asked = list(chats[: sized.chats])
            found = _open(connection, asked, gap_seconds=gap_seconds, mass_senders=mass_senders, waits=waits)
            if len(found) <= CONTINUED_AT_ONCE:
                found = _continued(connection, found)
            yield PostgresChatBatch(connection, found, asked=len(asked))

    def set_category(self, chat_id: UUID, category: ChatCategory | None) -> bool:
        """Set by a person (P34), overriding export and rule. False if there is no such chat."""
        return SQL.value(self._connections, "set_category", chat=chat_id, category=category) == 1

    def complete_silent(self, *, before: datetime) -> int:
        """Interactions that ended before ``before`` become completed; returns how many."""
        return SQL.run(self._connections, "complete_silent", before=before)

    def refresh_totals(self, chats: Collection[UUID] | None = None, *, limit: int | None = None) -> int:
        """Recompute totals of at most ``limit`` entities touched by saved interactions, in ``chats`` or (None)
        anywhere; returns how many.
        """
        with self._connections.connection() as connection:
            dirty = SQL.rows(connection, "dirty_entities", chats=None if chats is None else list(chats), limit=limit)
        for at in range(0, len(dirty), TOTALS_AT_ONCE):
            some = dirty[at : at + TOTALS_AT_ONCE]
            parameters = {"entity": [row.entity_id for row in some], "from_day": [row.from_day for row in some]}
            with transaction(self._connections) as connection:
                for step in ("lock_entities", "clear_days", "build_days"):
                    SQL.run(connection, step, **parameters)
                marks = list(chain.from_iterable(row.ids for row in some))
                SQL.run(connection, "drop_marks", ids=marks)
        return len(dirty)


class _Stretch(NamedTuple):
    """A locked chat, the range of it to segment, and its marks. ``goes_on``: the interaction that the change, from
    ``changed_from``, stands behind.
    """

    chat: ChatInfo
    from_at: datetime
    to_at: datetime
    marks: list[int]
    changed_from: datetime
    goes_on: UUID | None

    @property
    def is_group(self) -> bool:
        return self.chat.kind != "direct" and not self.chat.is_mass


def _open(
    connection: Connection, chats: list[UUID], *, gap_seconds: float, mass_senders: int, waits: bool
) -> list[_Stretch]:
    """Lock the chats and load their ranges; chats that another worker has finished are left out."""
    locked = {row.id: row for row in SQL.rows(connection, "lock_chats" if waits else "lock_free_chats", chats=chats)}
    if len(locked) < len(chats) and (lost := SQL.rows(connection, "lost_chats", chats=chats)):
        SQL.run(connection, "drop_lost_marks", chats=[row.id for row in lost])
    ids = {"chats": list(locked)}
    marks = {row.chat_id: row for row in SQL.rows(connection, "chat_marks", **ids)}
    mass = {row.id for row in SQL.rows(connection, "mark_mass", chats=list(marks), mass_senders=mass_senders)}
    members: dict[UUID, dict[UUID, tuple[tuple[str, ...], bool]]] = {chat: {} for chat in marks}
    for row in SQL.rows(connection, "members", chats=list(marks)):
        members[row.chat_id][row.entity_id] = (tuple(row.names), row.is_self)
    bounds = {
        "chat": list(marks),
        "from_at": [row.from_at for row in marks.values()],
        "to_at": [row.to_at for row in marks.values()],
        "gap": gap_seconds,
    }
    found: dict[UUID, _Stretch] = {}
    for row in SQL.rows(connection, "stretches", **bounds):
        chat = locked[row.chat_id]
        category = "mass" if chat.id in mass else chat.category
        info = ChatInfo(chat.id, chat.source, chat.external_id, chat.kind, category, members[chat.id])
        goes_on = None if info.is_mass else row.continued
        found[chat.id] = _Stretch(info, row.from_at, row.to_at, marks[chat.id].ids, row.changed_from, goes_on)
    return [found[chat] for chat in chats if chat in found]


def _continued(connection: Connection, stretches: list[_Stretch]) -> list[_Stretch]:
    """Of those that go on only what is new is read, with what it needs before it."""
    going = [one for one in stretches if one.goes_on is not None]
    if not going:
        return stretches
    rows = SQL.rows(
        connection,
        "continued",
        ids=[one.goes_on for one in going],
        from_at=[one.changed_from for one in going],
        to_at=[one.to_at for one in going],
        is_group=[one.is_group for one in going],
        telling=LANGUAGE_MESSAGES,
        languages=len(LANGUAGES),
        context=CONTEXT_MESSAGES,
    )
    known = {row.id: row for row in rows}
    return [
        _from_there(one, known[one.goes_on]) if one.goes_on in known else one._replace(goes_on=None)
        for one in stretches
    ]


def _from_there(stretch: _Stretch, row: Any) -> _Stretch:
    columns = row._asdict()
    entities, counts, tokens = (columns.pop(name) for name in ("entities", "counts", "tokens"))
    read_from = columns.pop("read_from")
    participants = dict(zip(entities, zip(counts, tokens, strict=True), strict=True))
    continued = Continued(**columns, participants=participants)
    return stretch._replace(chat=replace(stretch.chat, continued=continued), from_at=read_from)


class PostgresChatBatch:
    """Dirty chats inside the transaction of ``open_batch``; ``asked`` of those given were tried, ``built`` locked."""

    def __init__(self, connection: Connection, stretches: list[_Stretch], *, asked: int) -> None:
        self._connection = connection
        self._stretches = stretches
        self.asked = asked
        self.built = len(stretches)
        self._by_chat = {one.chat.id: one for one in stretches}
        self._changed = 0
        self.has_vanished = False

    def chats(self) -> Iterator[tuple[ChatInfo, Iterator[list[SegmentMessage]]]]:
        """Each chat with its messages, which must be read before the next chat is requested. Of one that goes on the
        few before what is new come too.
        """
        with server_cursor(self._connection, "segments", kwargs_row(SegmentMessage)) as cursor:
            cursor.itersize = CHUNK_MESSAGES
            given = _bounds(self._stretches) | {"is_group": [one.is_group for one in self._stretches]}
            cursor.execute(SQL.text("segments"), given)
            for place, chunks in groupby(_chunks(cursor), key=lambda chunk: chunk[0].place):
                yield self._stretches[place - 1].chat, chunks

    def save(self, rows: Sequence[InteractionRow], *, due_after_seconds: float, minimum_messages: int) -> None:
        """Upsert; marks changed days as due ``due_after_seconds`` after the end of their interactions."""
        if not rows:
            return
        SQL.run(self._connection, "insert_planned", **columns_of(rows, "id", "chat_id", "started_at", "ended_at"))
        self._upsert(rows, due_after_seconds, minimum_messages)
        self._save_participants(rows)
        if others := [row for row in rows if self._by_chat[row.chat_id].chat.kind != "direct"]:
            self._save_belongings(others, drop_others=True)

    def extend(self, row: InteractionRow, *, due_after_seconds: float, minimum_messages: int) -> int:
        """As ``save``, of one that goes on: its ``belongings`` are new ones. Returns their hash."""
        self._upsert([row], due_after_seconds, minimum_messages)
        self._upsert_participants([(row, participant) for participant in row.participants])
        return self._save_belongings([row], drop_others=False).get(row.id, 0) if row.belongings else 0

    def _upsert(self, rows: Sequence[InteractionRow], due_after_seconds: float, minimum_messages: int) -> None:
        columns = columns_of(rows, "id", "chat_id", "day", "started_at", "ended_at", "status", "message_count")
        columns |= columns_of(rows, "token_count", "important_count", "language", "first_external_id", "input_hash")
        # rows of arrays of different lengths are no array
        columns["language_shares"] = [
            None if row.language_shares is None else f"{{{','.join(map(str, row.language_shares))}}}" for row in rows
        ]
        stretches = [self._by_chat[row.chat_id] for row in rows]
        self._changed += SQL.value(
            self._connection,
            "upsert_interactions",
            **columns,
            due_after=due_after_seconds,
            minimum=minimum_messages,
            is_eligible=[not one.chat.is_mass for one in stretches],
        )

    def _save_participants(self, rows: Sequence[InteractionRow]) -> None:
        pairs = [(row, participant) for row in rows for participant in row.participants]
        ids = {
            "interaction_id": [row.id for row, _ in pairs],
            "entity_id": [participant.entity_id for _, participant in pairs],
        }
        SQL.run(
            self._connection,
            "delete_participants",
            interaction=[row.id for row in rows],
            pair_interaction=ids["interaction_id"],
            pair_entity=ids["entity_id"],
        )
        self._upsert_participants(pairs)

    def _upsert_participants(self, pairs: Sequence[tuple[InteractionRow, ParticipantRow]]) -> None:
        SQL.run(
            self._connection,
            "upsert_participants",
            interaction_id=[row.id for row, _ in pairs],
            entity_id=[participant.entity_id for _, participant in pairs],
            role=[participant.role for _, participant in pairs],
            message_count=[participant.message_count for _, participant in pairs],
            token_count=[participant.token_count for _, participant in pairs],
            started_at=[row.started_at for row, _ in pairs],
            ended_at=[row.ended_at for row, _ in pairs],
            # a moved start changes its old day too; nothing before the range changes
            from_at=[self._by_chat[row.chat_id].from_at for row, _ in pairs],
        )

    def _save_belongings(self, rows: Sequence[InteractionRow], *, drop_others: bool) -> dict[UUID, int]:
        """The hash of those that are new, by interaction."""
        SQL.run(self._connection, "create_belongs")
        with self._connection.cursor() as cursor, cursor.copy(SQL.text("copy_belongs")) as copy:
            for row in rows:
                for one in row.belongings:
                    entity, interaction = str(one.entity_id), str(row.id)
                    for message_id, sent_us in zip(one.message_ids.tolist(), one.sent_at_us.tolist(), strict=True):
                        copy.write_row((entity, message_id, interaction, sent_us))
        if drop_others:
            SQL.run(self._connection, "delete_belongings", interaction=[row.id for row in rows])
        new = SQL.rows(self._connection, "upsert_belongings")
        SQL.run(self._connection, "clear_belongs")
        return {row.interaction_id: row.hash for row in new}

    def finish(self) -> int:
        """Delete interactions that no longer exist in the ranges and reassign their rows; returns how many changed in
        all.
        """
        whole = [one for one in self._stretches if one.goes_on is None]
        vanished = SQL.rows(self._connection, "vanished", **_bounds(whole)) if whole else []
        if vanished:
            SQL.run(
                self._connection, "retire", **columns_of(vanished, "id", "heir", "day", "chat_id", "from_at", "to_at")
            )
        SQL.run(self._connection, "drop_marks", ids=list(chain.from_iterable(one.marks for one in self._stretches)))
        READINGS.run(self._connection, "settle_edits", chats=[one.chat.id for one in self._stretches])
        self.has_vanished = bool(vanished)
        return self._changed + len(vanished)

    def chunk_marks(self) -> list[int]:
        """Marks of days of chunks that this batch made."""
        return SQL.values(self._connection, "own_marks")


def _bounds(stretches: Sequence[_Stretch]) -> dict[str, list[Any]]:
    return {
        "chat": [one.chat.id for one in stretches],
        "from_at": [one.from_at for one in stretches],
        "to_at": [one.to_at for one in stretches],
    }


def _chunks(cursor: ServerCursor[SegmentMessage]) -> Iterator[list[SegmentMessage]]:
    """Fetched chunks, split so that each is of one chat."""
    while rows := cursor.fetchmany(CHUNK_MESSAGES):
        for _, chunk in groupby(rows, key=lambda row: row.place):
            yield list(chunk)
        if len(rows) < CHUNK_MESSAGES:
            return
