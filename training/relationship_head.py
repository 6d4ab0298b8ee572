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


def fit_heads(examples: Sequence[Labelled], told: NDArray[np.bool_]) -> list[Floats]:
    """Weights by place of the pooled vector and type, of each row of ``told`` (which examples count): accelerated
    gradient steps.

    Every step's weights are a sum of the examples' vectors; a step changes how often each counts in it, and so needs
    their products alone, which are read once for all heads. In single precision: the weights are kept in half.
    """
    x = np.array([one.vector for one in examples], dtype=np.float32)
    products = x @ x.T
    share = told.T * np.array([one.share for one in examples], dtype=np.float32)[:, None]
    share /= share.sum(axis=0)
    wanted = np.eye(len(TYPES), dtype=np.float32)[[TYPES.index(one.type) for one in examples]][:, None]
    steepest = 0.5 * _largest(products, np.sqrt(share))[:, None] + np.float32(RIDGE)
    weight = share[:, :, None]
    shape = len(examples), len(told), len(TYPES)
    now = ahead = np.zeros(shape, dtype=np.float32)
    pace = 1.0
    for _ in range(STEPS):
        odds = (products @ ahead.reshape(len(examples), -1)).reshape(shape)
        slope = weight * (softmax(odds) - wanted) + np.float32(RIDGE) * ahead
        after, faster = ahead - slope / steepest, (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = after + np.float32((pace - 1) / faster) * (after - now)
        now, pace = after, faster
    return [(x.T @ now[:, place]).astype(np.float64) for place in range(len(told))]


def _largest(products: NDArray[np.float32], root: NDArray[np.float32]) -> NDArray[np.float32]:
    """A bound just above the largest eigenvalue, by powers, of the products by each column of ``root``: vectors of like
    texts leave no other near it.
    """
    towards = np.ones_like(root)
    length = np.ones(root.shape[1], dtype=np.float32)
    for _ in range(POWERS):
        towards = root * (products @ (root * towards))
        length = np.linalg.norm(towards, axis=0)
        towards /= length
    return np.float32(1.001) * length


def softmax(odds: NDArray[Any]) -> NDArray[Any]:
    powers: NDArray[Any] = np.exp(odds - odds.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def write(weights: Floats) -> None:
    with HEAD.open("wb") as stream:
        np.savez_compressed(stream, weights=weights.astype(np.float16))
