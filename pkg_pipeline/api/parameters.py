"""Parameters shared by routes. Raises BadRequest naming the parameter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator

from pkg_pipeline.memory.hashing import chat_id_of, parse_chat_key
from pkg_pipeline.memory.text.timestamps import parse_moment
from pkg_pipeline.settings import nearest
from pkg_pipeline.stages.reads.stores import BadRequest

_SHOWN = 100
MOST_TOKENS = 1_000_000
MaxTokens = Annotated[int | None, Query(ge=1, le=MOST_TOKENS, description="Largest size of `text`")]


def _day(given: object) -> object:
    """Otherwise 20250101 would be read as seconds since 1970."""
    if isinstance(given, date) or (isinstance(given, str) and _DAY.fullmatch(given)):
        return given
    raise ValueError("a day is YYYY-MM-DD")


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
Day = Annotated[date, BeforeValidator(_day)]


async def known_parameters(request: Request) -> None:
    """Dependency of every route: raises RequestValidationError with all unknown or repeated parameters."""
    taken = {one.alias: one for one in _query_parameters(request.scope["route"].dependant)}
    wrong: list[dict[str, Any]] = []
    for name, times in Counter(key for key, _ in request.query_params.multi_items()).items():
        if name not in taken:
            wrong.append(_said(name, f"this route has no parameter {name[:_SHOWN]!r}{nearest(name, taken)}"))
        elif times > 1 and not _is_list(taken[name]):
            wrong.append(_said(name, f"{name} is given {times} times"))
    if wrong:
        raise RequestValidationError(wrong)


def _query_parameters(dependant: Any) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)


def _is_list(field: Any) -> bool:
    return "list" in str(field.field_info.annotation)


def _said(name: str, message: str) -> dict[str, Any]:
    return {"type": "unknown_parameter", "loc": ("query", name[:_SHOWN]), "msg": message, "input": None}


KnownAsOf = Annotated[
    str | None, Query(max_length=40, description="By what the memory knew then; written like `as_of`, by default now")
]


def as_of_moment(text: str | None, zone: ZoneInfo, now: datetime, name: str = "as_of") -> datetime | None:
    """An ISO time, or a day, which means its end."""
    try:
        return None if text is None else parse_moment(text, zone, now=now)
    except ValueError as error:
        raise BadRequest(name, str(error)) from None


def chat_of_key(key: str) -> tuple[str, str]:
    """``(source, external id)`` of ``source:external-id``."""
    try:
        return parse_chat_key(key.replace("\0", ""))
    except ValueError:
        raise BadRequest("chat", "chat must be source:external-id") from None


def chat_named(given: str | None, field: str) -> UUID | None:
    """A chat by its id or its key."""
    try:
        return None if given is None else chat_id_of(given.replace("\0", ""))
    except ValueError:
        raise BadRequest(field, f"{field} must be an id or source:external-id") from None
