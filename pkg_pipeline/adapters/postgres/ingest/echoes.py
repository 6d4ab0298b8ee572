"""Keeps what was served as fingerprints, and marks what repeats it (B14). A read never fails with it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson
import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.message.echoes import fingerprints

if TYPE_CHECKING:  # the records of an import load arrays, which a read needs not
    from pkg_pipeline.stages.ingest.records import MessageRow, Own

log = logging.getLogger(__name__)
SQL = Statements("echoes")

MOST_PRINTS: Final = 200_000
"""Of what was served last: some 40,000 different lines in 16 MB."""


class PostgresServedLines:
    """Also a ``BatchSink``; ``lost`` counts what will not be recognised."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections
        self.lost = 0

    def keep(self, text: str) -> None:
        """Raises nothing: what is lost is only not recognised."""
        self.put_many([text])

    def put_many(self, receipts: Sequence[str]) -> None:
        try:
            with self._connections.connection() as connection:
                for text in receipts:
                    keep(connection, text)
        except (psycopg.Error, PoolTimeout) as error:
            self.lost += len(receipts)
            log.warning("a served block will not be recognised: %s", type(error).__name__)

    def served(self, prints: Iterable[int]) -> frozenset[int]:
        return served_in(self._connections, prints)


def served_in(connections: ConnectionPool, prints: Iterable[int]) -> frozenset[int]:
    """Those of these fingerprints that were served."""
    return frozenset(SQL.values(connections, "served", prints=list(prints)))


def keep(connection: Connection, text: str) -> None:
    prints = fingerprints(text)
    if prints:  # as text: a list is looked through number by number
        SQL.run(connection, "keep", prints=f"{{{','.join(map(str, prints))}}}", most=MOST_PRINTS)


def marks(rows: Sequence[MessageRow], own: Sequence[Own]) -> dict[str, Any] | None:
    """Parameters of the statement "mark", or None where no message repeats anything."""
    found: list[Mapping[str, Any]] = [
        {"chat": row.chat_id, "key": row.external_id, "hash": row.content_hash, "own": parts}
        for row, parts in zip(rows, own, strict=True)
        if parts is not None
    ]
    return {"echoes": orjson.dumps(found).decode()} if found else None


def mark(connection: Connection, rows: Sequence[MessageRow], own: Sequence[Own]) -> None:
    if (given := marks(rows, own)) is not None:
        SQL.run(connection, "mark", **given)
