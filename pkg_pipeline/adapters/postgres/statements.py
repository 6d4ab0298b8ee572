"""The named statements of one file, run on a connection or a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import fields
from typing import Any, LiteralString, TypeVar

from psycopg import Cursor
from psycopg.rows import RowFactory, namedtuple_row, scalar_row, tuple_row
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query

Row = TypeVar("Row")


def named(**columns: Any) -> Any:
    """Marker: rows as named tuples."""
    raise NotImplementedError(columns)


def record_row(make: Callable[..., Row]) -> RowFactory[Row]:
    """Rows as ``make`` called with their columns; arrays become tuples."""
    if make is named:
        return namedtuple_row  # pyright: ignore[reportReturnType]

    def rows_of(cursor: Any) -> Callable[[Sequence[Any]], Row]:
        names = [column.name for column in cursor.description or ()]
        return lambda values: make(
            **{name: tuple(one) if type(one) is list else one for name, one in zip(names, values, strict=True)}
        )

    return rows_of


class Statements:
    """Statements of ``FILE.sql``. On a pool each is its own transaction."""

    def __init__(self, file: str) -> None:
        self.file = file

    def text(self, name: str) -> LiteralString:
        return query(self.file, name)

    def execute(self, connection: Connection, name: str, given: dict[str, Any], row: Any = namedtuple_row) -> Any:
        """Returns the cursor. Tests kill workers here, by statement name."""
        return connection.cursor(row_factory=row).execute(self.text(name), given or None)

    def run(self, on: Connection | ConnectionPool, name: str, /, **given: Any) -> int:
        """Returns the row count."""
        return self._ask(on, name, given, tuple_row, lambda cursor: cursor.rowcount)

    def rows(
        self, on: Connection | ConnectionPool, name: str, make: Callable[..., Row] = named, /, **given: Any
    ) -> list[Row]:
        return self._ask(on, name, given, record_row(make), Cursor.fetchall)

    def one(
        self, on: Connection | ConnectionPool, name: str, make: Callable[..., Row] = named, /, **given: Any
    ) -> Row | None:
        return self._ask(on, name, given, record_row(make), Cursor.fetchone)

    def values(self, on: Connection | ConnectionPool, name: str, /, **given: Any) -> list[Any]:
        """The first column of every row."""
        return self._ask(on, name, given, scalar_row, Cursor.fetchall)

    def value(self, on: Connection | ConnectionPool, name: str, /, **given: Any) -> Any:
        """The first column of the first row, or None."""
        return self._ask(on, name, given, scalar_row, Cursor.fetchone)

    def _ask(
        self,
        on: Connection | ConnectionPool,
        name: str,
        given: dict[str, Any],
        row: Any,
        take: Callable[[Cursor[Any]], Any],
    ) -> Any:
        with on.connection() if isinstance(on, ConnectionPool) else nullcontext(on) as connection:
            return take(self.execute(connection, name, given, row))


def columns_of(records: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    """One list per field, for ``unnest``."""
    records = list(records)
    return {name: [getattr(record, name) for record in records] for name in names}


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass as parameters."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def part(make: type[Row], columns: dict[str, Any]) -> Row:
    """A record of the columns that are its fields, which are removed from ``columns``."""
    return make(**{field.name: columns.pop(field.name) for field in fields(make)})  # pyright: ignore[reportArgumentType]
