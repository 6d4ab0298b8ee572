"""Fits the head over sentence vectors that tells who somebody is to me; a multinomial logistic with a normal prior."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.profile import relationship_vectors
from pkg_pipeline.memory.profile.relationship_vectors import TYPES, Floats
from training.labelled_people import Labelled

HEAD = Path(relationship_vectors.__file__).with_name("relationship.npz")
RIDGE = 1e-4
STEPS = 300
SMALLEST = 1e-9
"""Directions of a smaller share of the largest are none."""


def fit_head(examples: Sequence[Labelled]) -> Floats:
    """Weights by place of the pooled vector and type: accelerated gradient steps in the space of the examples."""
    x = np.array([one.vector for one in examples])
    squares, left = np.linalg.eigh(x @ x.T)
    kept = squares > squares[-1] * SMALLEST
    back = x.T @ (left[:, kept] / np.sqrt(squares[kept]))
    x = left[:, kept] * np.sqrt(squares[kept])
    share = np.array([one.share for one in examples])
    share /= share.sum()
    wanted = np.eye(len(TYPES))[[TYPES.index(one.type) for one in examples]]
    steepest = 0.5 * float(np.linalg.norm(x * np.sqrt(share)[:, None], 2)) ** 2 + RIDGE
    now = ahead = np.zeros((x.shape[1], len(TYPES)))
    pace = 1.0
    for _ in range(STEPS):
        slope = x.T @ (share[:, None] * (softmax(x @ ahead) - wanted)) + RIDGE * ahead
        after, faster = ahead - slope / steepest, (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = after + (pace - 1) / faster * (after - now)
        now, pace = after, faster
    return back @ now


def softmax(odds: Floats) -> Floats:
    powers: NDArray[np.float64] = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def write(weights: Floats) -> None:
    with HEAD.open("wb") as stream:
        np.savez_compressed(stream, weights=weights.astype(np.float16))
