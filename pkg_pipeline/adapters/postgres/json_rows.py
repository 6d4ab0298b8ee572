"""Frozen records as JSON for ``jsonb`` columns, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

import orjson

Record = TypeVar("Record")

_PLAIN: dict[Any, Callable[[Any], Any]] = {
    UUID: lambda given: given if isinstance(given, UUID) else UUID(given),
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
}


def rows_of(records: Iterable[Any]) -> list[dict[str, Any]]:
    """One object per record; dates and ids as text, tuples as arrays."""
    return orjson.loads(orjson.dumps(list(records)))


def record_of(make: type[Record], row: Mapping[str, Any]) -> Record:
    """The record of ``rows_of``; missing fields take their default, unknown ones are ignored."""
    return make(**{name: read(row[name]) for name, read in _readers(make).items() if name in row})


@cache
def _readers(make: type[Any]) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(make)
    return {field.name: _reader(hints[field.name]) for field in fields(make)}


def _reader(hint: Any) -> Callable[[Any], Any]:
    if get_origin(hint) is tuple:
        one = _reader(get_args(hint)[0])
        return lambda values: tuple(map(one, values))
    if get_origin(hint) is UnionType:
        some = _reader(get_args(hint)[0])
        return lambda value: None if value is None else some(value)
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(record_of, hint)
    return _PLAIN.get(hint, lambda value: value)
