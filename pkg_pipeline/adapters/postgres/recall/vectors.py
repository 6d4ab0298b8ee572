"""Vectors and their binary codes by space, saved in one transaction. Codes are derived here, so they always match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall.vector_indexes import SCAN_LIMIT, keep_indexes
from pkg_pipeline.adapters.postgres.recall.vector_rows import copied
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.recall.vector_codes import codes
from pkg_pipeline.stages.recall.records import SpaceMismatch, VectorRow

ROWS_AT_ONCE = 1000
"""Per transaction: each locks the sizes of its scopes."""

LENGTH_TOLERANCE = 1e-3


SQL, SPACES = Statements("vectors"), Statements("spaces")


class PostgresVectorStore:
    def __init__(self, connections: ConnectionPool, *, scan_limit: int = SCAN_LIMIT) -> None:
        self._connections = connections
        self._scan_limit = scan_limit

    def missing(self, space_id: int, chunks: Sequence[tuple[int, str]]) -> set[int]:
        """Of ``(chunk_no, index_hash)`` those without a vector of this text."""
        given = {
            "space": space_id,
            "chunk_nos": [chunk_no for chunk_no, _ in chunks],
            "hashes": [index_hash for _, index_hash in chunks],
        }
        with self._connections.connection() as connection:
            return set(SQL.values(connection, "missing", **given))

    def save(self, space_id: int, rows: Sequence[VectorRow]) -> int:
        """As in ``VectorStore``, in transactions of ``ROWS_AT_ONCE``; of duplicates the last one counts. Raises
        ValueError for vectors that are not finite or not of length 1 or 0.
        """
        latest = {row.chunk_no: row for row in rows}
        ordered = [latest[chunk_no] for chunk_no in sorted(latest)]
        vectors = _checked(ordered)
        return sum(
            self._save(space_id, ordered[start : start + ROWS_AT_ONCE], vectors[start : start + ROWS_AT_ONCE])
            for start in range(0, len(ordered), ROWS_AT_ONCE)
        )

    def _save(self, space_id: int, rows: Sequence[VectorRow], vectors: NDArray[np.float32]) -> int:
        block = copied(space_id, rows, vectors, codes(vectors))
        chunk_nos = [row.chunk_no for row in rows]
        with transaction(self._connections) as connection:
            _keep_size(connection, space_id, vectors.shape[1])
            there = SQL.values(connection, "lock_chunks", chunk_nos=chunk_nos)
            if not there:
                return 0
            SQL.run(connection, "make_given")
            with connection.cursor() as cursor, cursor.copy(query("vectors", "copy_given")) as copy:
                copy.write(block)
            SQL.run(connection, "by_key")
            if len(there) < len(rows):
                SQL.run(connection, "forget_gone", chunk_nos=there)
            change: Counter[tuple[int, UUID]] = Counter()
            change.subtract(Counter(SQL.rows(connection, "leave_scopes")))
            SQL.run(connection, "save_embeddings")
            change.update({(one.space_id, one.scope): one.codes for one in SQL.rows(connection, "save_codes")})
            count_codes(connection, change)
        return len(there)

    def delete(self, chunk_nos: Sequence[int]) -> None:
        """Delete codes and vectors of these chunks in every space."""
        with transaction(self._connections) as connection:
            delete_in(connection, chunk_nos)

    def keep_indexes(self, space_id: int | None = None) -> list[str]:
        """As in ``VectorStore``. One process at a time; others return at once."""
        with self._connections.connection() as connection:
            return keep_indexes(connection, scan_limit=self._scan_limit, building=space_id, sweep=_sweep)


def delete_in(connection: Connection, chunk_nos: Sequence[int]) -> None:
    """Delete codes and vectors of these chunks in the caller's transaction, before their rows of ``memory_chunks``."""
    if not chunk_nos:
        return
    given = {"chunk_nos": list(chunk_nos)}
    SQL.run(connection, "lock_chunks", **given)
    gone = Counter(SQL.rows(connection, "delete_codes", **given))
    SQL.run(connection, "delete_embeddings", **given)
    count_codes(connection, {key: -number for key, number in gone.items()})


def _sweep(connection: Connection) -> None:
    """Delete codes whose chunk is gone, left by killed workers."""
    with connection.transaction():
        gone = Counter(SQL.rows(connection, "orphans"))
        count_codes(connection, {key: -number for key, number in gone.items()})


def drop_vectors(connection: Connection, space_id: int) -> int:
    """Delete vectors, codes and sizes of a space; returns how many vectors. Commits per step under autocommit."""
    dropped = SQL.run(connection, "drop_embeddings", space=space_id)
    SQL.run(connection, "drop_codes", space=space_id)
    SQL.run(connection, "drop_scopes", space=space_id)
    return dropped


def _keep_size(connection: Connection, space_id: int, dimensions: int) -> None:
    """Set the dimensions of a new space. Raises SpaceMismatch for another number."""
    found = SPACES.one(connection, "size", space=space_id)
    if found is not None and found.dimensions is None:
        SPACES.run(connection, "keep_size", space=space_id, dimensions=dimensions)
        found = SPACES.one(connection, "size", space=space_id)
    if found is None:
        raise SpaceMismatch(f"the vector space {space_id} was dropped")
    if found.dimensions != dimensions:
        raise SpaceMismatch(
            f"the vector space {space_id} holds vectors of {found.dimensions} dimensions, these have {dimensions};"
            " another model needs a space of its own: pkg-pipeline reembed --to MODEL"
        )


def count_codes(connection: Connection, change: Mapping[tuple[int, UUID], int]) -> None:
    """Add differences to the sizes of (space, scope), in the caller's transaction."""
    changed = sorted((key, by) for key, by in change.items() if by)
    if changed:
        spaces, scopes = [key[0] for key, _ in changed], [key[1] for key, _ in changed]
        SQL.run(connection, "count", spaces=spaces, scopes=scopes, changes=[by for _, by in changed])


def _checked(rows: Iterable[VectorRow]) -> NDArray[np.float32]:
    """Array (n, d) of the rows. Raises SpaceMismatch for different lengths, ValueError for unusable values."""
    given = [row.embedding for row in rows]
    if len({one.shape for one in given}) > 1:
        raise SpaceMismatch("vectors of different dimensions were given to be saved together")
    if not given:
        return np.empty((0, 1), dtype=np.float32)
    vectors = np.stack(given).astype(np.float32, copy=False)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if not np.isfinite(lengths).all():
        raise ValueError("a vector is not finite")
    if ((lengths != 0) & (np.abs(lengths - 1) > LENGTH_TOLERANCE)).any():
        raise ValueError("a vector has neither the length 1 nor 0")
    return vectors
