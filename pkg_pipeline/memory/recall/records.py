"""Records of recall: messages, chunks, candidates, the block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory.records import ContextChat

ChunkSource = Literal["message", "tool_result", "summary", "decision", "action_item", "fact", "session_fold"]

SPOKEN: frozenset[ChunkSource] = frozenset({"message", "tool_result"})

INDEX_VERSION = "1"
"""Version of what is indexed of a chunk; a change makes every vector outdated."""

CHUNKS_VERSION = "3"
"""Version of all rules of chunks; after a change every conversation is cut again, and what stays the same keeps its
vector.
"""

EVERYTHING = UUID(int=0)
"""The scope of every chunk."""


@dataclass(frozen=True, slots=True)
class ChunkedMessage:
    """One live message of an interaction, in order of ``(sent_at, id)``.

    ``speaker``: "" for nobody. ``entity_ids``: whom it belongs to (P34).
    """

    id: int
    external_id: str
    sender_entity_id: UUID | None
    speaker: str
    sent_at: datetime
    text: str
    importance: float
    is_tool_result: bool
    entity_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class DerivedText:
    """A summary, decision, action item, fact or fold of an interaction.

    ``message_ids``: its evidence, empty for a summary. ``at``: event time. ``found_by``: indexed, not printed.
    ``topics``: empty for those of its interaction.
    """

    source: ChunkSource
    subject_id: UUID
    at: datetime
    text: str
    message_ids: tuple[int, ...]
    entity_ids: tuple[UUID, ...]
    importance: float = 0.0
    topics: tuple[str, ...] = ()
    is_withheld: bool = False
    found_by: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A row of ``memory_chunks`` to be stored.

    ``own``: the printed words; ``around``: bounded context; ``indexed``: what the embedder reads; ``content``: stored
    for derived texts only; ``start_char``, ``end_char``: place in the message, None for all of it.
    """

    id: UUID
    source: ChunkSource
    chat_id: UUID
    interaction_id: UUID | None
    subject_id: UUID | None
    sender_entity_id: UUID | None
    at: datetime
    scopes: tuple[UUID, ...]
    message_ids: tuple[int, ...]
    start_char: int | None
    end_char: int | None
    passage: int
    passages: int
    importance: float
    is_withheld: bool
    topics: tuple[str, ...]
    content: str | None
    content_hash: str
    index_hash: str
    own: str
    around: str
    indexed: str


LexicalVector = Mapping[int, float]
"""Term number → BM25 weight without inverse document frequency."""


RecallMode = Literal["hybrid", "vector", "keyword"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chunk of a search.

    ``lexical``: BM25, 0 without shared words; ``similarity``: cosine, None without a vector in the active space.
    ``message_ids``: keys ``source:chat/message``. ``is_stale``: derived from a message that was edited since (P29).
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
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its rank's reason; ``score`` is only comparable within one answer.

    ``is_before``: a value that was said before the one that goes first.
    """

    candidate: Candidate
    score: float
    parts: tuple[tuple[str, float], ...]
    is_before: bool = False


@dataclass(frozen=True, slots=True)
class RecallLine:
    """One printed line; ``text`` occurs in the block."""

    ranked: Ranked
    text: str
    is_shortened: bool = False


@dataclass(frozen=True, slots=True)
class RecallBlock:
    """The text in order of time, ``lines`` best first; ``tokens`` is the count of ``text``."""

    text: str
    tokens: int
    lines: tuple[RecallLine, ...]
