"""Indexes of big scopes and the vacuum after big loads: what keeps searches fast, never what makes them right.

A scope with more than ``SCAN_LIMIT`` codes has a partial HNSW index of its own. It is built beside readers and writers;
its name stands in ``chunk_scopes`` only while it is whole. Nothing here changes a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.stages.recall.records import SpaceState

SQL = Statements("vectors")

SCAN_LIMIT = 20_000
"""Codes of a scope that are scanned; above it has an index."""

PREFIX = "chunk_vectors_"
EF_CONSTRUCTION = 100
LEAST_MEMORY_KB, MOST_MEMORY_KB = 64 * 1024, 2 * 1024 * 1024
NODE_BYTES = 900
"""Of a vector's neighbours and bookkeeping while pgvector builds, beside the vector itself (m = 16)."""

CHANGED_SHARE, CHANGED_LEAST = 0.1, 1000
"""Rows that are new or dead since the last vacuum, as a share of the table and at least, before it is vacuumed."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """A row of ``chunk_scopes`` that has an index or may need one."""

    space_id: int
    state: SpaceState
    dimensions: int | None
    scope: UUID
    chunks: int
    index_name: str | None

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.space_id}_{'all' if self.scope == EVERYTHING else self.scope.hex}"


def keep_indexes(
    connection: Connection, *, scan_limit: int, building: int | None, sweep: Callable[[Connection], object]
) -> list[str]:
    """Names of what was built. ``connection`` commits by itself; ``building`` is a space that is to be active soon.

    ``sweep`` runs before tables of which much is new are vacuumed.
    """
    if not SQL.value(connection, "one_at_a_time"):
        return []
    try:
        if changed := SQL.values(connection, "changed", share=CHANGED_SHARE, least=CHANGED_LEAST):
            sweep(connection)
            for table in changed:  # codes can be read from their index alone only where a vacuum has been
                connection.execute(_ddl(connection, "vacuum_ddl", relation=table))
        scopes = SQL.rows(connection, "outgrown", _Scope, limit=scan_limit)
        wanted = {one.name: one for one in scopes if _wanted(one, scan_limit=scan_limit, building=building)}
        whole = _clear(connection, wanted)
        built: list[str] = []
        for name, one in wanted.items():
            if name not in whole:
                _build(connection, one)
                built.append(name)
            if name in built or one.index_name != name:
                SQL.run(connection, "name_index", index=name, space=one.space_id, scope=one.scope)
        return built
    finally:
        if not connection.closed:
            SQL.run(connection, "next_please")


def drop_indexes(connection: Connection, space_id: int) -> None:
    """All indexes of one space, beside readers and writers."""
    for name in SQL.values(connection, "indexes", prefix=f"{PREFIX}{space_id}_"):
        _drop(connection, name)


def _wanted(one: _Scope, *, scan_limit: int, building: int | None) -> bool:
    """A space that is being filled is indexed when it is full: each vector would be filed one by one else.

    A retired one keeps what it has. Half the limit is between building and dropping: no index comes and goes.
    """
    if one.dimensions is None:
        return False
    if one.state == "active" or one.space_id == building:
        return one.chunks > (scan_limit if one.index_name is None else scan_limit // 2)
    return one.index_name is not None and one.chunks > scan_limit // 2


def _clear(connection: Connection, wanted: dict[str, _Scope]) -> set[str]:
    """Drop what is broken, unknown or no longer needed; the names of what is whole and stays."""
    whole: set[str] = set()
    for index in SQL.rows(connection, "indexes", prefix=PREFIX):
        if index.is_whole and index.name in wanted:
            whole.add(index.name)
        else:
            _drop(connection, index.name)
    SQL.run(connection, "unname_lost", indexes=sorted(whole))
    return whole


def _drop(connection: Connection, name: str) -> None:
    SQL.run(connection, "unname_index", index=name)
    connection.execute(_ddl(connection, "drop_index_ddl", index=name))


def _build(connection: Connection, one: _Scope) -> None:
    assert one.dimensions is not None, "looked at before"
    given = {"index": one.name, "dimensions": one.dimensions, "ef": EF_CONSTRUCTION}
    ddl = _ddl(connection, "index_ddl", **given, space=one.space_id, scope=one.scope)
    needed = one.chunks * (NODE_BYTES + 2 * one.dimensions) * 5 // 4 // 1024
    with _memory(connection, min(max(needed, LEAST_MEMORY_KB), MOST_MEMORY_KB)):
        try:
            connection.execute(ddl)
        except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
            # what the workers share could not be had: without workers the build needs none of it
            _drop(connection, one.name)
            SQL.run(connection, "alone")
            connection.execute(ddl)


@contextmanager
def _memory(connection: Connection, kilobytes: int) -> Iterator[None]:
    """What one build may use, for this session only."""
    SQL.run(connection, "limit_memory", kilobytes=str(kilobytes))
    try:
        yield
    finally:
        if not connection.closed:
            SQL.run(connection, "reset_memory")
            SQL.run(connection, "reset_alone")


def _ddl(connection: Connection, name: str, **given: Any) -> bytes:
    return str(SQL.value(connection, name, **given)).encode()
