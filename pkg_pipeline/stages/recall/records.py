"""What passes between chunks, vectors and recall and their stores. A space is the vectors of one model (B4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.recall.chunking import ChunkedInteraction
from pkg_pipeline.memory.recall.records import EVERYTHING, Candidate, Chunk, ChunkSource, LexicalVector

SpaceState = Literal["building", "active", "retired"]

NO_SPACE = 0
"""The number under which is kept that an interaction's words are indexed, whatever the vectors."""


class SpaceMismatch(Exception):
    """Vectors of another size than those the space holds, or a space that is not complete; the message says which."""


@dataclass(frozen=True, slots=True)
class Space:
    """One row of ``embedding_spaces``. ``dimensions`` is None before the first vector of a service."""

    id: int
    model: str
    dimensions: int | None
    state: SpaceState


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One vector to save: float32 (dimensions,), of length 1 or zero. ``scopes`` without the scope of everything."""

    chunk_no: int
    scopes: tuple[UUID, ...]
    at: datetime
    index_hash: str
    embedding: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where the codes of a chunk are: needed to take them away."""

    chunk_no: int
    scopes: tuple[UUID, ...]


# ── chunks ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class DueInteraction:
    """An interaction whose chunks are not those of what it says now; ``messages`` are its live ones."""

    id: UUID
    day: date
    messages: int
    interaction: ChunkedInteraction
    input_hash: str
    """Of all that its chunks are made from."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk with the numbers and weights of the words it is found by."""

    chunk: Chunk
    lexical: LexicalVector


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """What became of a row: its number, the hash of its indexed words, and whether it said something else before."""

    no: int
    index_hash: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Built:
    """The state of one interaction after its chunks were made. ``chunks`` it has, ``refused`` by the embedder."""

    interaction_id: UUID
    input_hash: str
    chunks: int
    refused: int


# ── recall ───────────────────────────────────────────────────────────────────────────────────

CANDIDATES = 200
"""The most that the words bring, and the most that the vectors bring."""


@dataclass(frozen=True, slots=True)
class FactsQuery:
    """What is asked before the search. ``terms`` are the numbers of the question's words, ``names`` those by which
    somebody may be meant (``speaker_terms``). ``at_from`` and ``at_to`` are half-open; None is no bound.
    """

    terms: tuple[int, ...]
    names: tuple[int, ...] = ()
    entity_id: UUID | None = None
    chat_id: UUID | None = None
    at_from: datetime | None = None
    at_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """How many vectors a scope has in the active space. ``is_indexed``: it has an index of its own.

    ``in_range`` counts those of the asked time, up to a bound; None where no time was asked.
    """

    scope: UUID
    chunks: int
    is_indexed: bool
    in_range: int | None = None


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """What the store knows about a question.

    ``unknown`` says which scope does not exist; nothing else is to be relied on then. ``space`` is the active space,
    None where there are no vectors. ``scopes`` are those asked for (the entity, the chat, both, or everything).
    ``document_frequencies`` has no entry for a word that no chunk has; ``chunks`` is what they are a share of.
    ``meant`` are whom the question's names fit, in order of their ids, inside a scope only who takes part in it;
    ``names`` are the words that meant them.
    """

    unknown: Literal["entity", "chat"] | None
    space: Space | None
    scopes: tuple[ScopeFacts, ...]
    chunks: int
    document_frequencies: Mapping[int, int]
    meant: tuple[UUID, ...]
    names: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search. ``facts`` are those of the same scope and time; its space is the one that is searched.

    ``entity_id`` and ``chat_id`` narrow both; a session is a chat. ``at_from`` and ``at_to`` are half-open, ``as_of``
    hides what happened after it. ``topics``: at least one of them; ``sources``: one of them; empty: all.
    ``code`` and ``vector`` are the question's in the space of ``facts``: without them the search is by words alone.
    ``words`` are its terms with their inverse document frequencies; ``fetch_terms`` those of them that bring candidates
    (rare ones first: every chunk of the scope that has one is scored); none brings none.
    """

    facts: QuestionFacts
    as_of: datetime
    words: LexicalVector
    fetch_terms: tuple[int, ...]
    vector: NDArray[np.float32] | None = None
    code: bytes | None = None
    entity_id: UUID | None = None
    chat_id: UUID | None = None
    topics: tuple[str, ...] = ()
    sources: frozenset[ChunkSource] = frozenset()
    at_from: datetime | None = None
    at_to: datetime | None = None
    limit: int = CANDIDATES

    @property
    def scopes(self) -> tuple[UUID, ...]:
        """What every found chunk belongs to; only everything where nothing narrower was asked."""
        return tuple(scope for scope in (self.entity_id, self.chat_id) if scope is not None) or (EVERYTHING,)


class RecallStore(Protocol):
    def question_facts(self, query: FactsQuery) -> QuestionFacts:
        """What is known about a question before it has a vector, in one round trip."""
        ...

    def search(self, query: SearchQuery) -> list[Candidate]:
        """The best by words and the best by vectors, each with both scores, in one round trip; best similarity first.

        At most ``limit`` of either. What rests on a deleted message is left out. Text comes back from the archive too.
        """
        ...
