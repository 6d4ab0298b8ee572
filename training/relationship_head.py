"""Fits the head over sentence vectors that tells who somebody is to me; a multinomial logistic with a normal prior."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.profile import relationship_vectors
from pkg_pipeline.memory.profile.relationship_vectors import TYPES, Floats
from training.labelled_people import Labelled

HEAD = Path(relationship_vectors.__file__).with_name("relationship.npz")
RIDGE = 1e-4
STEPS = 300
POWERS = 60


def fit_head(examples: Sequence[Labelled]) -> Floats:
    """Weights by place of the pooled vector and type: accelerated gradient steps.

    Every step's weights are a sum of the examples' vectors; a step changes how often each counts in it, and so needs
    their products alone. In single precision: the weights are kept in half.
    """
    x = np.array([one.vector for one in examples], dtype=np.float32)
    products = x @ x.T
    share = np.array([one.share for one in examples], dtype=np.float32)
    share /= share.sum()
    root = np.sqrt(share)
    wanted = np.eye(len(TYPES), dtype=np.float32)[[TYPES.index(one.type) for one in examples]]
    steepest = 0.5 * _largest(products * root * root[:, None]) + RIDGE
    now = ahead = np.zeros((len(examples), len(TYPES)), dtype=np.float32)
    pace = 1.0
    for _ in range(STEPS):
        slope = share[:, None] * (softmax(products @ ahead) - wanted) + RIDGE * ahead
        after, faster = ahead - slope / steepest, (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = after + (pace - 1) / faster * (after - now)
        now, pace = after, faster
    return (x.T @ now).astype(np.float64)


def _largest(products: NDArray[np.float32]) -> float:
    """A bound just above the largest eigenvalue, by powers: vectors of like texts leave no other near it."""
    towards, length = np.ones(len(products), dtype=np.float32), 1.0
    for _ in range(POWERS):
        towards = products @ towards
        length = float(np.linalg.norm(towards))
        towards /= length
    return 1.001 * length


def softmax(odds: NDArray[Any]) -> NDArray[Any]:
    powers: NDArray[Any] = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def write(weights: Floats) -> None:
    with HEAD.open("wb") as stream:
        np.savez_compressed(stream, weights=weights.astype(np.float16))
