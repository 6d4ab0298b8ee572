"""What the chunks stage needs from storage, as Protocols it owns, and the records that pass between them.

Vectors and their spaces have their ports in ``vector_stores``. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from pkg_pipeline.memory.recall.chunk_records import Chunk, LexicalVector
from pkg_pipeline.memory.recall.chunking import ChunkedInteraction


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
