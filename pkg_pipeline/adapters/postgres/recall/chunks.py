"""The chunks stage's store: which interactions are outdated, and rows, terms and states of those that are held."""

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
from pkg_pipeline.memory.recall.chunking import ChunkedInteraction
from pkg_pipeline.memory.recall.lexical import DIMENSIONS
from pkg_pipeline.memory.recall.records import INDEX_VERSION, ChunkedMessage, DerivedText, LexicalVector
from pkg_pipeline.stages.recall.records import Built, ChunkPlace, ChunkRow, DueInteraction, KeptChunk

PAGE_MESSAGES = 500
"""Of a single interaction, which may have a hundred thousand; several are short and read at once."""

COMPARED_AT_ONCE = 2_000
"""Interactions whose state is compared by one statement."""

BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)
INDEXED_BY = "chunk_index"


class PostgresChunkStore:
    """Which interactions need chunks, and the holding of them."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def due(self, days: tuple[date, date], *, space_id: int) -> list[DueInteraction]:
        """Interactions of the closed range of days whose chunks are outdated for the words or the space, by day.

        Active ones too; mass chats have none (P34).
        """
        found: list[DueInteraction] = []
        with self._connections.connection() as connection:
            span = {"first_day": days[0], "last_day": days[1]}
            wanted = [row[0] for row in connection.execute(query("chunks", "wanted"), span)]
            for at in range(0, len(wanted), COMPARED_AT_ONCE):
                found += _outdated(connection, wanted[at : at + COMPARED_AT_ONCE], space_id)
        return found

    def unwanted(self) -> list[UUID]:
        """Interactions that have chunks and are gone, or lie in a chat that became mass."""
        with self._connections.connection() as connection:
            return [row[0] for row in connection.execute(query("chunks", "unwanted"))]

    @contextmanager
    def hold(self, interactions: Sequence[UUID]) -> Iterator[PostgresHeldInteractions]:
        """Holds what is free until the end of the context; a process that dies lets go."""
        with self._connections.connection() as connection:
            try:
                rows = connection.execute(query("chunks", "hold"), {"ids": list(interactions)}).fetchall()
                connection.execute(query("chunks", "create_seen"))
                connection.execute(query("chunks", "clear_seen"))
                yield PostgresHeldInteractions(connection, [row[0] for row in rows])
            finally:
                if not connection.broken:
                    connection.execute(query("chunks", "release"))

    def mark_outdated(self, index: str) -> bool:
        """Mark all days if what they were indexed by last (rules and space) was not ``index``; whether it did."""
        with transaction(self._connections) as connection:
            known = connection.execute(query("work", "kept_setting"), {"key": INDEXED_BY}).fetchone()
            if known == (index,):
                return False
            connection.execute(query("work", "change_setting"), {"key": INDEXED_BY, "value": index})
            connection.execute(query("chunks", "mark_all"))
            return True


class PostgresHeldInteractions:
    """Interactions that nobody else makes chunks of meanwhile; the session of the connection holds them."""

    def __init__(self, connection: Connection, ids: Sequence[UUID]) -> None:
        self._connection = connection
        self._ids = tuple(ids)

    @property
    def ids(self) -> Sequence[UUID]:
        """Those of the wanted ones that nobody else holds, in their order."""
        return self._ids

    def outdated(self, space_id: int) -> list[DueInteraction]:
        """Those that need work still, in the order of ``ids``; from here on they have a state, if an unfinished one."""
        found = _outdated(self._connection, self._ids, space_id)
        self._connection.execute(query("chunks", "begin"), {"ids": [one.id for one in found]})
        return found

    def messages(self, interactions: Sequence[UUID]) -> Iterator[tuple[UUID, ChunkedMessage]]:
        """Live messages with their text, interaction by interaction as given, each in its order of speech.

        A single interaction is read page by page, several at once.
        """
        limit = PAGE_MESSAGES if len(interactions) == 1 else None
        after: dict[str, Any] = {"after_at": BEFORE_ALL, "after_length": -1, "after_id": ""}
        while True:
            parameters = {"ids": list(interactions), "limit": limit, **after}
            rows = self._connection.execute(query("chunks", "messages"), parameters).fetchall()
            for row in rows:
                yield row[0], ChunkedMessage(*row[1:9], entity_ids=tuple(row[9]))
            if limit is None or len(rows) < limit:
                return
            external_id, sent_at = rows[-1][2], rows[-1][5]
            after = {"after_at": sent_at, "after_length": len(external_id), "after_id": external_id}

    def derived(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[DerivedText]]:
        """The live summary, its decisions and action items, the confirmed facts, and the folds that end in each."""
        found: dict[UUID, list[DerivedText]] = {}
        rows = self._connection.execute(query("chunks", "derived"), {"ids": list(interactions)})
        for interaction, *columns in rows:
            source, subject, at, text, messages, entities, importance, is_withheld, found_by, topics = columns
            one = DerivedText(
                source=source,
                subject_id=subject,
                at=at,
                text=text,
                message_ids=tuple(messages),
                entity_ids=tuple(entities),
                importance=importance,
                topics=tuple(topics or ()),
                is_withheld=is_withheld,
                found_by=found_by,
            )
            found.setdefault(interaction, []).append(one)
        return found

    def speakers(self, interactions: Sequence[UUID]) -> Mapping[UUID, Mapping[UUID, str]]:
        """For each the names of those who wrote in it or take part."""
        found: dict[UUID, dict[UUID, str]] = {one: {} for one in interactions}
        for interaction, entity, name in self._connection.execute(
            query("chunks", "speakers"), {"ids": list(interactions)}
        ):
            found[interaction][entity] = name
        return found

    def key_points(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[str]]:
        """Those of the live summary, where there is one."""
        rows = self._connection.execute(query("chunks", "key_points"), {"ids": list(interactions)})
        return dict(rows.fetchall())

    def save(self, rows: Sequence[ChunkRow]) -> list[KeptChunk]:
        """Upsert rows, and the frequencies of their terms, in one transaction; what became of each, in their order."""
        run = self._connection.execute
        with self._connection.transaction():
            run(query("chunks", "create_incoming"))
            with self._connection.cursor() as cursor, cursor.copy(query("chunks", "copy_incoming")) as copy:
                for place, row in enumerate(rows):
                    copy.write_row(_columns(place, row))
            run(query("chunks", "create_changed"))
            run(query("chunks", "see"))
            changed = run(query("chunks", "upsert_chunks")).rowcount
            kept = [KeptChunk(*row) for row in run(query("chunks", "numbers"))]
            if changed:
                run(query("chunks", "count_terms"))  # last: everybody waits at term 0
            return kept

    def stale(self, interactions: Sequence[UUID], limit: int) -> list[ChunkPlace]:
        """Chunks of these that were not saved since they are held; at most ``limit``."""
        rows = self._connection.execute(query("chunks", "stale"), {"ids": list(interactions), "limit": limit})
        return [ChunkPlace(no, tuple(scopes)) for no, scopes in rows]

    def delete(self, places: Sequence[ChunkPlace]) -> None:
        """Take chunks away with their vectors and the frequencies of their terms, in one transaction."""
        numbers = [one.chunk_no for one in places]
        with self._connection.transaction():
            self._connection.execute(query("chunks", "delete_chunks"), {"numbers": numbers})
            delete_in(self._connection, places)

    def name_speakers(self, terms: Mapping[UUID, Sequence[int]]) -> None:
        """By which terms each of these entities is meant from now on."""
        pairs = [(term, entity) for entity, found in terms.items() for term in found]
        parameters = {
            "ids": list(terms),
            "term": [term for term, _ in pairs],
            "entity": [entity for _, entity in pairs],
        }
        with self._connection.transaction():
            for step in ("lock_speakers", "drop_speaker_terms", "insert_speaker_terms"):
                self._connection.execute(query("chunks", step), parameters)

    def finish(self, built: Sequence[Built], *, spaces: Sequence[int]) -> None:
        """Write down from what the chunks were made, for the words and for each space that is complete."""
        self._connection.execute(
            query("chunks", "finish"),
            {
                "ids": [one.interaction_id for one in built],
                "hashes": [one.input_hash for one in built],
                "chunks": [one.chunks for one in built],
                "refused": [one.refused for one in built],
                "spaces": list(spaces),
            },
        )

    def forget(self, interactions: Sequence[UUID]) -> None:
        """These have no chunks any more: their states go."""
        self._connection.execute(query("chunks", "forget_states"), {"ids": list(interactions)})


def _outdated(connection: Connection, ids: Sequence[UUID], space_id: int) -> list[DueInteraction]:
    parameters = {"ids": list(ids), "space": space_id, "version": INDEX_VERSION}
    return [
        DueInteraction(
            id=interaction,
            day=day,
            messages=messages,
            interaction=ChunkedInteraction(interaction, chat, chat_source, chat_external_id),
            input_hash=input_hash,
        )
        for interaction, day, messages, chat, chat_source, chat_external_id, input_hash in connection.execute(
            query("chunks", "outdated"), parameters
        )
    ]


def _columns(place: int, row: ChunkRow) -> tuple[Any, ...]:
    """In the order of ``copy_incoming``."""
    chunk = row.chunk
    return (
        place,
        chunk.id,
        chunk.source,
        chunk.chat_id,
        chunk.interaction_id,
        chunk.subject_id,
        chunk.sender_entity_id,
        chunk.at,
        list(chunk.scopes),
        list(chunk.message_ids),
        chunk.start_char,
        chunk.end_char,
        chunk.passage,
        chunk.passages,
        chunk.importance,
        chunk.is_withheld,
        list(chunk.topics),
        chunk.content,
        chunk.content_hash,
        chunk.index_hash,
        list(row.lexical),
        _sparse(row.lexical),
    )


def _sparse(vector: LexicalVector) -> str:
    """A sparsevec in its text form, indices ascending."""
    entries = ",".join(f"{number}:{weight:.6g}" for number, weight in sorted(vector.items()))
    return f"{{{entries}}}/{DIMENSIONS}"
