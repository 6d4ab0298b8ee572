"""Erasing a chat out of every table (L8). It may be killed and called again.

First messages and all that was made of them in one transaction, then chunks, then the row of the chat and of people
whom nothing else mentions: while that row is there, an unfinished erasure can be found.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure


@dataclass(frozen=True, slots=True)
class Erased:
    """What the first step took away. ``people`` were in it, ``interactions`` may be any id that the chat ever
    had, ``stood`` of them were there.
    """

    people: tuple[UUID, ...]
    interactions: tuple[UUID, ...]
    messages: int
    stood: int
    summaries: int
    facts: int


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """Counts and no content. ``people`` are those whom nothing else mentioned."""

    messages: int = 0
    interactions: int = 0
    summaries: int = 0
    facts: int = 0
    chunks: int = 0
    people: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def erase_chat(store: PostgresErasure, chat_id: UUID) -> ErasureReport:
    """The chat and every trace of it; a chat that is not there is no error."""
    erased = store.content(chat_id)
    if erased is None:
        return ErasureReport(chunks=store.chunks(chat_id, ()))
    chunks = store.chunks(chat_id, erased.interactions)
    people = store.chat(chat_id, erased.people)
    return ErasureReport(erased.messages, erased.stood, erased.summaries, erased.facts, chunks, people)
