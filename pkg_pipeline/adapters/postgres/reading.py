"""Reads over a pool whose connections are not looked at before use. What is asked is the business of each store."""

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
    """The statements of one file over a pool, each prepared once a connection. Raises ``StoreUnavailable``."""

    def __init__(self, connections: ConnectionPool, file: str) -> None:
        self._connections = connections
        self._file = file

    def rows(self, record: type[Row], name: str, /, **parameters: Any) -> list[Row]:
        """A record a row, its fields by the names of the columns."""
        return self._read(name, parameters, class_row(record))

    def first(self, record: type[Row], name: str, /, **parameters: Any) -> Row | None:
        """The first row, if there is one."""
        return next(iter(self.rows(record, name, **parameters)), None)

    def named(self, name: str, /, **parameters: Any) -> list[Any]:
        """A named tuple a row."""
        return self._read(name, parameters, namedtuple_row)

    def values(self, name: str, /, **parameters: Any) -> list[Any]:
        """The only column of each row."""
        return self._read(name, parameters, scalar_row)

    def value(self, name: str, /, **parameters: Any) -> Any:
        """The only column of the first row; None where there is none."""
        return next(iter(self.values(name, **parameters)), None)

    def _read(self, name: str, parameters: dict[str, Any], row: Any) -> list[Any]:
        text, names = numbered(self._file, name)
        return read_rows(self._connections, text, [parameters[name] for name in names], row=row)


@cache
def numbered(file: str, name: str) -> tuple[LiteralString, tuple[str, ...]]:
    """A statement with $1, $2 … for its named parameters, and their names in that order.

    Done once: psycopg would take a statement of this length apart again at every execution (0.5 ms).
    """
    return numbered_text(query(file, name))


def numbered_text(statement: str) -> tuple[LiteralString, tuple[str, ...]]:
    """The same for a statement that was put together from several."""
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
    """Rows of a statement with numbered parameters, each made by ``row``. Raises StoreUnavailable; tried twice.

    A restarted server leaves idle connections broken, and a change of the schema the plans that they keep: only using
    them tells.
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
