"""The head of lines of meetings: its weights are in ``genres.npz``.

Fitted by ``make train`` on public labelled talks; docs/offline-heads.md says which and how well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Genre = Literal["line of a meeting"]
GENRES: Final[tuple[Genre, ...]] = ("line of a meeting",)
FURTHEST = 5.0
"""Log-odds beyond it say nothing more."""
DECIMALS = 2

Named = dict[str, float]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Head:
    """A weight for each feature by ``names``, behind one that is always added."""

    names: tuple[str, ...]
    weights: Floats

    def log_odds(self, rows: Sequence[Named]) -> Floats:
        return matrix(rows, self.names) @ self.weights


def matrix(rows: Sequence[Named], names: Sequence[str]) -> Floats:
    """Rows as numbers; the first column is 1."""
    return np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows]).reshape(-1, len(names) + 1)


@cache
def head(genre: Genre) -> Head:
    with files("pkg_pipeline.offline").joinpath("genres.npz").open("rb") as stream, np.load(stream) as found:
        return Head(tuple(found[f"{genre}: names"].tolist()), found[genre].astype(np.float64))


def probabilities(genre: Genre, rows: Sequence[Named]) -> Floats:
    """How probable each row is what the head looks for, 0 to 1."""
    log_odds = np.clip(head(genre).log_odds(rows), -FURTHEST, FURTHEST)
    return np.round(1 / (1 + np.exp(-log_odds)), DECIMALS)
