"""What chunks, re-embedding and recall need of the vectors, as Protocols they own. Nothing here does I/O.

A space is the vectors of one model (B4). One space is active: recall asks it and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
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
