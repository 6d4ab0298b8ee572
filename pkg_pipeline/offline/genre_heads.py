"""Heads for talks that are no chats, meetings and letters: their weights are in ``genres.npz``.

Fitted by ``make train`` on public labelled talks; docs/offline-heads.md says which and how well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Literal

import numpy as np

from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.line_head import Floats, Heads
from pkg_pipeline.stages.ports import Vectors

Genre = Literal["line of a meeting", "request of a letter"]
GENRES: Final[tuple[Genre, ...]] = ("line of a meeting", "request of a letter")
FURTHEST = 5.0
"""Log-odds beyond it say nothing more."""
DECIMALS = 2
"""The vectors vary in their last bits between machines, the probabilities do not."""


@cache
def head(genre: Genre) -> Heads:
    with files("pkg_pipeline.offline").joinpath("genres.npz").open("rb") as stream, np.load(stream) as found:
        return Heads(tuple(found[f"{genre}: names"].tolist()), found[genre].astype(np.float64))


def probabilities(genre: Genre, rows: Sequence[Named], vectors: Vectors | None = None) -> Floats:
    """How probable each row is what the head looks for, 0 to 1; ``vectors``: one a row, for a head that weighs them."""
    beside = np.zeros((len(rows), 0)) if vectors is None else vectors.astype(np.float64)
    log_odds = np.clip(head(genre).log_odds(rows, beside)[:, 0], -FURTHEST, FURTHEST)
    return np.round(1 / (1 + np.exp(-log_odds)), DECIMALS)
