"""The chunks stage's store: outdated interactions; rows, terms and states of those held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall.vectors import delete_in
from pkg_pipeline.adapters.postgres.statements import Statements, columns_of
from pkg_pipeline.memory.recall.chunking import ChunkedInteraction
from pkg_pipeline.memory.recall.lexical import DIMENSIONS
from pkg_pipeline.memory.recall.records import CHUNKS_VERSION, ChunkedMessage, DerivedText, LexicalVector
from pkg_pipeline.stages.recall.records import Built, ChunkPlace, ChunkRow, DueInteraction, KeptChunk

PAGE_MESSAGES = 500
"""Of one long interaction; several short ones are read at once."""

COMPARED_AT_ONCE = 2_000
"""Interactions per statement that compares states."""

BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)
INDEXED_BY = "chunk_index"
COPIED = (
    *("id", "source", "chat_id", "interaction_id", "subject_id", "sender_entity_id", "at", "scopes", "message_ids"),
    *("start_char", "end_char", "passage", "passages", "importance", "is_withheld", "topics", "content"),
    *("content_hash", "index_hash"),
)
"""Fields of a chunk in the order of ``copy_incoming``."""

SQL, WORK = Statements("chunks"), Statements("work")


class PostgresChunkStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, days: tuple[date, date], *, space_id: int) -> list[DueInteraction]:
        """Interactions of the closed range of days whose chunks are outdated in words or vectors, by day. Active ones
        too; none of mass chats (P34).
        """
        found: list[DueInteraction] = []
        with self._connections.connection() as connection:
            wanted = SQL.values(connection, "wanted", first_day=days[0], last_day=days[1])
            for at in range(0, len(wanted), COMPARED_AT_ONCE):
                found += _outdated(connection, wanted[at : at + COMPARED_AT_ONCE], space_id)
        return found

    def unwanted(self) -> list[UUID]:
        """Interactions with chunks that were deleted or whose chat became mass."""
        return SQL.values(self._connections, "unwanted")

    @contextmanager
    def hold(self, interactions: Sequence[UUID]) -> Iterator[PostgresHeldInteractions]:
        """Holds those that are free until the context ends, by advisory locks of the session."""
        with self._connections.connection() as connection:
            try:
                held = SQL.values(connection, "hold", ids=list(interactions))
                SQL.run(connection, "create_seen")
                SQL.run(connection, "clear_seen")
                yield PostgresHeldInteractions(connection, held)
            finally:
                if not connection.broken:
                    SQL.run(connection, "release")

    def mark_outdated(self, index: str) -> bool:
        """Mark all days dirty if ``index`` (rules and space) differs from the stored one; whether it did."""
        with transaction(self._connections) as connection:
            if WORK.value(connection, "kept_setting", key=INDEXED_BY) == index:
                return False
            WORK.run(connection, "change_setting", key=INDEXED_BY, value=index)
            SQL.run(connection, "mark_all")
            return True


class PostgresHeldInteractions:
    """Interactions locked by this connection."""

    def __init__(self, connection: Connection, ids: Sequence[UUID]) -> None:
        self._connection = connection
        self._ids = tuple(ids)

    @property
    def ids(self) -> Sequence[UUID]:
        return self._ids

    def outdated(self, space_id: int) -> list[DueInteraction]:
        """Those that still need work, in the order of ``ids``; each has a state from now on."""
        found = _outdated(self._connection, self._ids, space_id)
        SQL.run(self._connection, "begin", ids=[one.id for one in found])
        return found

    def messages(self, interactions: Sequence[UUID]) -> Iterator[tuple[UUID, ChunkedMessage]]:
        """Live messages with text, interaction by interaction in order of time; one long interaction is read page by
        page.
        """
        limit = PAGE_MESSAGES if len(interactions) == 1 else None
        after: dict[str, Any] = {"after_at": BEFORE_ALL, "after_length": -1, "after_id": ""}
        while True:
            found = SQL.rows(self._connection, "messages", _message, ids=list(interactions), limit=limit, **after)
            yield from found
            if limit is None or len(found) < limit:
                return
            _, last = found[-1]
            after = {"after_at": last.sent_at, "after_length": len(last.external_id), "after_id": last.external_id}

    def derived(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[DerivedText]]:
        """The live summary with its items, confirmed facts, and folds that end in each interaction."""
        found: dict[UUID, list[DerivedText]] = {}
        for interaction, one in SQL.rows(self._connection, "derived", _derived, ids=list(interactions)):
            found.setdefault(interaction, []).append(one)
        return found

    def speakers(self, interactions: Sequence[UUID]) -> Mapping[UUID, Mapping[UUID, str]]:
        """Names of senders and participants."""
        found: dict[UUID, dict[UUID, str]] = {one: {} for one in interactions}
        for interaction, entity, name in SQL.rows(self._connection, "speakers", ids=list(interactions)):
            found[interaction][entity] = name
        return found

    def key_points(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[str]]:
        """Of the live summary."""
        return dict(SQL.rows(self._connection, "key_points", ids=list(interactions)))

    def save(self, rows: Sequence[ChunkRow]) -> list[KeptChunk]:
        """Upsert rows and term frequencies in one transaction; the results in order of ``rows``."""
        with self._connection.transaction():
            SQL.run(self._connection, "create_incoming")
            with self._connection.cursor() as cursor, cursor.copy(query("chunks", "copy_incoming")) as copy:
                for place, row in enumerate(rows):
                    copy.write_row(_columns(place, row))
            SQL.run(self._connection, "create_changed")
            SQL.run(self._connection, "see")
            changed = SQL.run(self._connection, "upsert_chunks")
            kept = SQL.rows(self._connection, "numbers", KeptChunk)
            if changed:
                SQL.run(self._connection, "count_terms")  # last: everybody waits at term 0
            return kept

    def stale(self, interactions: Sequence[UUID], limit: int) -> list[ChunkPlace]:
        """At most ``limit`` chunks of these that were not saved since they were locked."""
        return SQL.rows(self._connection, "stale", ChunkPlace, ids=list(interactions), limit=limit)

    def delete(self, places: Sequence[ChunkPlace]) -> None:
        """Delete chunks with their vectors and term frequencies, in one transaction."""
        with self._connection.transaction():
            SQL.run(self._connection, "delete_chunks", numbers=[one.chunk_no for one in places])
            delete_in(self._connection, places)

    def name_speakers(self, terms: Mapping[UUID, Sequence[int]]) -> None:
        """Replace the name terms of these entities."""
        pairs = [(term, entity) for entity, found in terms.items() for term in found]
        parameters = {
            "ids": list(terms),
            "term": [term for term, _ in pairs],
            "entity": [entity for _, entity in pairs],
        }
        with self._connection.transaction():
            for step in ("lock_speakers", "drop_speaker_terms", "insert_speaker_terms"):
                SQL.run(self._connection, step, **parameters)

    def finish(self, built: Sequence[Built], *, spaces: Sequence[int]) -> None:
        """Save the input hash per interaction, for the words and for each complete space."""
        columns = columns_of(built, "interaction_id", "input_hash", "chunks", "refused")
        SQL.run(self._connection, "finish", **columns, spaces=list(spaces))

    def forget(self, interactions: Sequence[UUID]) -> None:
        """Delete the states of interactions without chunks."""
        SQL.run(self._connection, "forget_states", ids=list(interactions))


def _outdated(connection: Connection, ids: Sequence[UUID], space_id: int) -> list[DueInteraction]:
    given = {"ids": list(ids), "space": space_id, "version": CHUNKS_VERSION}
    return SQL.rows(connection, "outdated", _due, **given)


def _due(*, interaction_id: UUID, day: date, messages: int, input_hash: str, **chat: Any) -> DueInteraction:
    interaction = ChunkedInteraction(interaction_id, **chat)
    return DueInteraction(interaction_id, day, messages, interaction, input_hash)


def _message(*, interaction_id: UUID, **columns: Any) -> tuple[UUID, ChunkedMessage]:
    return interaction_id, ChunkedMessage(**columns)


def _derived(*, interaction_id: UUID, topics: tuple[str, ...] | None, **columns: Any) -> tuple[UUID, DerivedText]:
    return interaction_id, DerivedText(topics=topics or (), **columns)


def _columns(place: int, row: ChunkRow) -> tuple[Any, ...]:
    chunk = (getattr(row.chunk, name) for name in COPIED)
    values = (list(one) if isinstance(one, tuple) else one for one in chunk)
    return place, *values, list(row.lexical), _sparse(row.lexical)


def _sparse(vector: LexicalVector) -> str:
    """A sparsevec in text form, indices ascending."""
    entries = ",".join(f"{number}:{weight:.6g}" for number, weight in sorted(vector.items()))
    return f"{{{entries}}}/{DIMENSIONS}"
