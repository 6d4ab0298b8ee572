"""Reads over a pool that does not check connections before use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, LiteralString, TypeVar, cast

import psycopg
from psycopg.rows import RowFactory, class_row, namedtuple_row, scalar_row, tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from pkg_pipeline.adapters.postgres.engine import STALE_PLANS
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.stages.reads.stores import StoreUnavailable

POOL_WAIT_SECONDS = 5.0

Row = TypeVar("Row")

_PARAMETER = re.compile(r"%%|%\((\w+)\)s")
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


class Reads:
    """Statements of one file, prepared once per connection. Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool, file: str) -> None:
        self._connections = connections
        self._file = file

    def rows(self, record: type[Row], name: str, /, **parameters: Any) -> list[Row]:
        """One ``record`` per row, fields by column name."""
        return self._read(name, parameters, class_row(record))

    def first(self, record: type[Row], name: str, /, **parameters: Any) -> Row | None:
        return next(iter(self.rows(record, name, **parameters)), None)

    def named(self, name: str, /, **parameters: Any) -> list[Any]:
        return self._read(name, parameters, namedtuple_row)

    def values(self, name: str, /, **parameters: Any) -> list[Any]:
        return self._read(name, parameters, scalar_row)

    def value(self, name: str, /, **parameters: Any) -> Any:
        """The only column of the first row, or None."""
        return next(iter(self.values(name, **parameters)), None)

    def known(self, name: str, /, *relations: str, **parameters: Any) -> Any:
        """As ``value``, of what the memory knew at the moment ``known`` (B11)."""
        text, names = numbered_text(as_known(query(self._file, name), *relations))
        found = read_rows(self._connections, text, [parameters[name] for name in names], row=scalar_row)
        return next(iter(found), None)

    def _read(self, name: str, parameters: dict[str, Any], row: Any) -> list[Any]:
        text, names = numbered(self._file, name)
        return read_rows(self._connections, text, [parameters[name] for name in names], row=row)


@cache
def numbered(file: str, name: str) -> tuple[LiteralString, tuple[str, ...]]:
    """A statement with $1, $2 … in place of its named parameters, and their names in that order. Cached: psycopg would
    parse it at every execution (0.5 ms).
    """
    return numbered_text(query(file, name))


def as_known(statement: str, *relations: str) -> str:
    """A read of what was known at a moment: the relations of ``known.sql`` stand before the tables' own (B11)."""
    return f"WITH {', '.join(relations)}\nSELECT * FROM (\n{statement}\n) AS answer"


def numbered_text(statement: str) -> tuple[LiteralString, tuple[str, ...]]:
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    text = _COMMENT.sub("", statement)
    return cast(LiteralString, _PARAMETER.sub(number, text)), tuple(names)


def read_rows(
    connections: ConnectionPool, text: LiteralString, given: Sequence[Any], *, row: RowFactory[Any] = tuple_row
) -> list[Any]:
    """Rows of a statement with numbered parameters; one retry on another connection, for those broken by a restart or
    with plans outdated by a migration. Raises StoreUnavailable.
    """
    try:
        return _rows(connections, text, given, row, keeps_plan=True)
    except (StoreUnavailable, *STALE_PLANS):
        connections.check()
        return _rows(connections, text, given, row, keeps_plan=False)


def _rows(
    connections: ConnectionPool, text: LiteralString, given: Sequence[Any], row: RowFactory[Any], *, keeps_plan: bool
) -> list[Any]:
    try:
        with (
            connections.connection(timeout=POOL_WAIT_SECONDS) as connection,
            psycopg.RawCursor(connection, row_factory=row) as cursor,
        ):
            return cursor.execute(text, given, prepare=keeps_plan).fetchall()
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable("the database does not answer") from error
