"""What several routes take, read in one way. Raises BadRequest with the parameter at fault; asks nothing of a store."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import Query

from pkg_pipeline.memory.hashing import chat_id_of, parse_chat_key
from pkg_pipeline.memory.moments import parse_moment
from pkg_pipeline.stages.read_stores import BadRequest

MOST_TOKENS = 1_000_000
MaxTokens = Annotated[int | None, Query(ge=1, le=MOST_TOKENS, description="Largest size of `text`")]


def as_of_moment(text: str | None, zone: ZoneInfo) -> datetime | None:
    """An ISO time, or a day, which means its end."""
    try:
        return None if text is None else parse_moment(text, zone)
    except ValueError as error:
        raise BadRequest("as_of", str(error)) from None


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
