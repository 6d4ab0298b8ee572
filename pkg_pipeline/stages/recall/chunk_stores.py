"""What the chunks stage needs from storage, as Protocols it owns, and the records that pass between them.

Vectors and their spaces have their ports in ``vector_stores``. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Protocol
from uuid import UUID

from pkg_pipeline.memory.recall.chunk_records import Chunk, ChunkedMessage, DerivedText, LexicalVector
from pkg_pipeline.memory.recall.chunking import ChunkedInteraction
from pkg_pipeline.stages.recall.vector_stores import ChunkPlace


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


class HeldInteractions(Protocol):
    """Some interactions that nobody else makes chunks of meanwhile."""

    @property
    def ids(self) -> Sequence[UUID]:
        """Those of the wanted ones that nobody else holds, in their order."""
        ...

    def outdated(self, space_id: int) -> list[DueInteraction]:
        """Those that need work still, in the order of ``ids``; from here on they have a state, if an unfinished one."""
        ...

    def messages(self, interactions: Sequence[UUID]) -> Iterator[tuple[UUID, ChunkedMessage]]:
        """Live messages with their text, interaction by interaction as given, each in its order of speech.

        A single interaction is read page by page, several at once.
        """
        ...

    def derived(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[DerivedText]]:
        """The live summary, its decisions and action items, the confirmed facts, and the folds that end in each."""
        ...

    def speakers(self, interactions: Sequence[UUID]) -> Mapping[UUID, Mapping[UUID, str]]:
        """For each the names of those who wrote in it or take part."""
        ...

    def key_points(self, interactions: Sequence[UUID]) -> Mapping[UUID, Sequence[str]]:
        """Those of the live summary, where there is one."""
        ...

    def save(self, rows: Sequence[ChunkRow]) -> list[KeptChunk]:
        """Upsert rows, and the frequencies of their terms, in one transaction; what became of each, in their order."""
        ...

    def stale(self, interactions: Sequence[UUID], limit: int) -> list[ChunkPlace]:
        """Chunks of these that were not saved since they are held; at most ``limit``."""
        ...

    def delete(self, places: Sequence[ChunkPlace]) -> None:
        """Take chunks away with their vectors and the frequencies of their terms, in one transaction."""
        ...

    def name_speakers(self, terms: Mapping[UUID, Sequence[int]]) -> None:
        """By which terms each of these entities is meant from now on."""
        ...

    def finish(self, built: Sequence[Built], *, spaces: Sequence[int]) -> None:
        """Write down from what the chunks were made, for the words and for each space that is complete."""
        ...

    def forget(self, interactions: Sequence[UUID]) -> None:
        """These have no chunks any more: their states go."""
        ...


class ChunkStore(Protocol):
    """Which interactions need chunks, and the holding of them."""

    def due(self, days: tuple[date, date], *, space_id: int) -> list[DueInteraction]:
        """Interactions of the closed range of days whose chunks are outdated for the words or the space, by day.

        Active ones too; mass chats have none (P34).
        """
        ...

    def unwanted(self) -> list[UUID]:
        """Interactions that have chunks and are gone, or lie in a chat that became mass."""
        ...

    def hold(self, interactions: Sequence[UUID]) -> AbstractContextManager[HeldInteractions]:
        """Holds what is free until the end of the context; a process that dies lets go."""
        ...

    def look_again(self, index: str) -> bool:
        """Mark all days if what they were indexed by last (rules and space) was not ``index``; whether it did."""
        ...
