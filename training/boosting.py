"""Gradient-boosted trees by scikit-learn, as arrays that are read without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.offline.line_context import Floats, Trees

ROUNDS = 100
SEEDS = (0, 1, 2)
"""Which columns a node may ask for is drawn; the mean of three is steadier."""
LEAVES = 12
OPTIONS: dict[str, Any] = {
    "learning_rate": 0.08,
    "min_samples_leaf": 25,
    "l2_regularization": 5.0,
    "max_features": 0.3,
    "early_stopping": False,
}


def boosted(x: Floats, right: Floats, seeds: Sequence[int], rounds: int = ROUNDS, leaves: int = LEAVES) -> Trees:
    """The trees of each column of ``right`` (nan: not said), the first ``rounds`` of each seed."""
    found = [_of_one(x, column, seeds, rounds, leaves) for column in right.T]
    return Trees(**{name: np.stack([one[name] for one in found]) for name in found[0]})


def begun(trees: Trees, rounds: int) -> Trees:
    """The first trees of the first seed."""
    return replace(trees, **{one.name: getattr(trees, one.name)[:, :rounds] for one in fields(Trees)[:-1]})


def _of_one(x: Floats, right: Floats, seeds: Sequence[int], rounds: int, leaves: int) -> dict[str, NDArray[Any]]:
    from sklearn.ensemble import HistGradientBoostingClassifier  # only who fits needs it
    from threadpoolctl import threadpool_limits

    told = ~np.isnan(right)
    shape = rounds * len(seeds), 2 * leaves - 1
    small = x[told].astype(np.float32)
    with threadpool_limits(1):  # on busy cores its threads wait for each other a hundred times as long as they work
        fits = [
            _inside(
                HistGradientBoostingClassifier(
                    **OPTIONS, max_leaf_nodes=leaves, max_iter=rounds, random_state=seed
                ).fit(small, right[told])
            )
            for seed in seeds
        ]
    found: dict[str, NDArray[Any]] = {
        "column": np.full(shape, -1, dtype=np.int16),
        "most": np.zeros(shape, dtype=np.float32),
        "low": np.zeros(shape, dtype=np.uint8),
        "high": np.zeros(shape, dtype=np.uint8),
        "value": np.zeros(shape, dtype=np.float32),
        "start": np.array(fits[0]._baseline_prediction.item()),  # noqa: SLF001
    }
    for number, (tree,) in enumerate(one for fit in fits for one in fit._predictors):  # noqa: SLF001
        nodes = tree.nodes
        is_leaf = nodes["is_leaf"].astype(bool)
        here = number, slice(len(nodes))
        found["column"][here] = np.where(is_leaf, -1, nodes["feature_idx"])
        found["most"][here] = np.where(is_leaf, 0.0, nodes["num_threshold"])
        found["low"][here] = np.where(is_leaf, 0, nodes["left"])
        found["high"][here] = np.where(is_leaf, 0, nodes["right"])
        found["value"][here] = np.where(is_leaf, nodes["value"] / len(seeds), 0.0)
    return found


def _inside(fitted: object) -> Any:
    """Its trees have no public name; those who convert such models read them the same way."""
    return fitted
