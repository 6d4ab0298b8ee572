"""Cursors: where the next page of a list begins, as text that a client hands back unread.

A cursor holds the sort key of the last row shown, so that rows added meanwhile neither repeat nor vanish.
"""

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
    """One page in the shape of every list: ``next`` is the cursor of the page behind, None at the end."""

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
    """The first ``limit`` rows of ``found``, which has one more where there is a next page; ``key`` sorts the list."""
    shown = found[:limit]
    return Page(tuple(map(shape, shown)), cursor_of(*key(shown[-1])) if len(found) > limit else None)


def cursor_of(*key: str | datetime | UUID) -> str:
    """The sort key of a row as a cursor."""
    text = json.dumps([part.isoformat() if isinstance(part, datetime) else str(part) for part in key])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def name_position(cursor: str | None) -> tuple[str, UUID] | None:
    """The (name, id) of a cursor. Raises BadCursor."""
    if cursor is None:
        return None
    name, identity = _parts(cursor)
    return name, _uuid(identity)


def text_position(cursor: str | None) -> tuple[str, str] | None:
    """The two texts of a cursor. Raises BadCursor."""
    return None if cursor is None else _parts(cursor)


def time_position(cursor: str | None) -> tuple[datetime, UUID] | None:
    """The (time, id) of a cursor. Raises BadCursor."""
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
    """The (time or none, id) of a cursor: rows without a time come last. Raises BadCursor."""
    if cursor is not None and _parts(cursor)[0] == "":
        return None, _uuid(_parts(cursor)[1])
    return time_position(cursor)


def number_position(cursor: str | None) -> int | None:
    """The number of a cursor whose second part is the id of what is listed. Raises BadCursor."""
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
