"""What recall weighs and what it gives: candidates, ranked candidates, the block. Data only: no rule, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory.context.records import ContextChat
from pkg_pipeline.memory.recall.chunk_records import ChunkSource

RecallMode = Literal["hybrid", "vector", "keyword"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chunk that the search brought, with both scores.

    ``lexical`` is BM25 (0 where no word is shared); ``similarity`` the cosine to the question, None where the chunk has
    no vector in the active space. ``message_ids`` are keys ``source:chat/message``. ``text`` is the passage itself.
    """

    no: int
    id: UUID
    source: ChunkSource
    chat: ContextChat
    at: datetime
    text: str
    message_ids: tuple[str, ...]
    lexical: float
    similarity: float | None
    interaction_id: UUID | None = None
    subject_id: UUID | None = None
    sender_entity_id: UUID | None = None
    speaker: str | None = None
    is_self: bool = False
    passage: int = 0
    passages: int = 1
    importance: float = 0.0
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place's reason. ``score`` is only comparable within one answer."""

    candidate: Candidate
    score: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class RecallLine:
    """One printed piece; ``text`` occurs in the block."""

    ranked: Ranked
    text: str
    is_shortened: bool = False


@dataclass(frozen=True, slots=True)
class RecallBlock:
    """The block for a model: text in order of time, ``lines`` best first. ``tokens`` is the count of ``text``."""

    text: str
    tokens: int
    lines: tuple[RecallLine, ...]
