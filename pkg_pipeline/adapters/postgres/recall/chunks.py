"""The chunks stage's store: outdated interactions; rows, terms and states of those held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall.chunk_rows import copied
from pkg_pipeline.adapters.postgres.recall.vectors import delete_in
from pkg_pipeline.adapters.postgres.statements import Row, Statements, columns_of
from pkg_pipeline.memory.recall.chunking import REACH_PASSAGES, ChunkedInteraction
from pkg_pipeline.memory.recall.records import CHUNKS_VERSION, ChunkedMessage, DerivedText
from pkg_pipeline.stages.interactions.records import Touched
from pkg_pipeline.stages.recall.records import (
    CONTEXT_MESSAGES,
    Built,
    ChunkRow,
    DueInteraction,
    GoesOn,
    InputHash,
    KeptChunk,
)

PAGE_MESSAGES = 500
"""Of one long interaction; several short ones are read at once."""

COMPARED_AT_ONCE = 2_000
"""Interactions per statement that compares states."""

BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)
INDEXED_BY = "chunk_index"
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
                yield PostgresHeldInteractions(connection, held)
            finally:
                if not connection.broken:
                    SQL.run(connection, "release")

    def settle(self, marks: Sequence[int], *, now: datetime, later: datetime) -> None:
        """Days with these marks are done but for a look at them ``later``."""
        SQL.run(self._connections, "settle", marks=list(marks), now=now, later=later)

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
        self._sees = False

    @property
    def ids(self) -> Sequence[UUID]:
        return self._ids

    def outdated(self, space_id: int, ids: Sequence[UUID] | None = None) -> list[DueInteraction]:
        """Those of ``ids``, or of all held, that still need work, in this order; each has a state from now on."""
        found = _outdated(self._connection, self._ids if ids is None else ids, space_id)
        if found:
            self.see_none()
            SQL.run(self._connection, "begin", ids=[one.id for one in found])
        return found

    def going_on(self, touched: Sequence[Touched], space_id: int) -> list[DueInteraction]:
        """Those of which only what was said behind them is not in the chunks; the others are left out."""
        rows = _compared(self._connection, [(one.id, one.continued_after) for one in touched], space_id, _columns_named)
        found = [_going_on(row, one) for one in touched for row in rows if row["interaction_id"] == one.id]
        return [one for one in found if one is not None]

    def see_none(self) -> None:
        """From now on ``stale`` are those that are not saved."""
        SQL.run(self._connection, "create_seen")
        SQL.run(self._connection, "clear_seen")
        self._sees = True

    def messages(
        self, interactions: Sequence[UUID], *, read_from: datetime = BEFORE_ALL
    ) -> Iterator[tuple[UUID, ChunkedMessage]]:
        """Live messages with text, interaction by interaction in order of time; one long interaction is read page by
        page.
        """
        limit = PAGE_MESSAGES if len(interactions) == 1 else None
        after: dict[str, Any] = {"after_at": read_from, "after_length": -1, "after_id": ""}
        while True:
            found = SQL.rows(self._connection, "messages", _message, ids=list(interactions), limit=limit, **after)
            yield from found
            if limit is None or len(found) < limit:
                return
            _, last = found[-1]
            after = {"after_at": last.sent_at, "after_length": len(last.external_id), "after_id": last.external_id}

    def last_messages(self, one: DueInteraction) -> Iterator[tuple[UUID, ChunkedMessage]]:
        """Those from ``read_from`` on, or all where they have too few words for those around what is new."""
        assert one.goes_on is not None, "only of one that goes on"
        found = [*self.messages([one.id], read_from=one.goes_on.read_from)]
        before = [said for _, said in found if said.sent_at <= one.goes_on.after]
        if sum(bool(said.text.strip()) for said in before) < 2 * REACH_PASSAGES and len(before) >= CONTEXT_MESSAGES:
            return self.messages([one.id])
        return iter(found)

    def derived(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[DerivedText]]:
        """The live summary with its items, confirmed facts, and folds that end in each interaction."""
        found: dict[UUID, list[DerivedText]] = {}
        for interaction, one in SQL.rows(self._connection, "derived", _derived, ids=list(interactions)):
            found.setdefault(interaction, []).append(one)
        return found

    def speakers(self, interactions: Sequence[UUID]) -> Mapping[UUID, Mapping[UUID, str]]:
        """Names of senders and participants."""
        found: dict[UUID, dict[UUID, str]] = {one: {} for one in interactions}
        if not found:
            return found
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
                copy.write(copied(rows))
            if self._sees:
                SQL.run(self._connection, "see")
            return SQL.rows(self._connection, "save_incoming", KeptChunk)

    def stale(self, interactions: Sequence[UUID], limit: int) -> list[int]:
        """Numbers of at most ``limit`` chunks of these that were not saved since they were locked."""
        return SQL.values(self._connection, "stale", ids=list(interactions), limit=limit)

    def delete(self, chunk_nos: Sequence[int]) -> None:
        """Delete chunks with their vectors and term frequencies, in one transaction."""
        with self._connection.transaction():
            delete_in(self._connection, chunk_nos)
            SQL.run(self._connection, "delete_chunks", numbers=list(chunk_nos))

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
    return _compared(connection, [(one, None) for one in ids], space_id, _due)


def _compared(
    connection: Connection, asked: Sequence[tuple[UUID, datetime | None]], space_id: int, make: Callable[..., Row]
) -> list[Row]:
    given = {
        "ids": [one for one, _ in asked],
        "after": [after for _, after in asked],
        "space": space_id,
        "version": CHUNKS_VERSION,
        "context": CONTEXT_MESSAGES,
    }
    return SQL.rows(connection, "outdated", make, **given)


def _columns_named(**columns: Any) -> dict[str, Any]:
    return columns


def _due(*, interaction_id: UUID, day: date, messages: int, input_hash: str, **columns: Any) -> DueInteraction:
    chat = {name: columns[name] for name in ("chat_id", "chat_source", "chat_external_id")}
    interaction = ChunkedInteraction(interaction_id, **chat)
    return DueInteraction(interaction_id, day, messages, interaction, input_hash)


def _going_on(row: Mapping[str, Any], touched: Touched) -> DueInteraction | None:
    """None where its chunks were not those of what it was before, or more than what is new behind it changed."""
    stands, added = InputHash.read(row["of_words"]), InputHash.read(row["input_hash"])
    if stands is None or added is None or row["of_words"] != row["of_vectors"]:
        return None
    if stands.messages != touched.messages_before or touched.continued_after is None:
        return None
    input_hash, is_joined = stands.longer(added, touched.belongings), stands.people != added.people
    if input_hash is None or (is_joined and row["has_summary"]):  # topics are those that name nobody who takes part
        return None
    goes_on = GoesOn(touched.continued_after, row["read_from"], row["chunks"], is_joined)
    return replace(_due(**row), input_hash=str(input_hash), goes_on=goes_on)


def _message(*, interaction_id: UUID, **columns: Any) -> tuple[UUID, ChunkedMessage]:
    return interaction_id, ChunkedMessage(**columns)


def _derived(*, interaction_id: UUID, topics: tuple[str, ...] | None, **columns: Any) -> tuple[UUID, DerivedText]:
    return interaction_id, DerivedText(topics=topics or (), **columns)
