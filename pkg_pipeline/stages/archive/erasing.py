"""Erases a chat from every table (L8); safe to repeat after a kill.

Messages and everything made from them go in one transaction, then chunks, then the chat's row and people mentioned
nowhere else: while that row exists, an unfinished erasure can be found.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure


@dataclass(frozen=True, slots=True)
class Erased:
    """Result of the first step. ``interactions``: every id the chat may have had; ``stood`` of them existed."""

    people: tuple[UUID, ...]
    interactions: tuple[UUID, ...]
    messages: int
    stood: int
    summaries: int
    facts: int


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """Counts only. ``people`` were mentioned nowhere else."""

    messages: int = 0
    interactions: int = 0
    summaries: int = 0
    facts: int = 0
    chunks: int = 0
    people: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def erase_chat(store: PostgresErasure, chat_id: UUID) -> ErasureReport:
    """Erase the chat and everything made from it; an unknown chat is no error."""
    erased = store.content(chat_id)
    if erased is None:
        return ErasureReport(chunks=store.chunks(chat_id, ()))
    chunks = store.chunks(chat_id, erased.interactions)
    people = store.chat(chat_id, erased.people)
    return ErasureReport(erased.messages, erased.stood, erased.summaries, erased.facts, chunks, people)
