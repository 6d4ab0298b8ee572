"""Spaces of vectors: which there are, which is asked, the switch from one to another, the end of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall.vector_indexes import drop_indexes
from pkg_pipeline.adapters.postgres.recall.vectors import drop_vectors
from pkg_pipeline.stages.recall.records import Space, SpaceMismatch
from pkg_pipeline.stages.recall.reembed import SpaceSize


class PostgresSpaceStore:
    """Rows of ``embedding_spaces``: opened, filled, switched, dropped, measured."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def active(self) -> Space | None:
        rows = self._rows("active")
        return Space(*rows[0]) if rows else None

    def spaces(self) -> list[Space]:
        return [Space(*row) for row in self._rows("all")]

    def open(self, model: str) -> Space:
        """The space of a model; a new one is ``active`` where none is yet, else ``building``."""
        if not (rows := self._rows("of_model", model=model)):
            with transaction(self._connections) as connection:
                _run(connection, "lock")
                _run(connection, "open", model=model)
            rows = self._rows("of_model", model=model)
        return Space(*rows[0])

    def missing(self, space_id: int) -> tuple[int, int]:
        """Interactions that lack the space's vectors, and how many: ``(interactions, chunks)``."""
        return self._rows("missing", space=space_id)[0]

    def activate(self, space_id: int) -> None:
        """As in ``SpaceStore``. Writers of chunks and vectors wait while it is checked; searches do not."""
        with transaction(self._connections) as connection:
            _run(connection, "lock")
            if not _is_there(connection, space_id):
                raise SpaceMismatch(f"the vector space {space_id} was dropped")
            _run(connection, "hold_chunks")
            interactions, chunks = _run(connection, "missing", space=space_id).fetchone() or (0, 0)
            if interactions:
                raise SpaceMismatch(
                    f"the vector space {space_id} is not complete: {chunks} vectors of {interactions} interactions are"
                    " missing"
                )
            _run(connection, "retire_others", space=space_id)
            _run(connection, "activate", space=space_id)

    def sizes(self) -> list[SpaceSize]:
        """Every space with what it holds and lacks."""
        return [SpaceSize(*row) for row in self._rows("sizes")]

    def chunks(self) -> int:
        """All that can be searched."""
        return self._rows("chunks")[0][0]

    def days(self) -> tuple[date, date] | None:
        """The first and the last day that have interactions."""
        first, last = self._rows("days")[0]
        return None if first is None else (first, last)

    def sample(self, space_id: int, limit: int) -> list[tuple[bool, str]]:
        """Some of what lacks a vector there: whether it is a message, and its words."""
        return self._rows("sample", space=space_id, limit=limit)

    def unread(self) -> int:
        """Interactions with messages that were never cut into chunks."""
        return self._rows("unread")[0][0]

    def forget_incomplete(self, space_id: int) -> int:
        """Interactions that are marked complete and lack vectors are due again; how many."""
        with self._connections.connection() as connection:
            return _run(connection, "forget_incomplete", space=space_id).rowcount

    @contextmanager
    def filling(self) -> Iterator[bool]:
        """Whether nobody else fills or drops a space meanwhile. A process that dies lets go."""
        with self._connections.connection() as connection:
            is_mine = _run(connection, "begin_filling").fetchone() == (True,)
            try:
                yield is_mine
            finally:
                if is_mine and not connection.closed:
                    _run(connection, "end_filling")

    def drop(self, space_id: int) -> int:
        """As in ``SpaceStore``. Raises SpaceMismatch for the active one. Cut short it is done again, and ends it.

        Its steps commit one by one: nobody waits for a million vectors to go.
        """
        with self._connections.connection() as connection:
            if not _is_there(connection, space_id):
                return 0
            with connection.transaction():
                if not _run(connection, "begin_drop", space=space_id).rowcount:
                    raise SpaceMismatch(
                        f"the vector space {space_id} is the one that is asked; switch to another first"
                    )
                _run(connection, "drop_states", space=space_id)
            drop_indexes(connection, space_id)
            dropped = drop_vectors(connection, space_id)
            try:
                _run(connection, "remove", space=space_id)
            except psycopg.errors.ForeignKeyViolation as error:
                raise SpaceMismatch(
                    f"somebody fills the vector space {space_id} now; try again when that ended"
                ) from error
            return dropped

    def _rows(self, name: str, **given: Any) -> list[tuple[Any, ...]]:
        with self._connections.connection() as connection:
            return _run(connection, name, **given).fetchall()


def _is_there(connection: Connection, space_id: int) -> bool:
    return _run(connection, "size", space=space_id).fetchone() is not None


def _run(connection: Connection, name: str, **given: Any) -> psycopg.Cursor[tuple[Any, ...]]:
    return connection.execute(query("spaces", name), given or None)
