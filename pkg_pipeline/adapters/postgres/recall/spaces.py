"""Vector spaces, one per embedding model: list, fill, switch, drop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.recall.vector_indexes import drop_indexes
from pkg_pipeline.adapters.postgres.recall.vectors import drop_vectors
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.recall.records import Space, SpaceMismatch
from pkg_pipeline.stages.recall.reembed import SpaceSize

SQL = Statements("spaces")


class PostgresSpaceStore:
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def active(self) -> Space | None:
        return SQL.one(self._connections, "active", Space)

    def spaces(self) -> list[Space]:
        return SQL.rows(self._connections, "all", Space)

    def open(self, model: str) -> Space:
        """The space of a model; a new one is ``active`` if there is none yet, else ``building``."""
        if (found := SQL.one(self._connections, "of_model", Space, model=model)) is None:
            with transaction(self._connections) as connection:
                SQL.run(connection, "lock")
                SQL.run(connection, "open", model=model)
                found = SQL.one(connection, "of_model", Space, model=model)
        assert found is not None, "it was opened"
        return found

    def missing(self, space_id: int) -> tuple[int, int]:
        """``(interactions, chunks)`` that lack vectors of the space."""
        (found,) = SQL.rows(self._connections, "missing", space=space_id)
        return found

    def activate(self, space_id: int) -> None:
        """As in ``SpaceStore``. Blocks writers of chunks and vectors, not searches."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock")
            if not _is_there(connection, space_id):
                raise SpaceMismatch(f"the vector space {space_id} was dropped")
            SQL.run(connection, "hold_chunks")
            (missing,) = SQL.rows(connection, "missing", space=space_id)
            if missing.interactions:
                raise SpaceMismatch(
                    f"the vector space {space_id} is not complete: {missing.chunks} vectors of {missing.interactions}"
                    " interactions are missing"
                )
            SQL.run(connection, "retire_others", space=space_id)
            SQL.run(connection, "activate", space=space_id)

    def sizes(self) -> list[SpaceSize]:
        """Every space with its counts."""
        return SQL.rows(self._connections, "sizes", SpaceSize)

    def chunks(self) -> int:
        return SQL.value(self._connections, "chunks")

    def days(self) -> tuple[date, date] | None:
        """The first and the last day with interactions."""
        (days,) = SQL.rows(self._connections, "days")
        return None if days.first is None else (days.first, days.last)

    def sample(self, space_id: int, limit: int) -> list[tuple[bool, str]]:
        """Some chunks without a vector: whether each is a message, and its text."""
        return [
            (row.is_message, row.content) for row in SQL.rows(self._connections, "sample", space=space_id, limit=limit)
        ]

    def unread(self) -> int:
        """Interactions with messages that were never chunked."""
        return SQL.value(self._connections, "unread")

    def forget_incomplete(self, space_id: int) -> int:
        """Mark complete interactions without all vectors as due; returns how many."""
        return SQL.run(self._connections, "forget_incomplete", space=space_id)

    @contextmanager
    def filling(self) -> Iterator[bool]:
        """An advisory lock; False while another process fills or drops a space."""
        with self._connections.connection() as connection:
            is_mine = SQL.value(connection, "begin_filling")
            try:
                yield is_mine
            finally:
                if is_mine and not connection.closed:
                    SQL.run(connection, "end_filling")

    def drop(self, space_id: int) -> int:
        """As in ``SpaceStore``. Commits in steps and may be repeated. Raises SpaceMismatch for the active space."""
        with self._connections.connection() as connection:
            if not _is_there(connection, space_id):
                return 0
            with connection.transaction():
                if not SQL.run(connection, "begin_drop", space=space_id):
                    raise SpaceMismatch(
                        f"the vector space {space_id} is the one that is asked; switch to another first"
                    )
                SQL.run(connection, "drop_states", space=space_id)
            drop_indexes(connection, space_id)
            dropped = drop_vectors(connection, space_id)
            try:
                SQL.run(connection, "remove", space=space_id)
            except psycopg.errors.ForeignKeyViolation as error:
                raise SpaceMismatch(
                    f"somebody fills the vector space {space_id} now; try again when that ended"
                ) from error
            return dropped


def _is_there(connection: Connection, space_id: int) -> bool:
    return SQL.one(connection, "size", space=space_id) is not None
