"""Partial HNSW indexes of big scopes, and VACUUM after big loads. An index is named in ``chunk_scopes`` only while it
is valid.
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
"""Codes of a scope; above it has an index."""

PREFIX = "chunk_vectors_"
EF_CONSTRUCTION = 100
LEAST_MEMORY_KB, MOST_MEMORY_KB = 64 * 1024, 2 * 1024 * 1024
NODE_BYTES = 900
"""Bytes per vector besides the vector itself while pgvector builds an index (m = 16)."""

CHANGED_SHARE, CHANGED_LEAST = 0.1, 1000
"""Rows changed since the last vacuum, as a share of the table and at least, before it is vacuumed."""

LOOSE = 1.3
"""So many times its least size an index is built anew."""


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
    """Build missing and drop needless indexes; returns the names of those built. ``connection`` is in autocommit;
    ``building`` is a space soon to be active; ``sweep`` runs before the vacuum.
    """
    if not SQL.value(connection, "one_at_a_time"):
        return []
    try:
        if changed := SQL.values(connection, "changed", share=CHANGED_SHARE, least=CHANGED_LEAST):
            sweep(connection)
            for table in changed:  # index-only scans need a vacuum
                connection.execute(_ddl(connection, "vacuum_ddl", relation=table))
            _tighten(connection)
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


def _tighten(connection: Connection) -> None:
    """Build the codes' index anew, beside readers and writers, where much of it is empty."""
    for name in SQL.values(connection, "half_built"):
        connection.execute(_ddl(connection, "drop_index_ddl", index=name))
    if SQL.value(connection, "is_loose", times=LOOSE, least=CHANGED_LEAST):
        SQL.run(connection, "rebuild")


def drop_indexes(connection: Connection, space_id: int) -> None:
    for name in SQL.values(connection, "indexes", prefix=f"{PREFIX}{space_id}_"):
        _drop(connection, name)


def _wanted(one: _Scope, *, scan_limit: int, building: int | None) -> bool:
    """A space that is being filled gets its indexes when it is full. Between half the limit and the limit an index
    stays but none is built.
    """
    if one.dimensions is None:
        return False
    if one.state == "active" or one.space_id == building:
        return one.chunks > (scan_limit if one.index_name is None else scan_limit // 2)
    return one.index_name is not None and one.chunks > scan_limit // 2


def _clear(connection: Connection, wanted: dict[str, _Scope]) -> set[str]:
    """Drop invalid, unknown and needless indexes; returns the names of the others."""
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
            # no shared memory for parallel workers: build without them
            _drop(connection, one.name)
            SQL.run(connection, "alone")
            connection.execute(ddl)


@contextmanager
def _memory(connection: Connection, kilobytes: int) -> Iterator[None]:
    """maintenance_work_mem of one build, for this session."""
    SQL.run(connection, "limit_memory", kilobytes=str(kilobytes))
    try:
        yield
    finally:
        if not connection.closed:
            SQL.run(connection, "reset_memory")
            SQL.run(connection, "reset_alone")


def _ddl(connection: Connection, name: str, **given: Any) -> bytes:
    return str(SQL.value(connection, name, **given)).encode()
