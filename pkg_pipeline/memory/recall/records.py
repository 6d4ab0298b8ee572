"""What recall weighs and what it gives: candidates, ranked candidates, the block. Data only: no rule, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory.records import ContextChat

ChunkSource = Literal["message", "tool_result", "summary", "decision", "action_item", "fact", "session_fold"]

INDEX_VERSION = "1"
"""Of the rules that turn words into what is indexed. Another one makes every chunk outdated."""

EVERYTHING = UUID(int=0)
"""The scope that every chunk belongs to."""


@dataclass(frozen=True, slots=True)
class ChunkedMessage:
    """One live message of an interaction as the rules of chunking need it, in order of ``(sent_at, id)``.

    ``speaker`` is a name to print before the words, ``""`` for nobody. ``entity_ids`` are those it belongs to (P34).
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
    """A summary, decision, action item, fact or fold of an interaction, in its own words.

    ``message_ids`` are what it rests on; empty for a summary, whose row names them. ``at`` is event time. ``found_by``
    are further words by which it is found and which are not printed: a summary's key points. ``topics`` are its own;
    without any it has those of its interaction.
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
    """One row of ``memory_chunks`` before it has a number.

    ``own`` are the words it stands for and is printed with, ``around`` a bounded piece of what stands before and
    behind, ``indexed`` what an embedder reads (speakers, before, own, behind). ``content`` is stored for derived texts
    only. ``start_char`` and ``end_char`` are the passage within the message, None for all of it.
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
"""Term number → BM25 weight of the term in this text; the question's side brings the inverse document frequency."""


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
