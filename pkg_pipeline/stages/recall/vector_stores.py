"""What chunks, re-embedding and recall need of the vectors, as Protocols they own. Nothing here does I/O.

A space is the vectors of one model (B4). One space is active: recall asks it and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

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


class SpaceStore(Protocol):
    def active(self) -> Space | None: ...

    def spaces(self) -> list[Space]: ...

    def open(self, model: str) -> Space:
        """The space of a model; a new one is ``active`` where none is yet, else ``building``."""
        ...

    def activate(self, space_id: int) -> None:
        """Switch: what was active is retired. Raises SpaceMismatch while an interaction lacks the space's vectors."""
        ...

    def drop(self, space_id: int) -> int:
        """Take a space that is not active away with vectors, codes and indexes; returns how many vectors it had."""
        ...


class VectorStore(Protocol):
    def missing(self, space_id: int, chunks: Sequence[tuple[int, str]]) -> set[int]:
        """Of ``(chunk_no, index_hash)`` those without a vector made from exactly these words."""
        ...

    def save(self, space_id: int, rows: Sequence[VectorRow]) -> int:
        """Upsert vectors, codes and sizes in one transaction; a chunk that is gone by now is passed over.

        Returns how many were saved. Raises SpaceMismatch for another number of dimensions than the space's.
        """
        ...

    def delete(self, chunks: Sequence[ChunkPlace]) -> None:
        """Take the codes and vectors of these chunks away in every space."""
        ...

    def keep_indexes(self, space_id: int | None = None) -> list[str]:
        """Index every scope that has outgrown scanning; the names of what was built now. Not inside a transaction.

        Of the active space, and of ``space_id``: one that is complete and will be active next.
        """
        ...
