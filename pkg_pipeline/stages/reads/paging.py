"""Keyset pagination: opaque cursors with the sort key of the last row shown."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

Row = TypeVar("Row")

MOST_ROWS = 200
DEFAULT_ROWS = 50
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # no text of the database holds these
_YEARS = (2, 9998)  # a zone's offset must not push a time out of the calendar

_DIGITS = 18  # of a bigint


class BadCursor(ValueError):
    """Not a cursor of this list."""

    def __init__(self) -> None:
        super().__init__("the cursor is not one of this list; begin again without it")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of any list; ``next``: cursor of the next page, None at the end."""

    items: tuple[dict[str, Any], ...]
    next: str | None

    def to_json(self) -> dict[str, Any]:
        return {"items": list(self.items), "next": self.next}


def page_of(
    found: Sequence[Row],
    limit: int,
    shape: Callable[[Row], dict[str, Any]],
    *,
    key: Callable[[Row], tuple[str | datetime | UUID, ...]],
) -> Page:
    """The first ``limit`` rows; ``found`` has one more if there is a next page. ``key``: sort key of a row."""
    shown = found[:limit]
    return Page(tuple(map(shape, shown)), cursor_of(*key(shown[-1])) if len(found) > limit else None)


def cursor_of(*key: str | datetime | UUID) -> str:
    text = json.dumps([part.isoformat() if isinstance(part, datetime) else str(part) for part in key])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def name_position(cursor: str | None) -> tuple[str, UUID] | None:
    """(name, id). Raises BadCursor."""
    if cursor is None:
        return None
    name, identity = _parts(cursor)
    return name, _uuid(identity)


def text_position(cursor: str | None) -> tuple[str, str] | None:
    """Two texts. Raises BadCursor."""
    return None if cursor is None else _parts(cursor)


def time_position(cursor: str | None) -> tuple[datetime, UUID] | None:
    """(time, id). Raises BadCursor."""
    if cursor is None:
        return None
    moment, identity = _parts(cursor)
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        raise BadCursor from None
    if at.tzinfo is None or not _YEARS[0] <= at.year <= _YEARS[1]:
        raise BadCursor
    return at, _uuid(identity)


def activity_position(cursor: str | None) -> tuple[datetime | None, UUID] | None:
    """(time or None, id); rows without a time come last. Raises BadCursor."""
    if cursor is not None and _parts(cursor)[0] == "":
        return None, _uuid(_parts(cursor)[1])
    return time_position(cursor)


def number_position(cursor: str | None) -> int | None:
    """The row number of a cursor; its second part is the list's id. Raises BadCursor."""
    if cursor is None:
        return None
    number, identity = _parts(cursor)
    _uuid(identity)
    if not number.isdecimal() or len(number) > _DIGITS:
        raise BadCursor
    return int(number)


def _parts(cursor: str) -> tuple[str, str]:
    try:
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):  # JSON and Unicode errors are ValueErrors
        raise BadCursor from None
    match found:
        case [str(first), str(second)] if not _UNSTORABLE.search(first + second):
            return first, second
        case _:
            raise BadCursor


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadCursor from None
