"""Records between chunks, vectors, recall and their stores. A space holds the vectors of one model (B4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.recall.chunking import ChunkedInteraction
from pkg_pipeline.memory.recall.records import EVERYTHING, Candidate, Chunk, ChunkSource, LexicalVector

SpaceState = Literal["building", "active", "retired"]

NO_SPACE = 0
"""Space id of the state "terms are indexed", whatever the vectors."""

CONTEXT_MESSAGES = 12
"""Read before what is new in an interaction: enough to hold four with words, two to be indexed anew and two around."""


class SpaceMismatch(Exception):
    """Vectors of another size than the space's, or an incomplete space."""


@dataclass(frozen=True, slots=True)
class Space:
    """A row of ``embedding_spaces``; ``dimensions`` None before the first vector of a service."""

    id: int
    model: str
    dimensions: int | None
    state: SpaceState


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector to save: float32 (dimensions,), of length 1 or zero. ``scopes`` without EVERYTHING."""

    chunk_no: int
    scopes: tuple[UUID, ...]
    at: datetime
    index_hash: str
    embedding: NDArray[np.float32]


# ── chunks ───────────────────────────────────────────────────────────────────────────────────


class InputHash(NamedTuple):
    """Of all that the chunks of an interaction are made from. ``said`` and ``belongings`` are XORs of the hashes of its
    ``messages`` and of whom they belong to, ``people`` of who took part; ``rest`` is of all else.
    """

    version: str
    messages: int
    said: int
    belongings: int
    ended: str
    people: str
    rest: str

    @classmethod
    def read(cls, text: str | None) -> InputHash | None:
        parts = (text or "").split(":")
        if len(parts) != len(cls._fields):
            return None
        version, messages, said, belongings, *others = parts
        return cls(version, int(messages), int(said), int(belongings), *others)

    def __str__(self) -> str:
        return ":".join(map(str, self))

    def longer(self, added: InputHash, belongings: int) -> InputHash | None:
        """With messages ``added`` behind, what belongs to whom by them, and who takes part now. None: more changed."""
        if (self.version, self.rest) != (added.version, added.rest):
            return None
        return added._replace(
            messages=self.messages + added.messages,
            said=self.said ^ added.said,
            belongings=self.belongings ^ belongings,
        )


@dataclass(frozen=True, slots=True)
class GoesOn:
    """An interaction whose chunks stand but for what was said after ``after``: so many ``chunks``. Read from
    ``read_from`` on. ``is_joined``: others take part now.
    """

    after: datetime
    read_from: datetime
    chunks: int
    is_joined: bool


@dataclass(frozen=True, slots=True)
class DueInteraction:
    """An interaction with outdated chunks; ``messages`` counts live ones."""

    id: UUID
    day: date
    messages: int
    interaction: ChunkedInteraction
    input_hash: str
    """Of all input of its chunks."""
    goes_on: GoesOn | None = None


@dataclass(frozen=True, slots=True)
class ChunkRow:
    chunk: Chunk
    lexical: LexicalVector


@dataclass(frozen=True, slots=True)
class KeptChunk:
    """A saved chunk: its number, the hash of its indexed text, and whether that changed."""

    no: int
    index_hash: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Built:
    """An interaction after its chunks were built."""

    interaction_id: UUID
    input_hash: str
    chunks: int
    refused: int


# ── recall ───────────────────────────────────────────────────────────────────────────────────

CANDIDATES = 200
"""Limit of the candidates by terms, and of those by vectors."""


@dataclass(frozen=True, slots=True)
class FactsQuery:
    """First query of a question. ``terms`` and ``names`` are term numbers, the latter to find the people it means
    (``speaker_terms``). ``at_from``/``at_to`` are half-open, None is unbounded.
    """

    terms: tuple[int, ...]
    names: tuple[int, ...] = ()
    entity_id: UUID | None = None
    chat_id: UUID | None = None
    at_from: datetime | None = None
    at_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """``chunks``: vectors in the active space; ``in_range``: those in the requested time (up to a limit)."""

    scope: UUID
    chunks: int
    is_indexed: bool
    in_range: int | None = None


@dataclass(frozen=True, slots=True)
class QuestionFacts:
    """What the store knows about a question.

    ``unknown``: the requested scope does not exist, and the rest is meaningless. ``space``: the active one, None
    without vectors. ``scopes``: the requested ones (entity, chat, both, or everything). ``document_frequencies`` out of
    ``chunks``; terms in no chunk are missing. ``meant``: ids of people named in the question, sorted, within a scope
    only its participants; ``names``: the terms that named them.
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
    """One search, in the scope, time and space of ``facts``.

    Filters: ``entity_id`` and ``chat_id`` both apply; ``at_from``/``at_to`` half-open; nothing after ``as_of``; any of
    ``topics``; any of ``sources``. Without ``code`` and ``vector`` the search is by terms only. ``words``: term →
    inverse document frequency; ``fetch_terms``: those that bring candidates (rare ones first), none: no candidates by
    terms. ``is_past``: what rests on a message edited after ``as_of`` is left out (P9). ``known_as_of``: so is
    what the memory learnt later (B11).
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
    is_past: bool = False
    known_as_of: datetime | None = None

    @property
    def scopes(self) -> tuple[UUID, ...]:
        """The scopes each result belongs to."""
        return tuple(scope for scope in (self.entity_id, self.chat_id) if scope is not None) or (EVERYTHING,)


class RecallStore(Protocol):
    def question_facts(self, query: FactsQuery) -> QuestionFacts:
        """Facts needed before the question is embedded, in one round trip."""
        ...

    def search(self, query: SearchQuery) -> list[Candidate]:
        """The best ``limit`` by terms and by vectors with both scores, most similar first, in one round trip.

        Results based on deleted messages are left out; archived texts are included.
        """
        ...
