"""The head of endings: whether a line of a chat tells that something promised was done, whatever it is, from the
vectors of the line and of the other's line before it (B16).

It knows praise, thanks and receipts that no table lists; which promise is meant, ``evidence`` weighs. Its weights are
in ``endings.npz``, fitted by ``make train``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from pkg_pipeline.offline.line_head import DIMENSIONS, Embed, Floats, as_used, vectors_around
from pkg_pipeline.offline.reading import Reading

VECTORS: Final = 2
"""Of the line, and of the other speaker's line before it."""


def matrix(reading: Reading, embed: Embed) -> Floats:
    """Lines by a constant and two vectors."""
    vectors = vectors_around(reading, embed)[:, : VECTORS * DIMENSIONS]
    return np.hstack([np.ones((len(vectors), 1)), vectors])


@cache
def weights() -> Floats:
    with files("pkg_pipeline.offline").joinpath("endings.npz").open("rb") as stream, np.load(stream) as found:
        return found["weights"].astype(np.float64)


def endings(log_odds: Floats) -> tuple[float, ...]:
    """What the head says of each line, as it is used."""
    return tuple(map(float, as_used(log_odds)))


def judged(reading: Reading, embed: Embed) -> Reading:
    """The reading with the log-odds that each line tells of something done."""
    return replace(reading, endings=endings(matrix(reading, embed) @ weights()))
