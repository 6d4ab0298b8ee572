"""Logistic regression by damped Newton's method, the same at every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEPS = 60
CURVED, CURVED_NEAR = 5, 1
"""Steps with a curvature of their own, from afar and from near; those after them take the last one's."""
LONGEST = 3.0
"""A longer step of any weight is shortened."""
EPSILON = 1e-4


def chance(log_odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


def newton(x: Floats, y: Floats, start: Floats, precision: Floats, near: Floats | None = None) -> Floats:
    """The weights of highest posterior under a normal prior around ``start``; ``precision``: of it, by column.
    ``near``: weights that cannot be far, from which fewer steps lead there.
    """
    w = (start if near is None else near).copy()
    curved_steps = CURVED if near is None else CURVED_NEAR
    small = x.astype(np.float32)
    inverse = np.diag(1 / precision)
    for number in range(STEPS):
        p = chance(x @ w)
        gradient = x.T @ (p - y) + precision * (w - start)
        if number < curved_steps:
            curved = small * np.sqrt(p * (1 - p)).astype(np.float32)[:, None]
            inverse = np.linalg.inv((curved.T @ curved).astype(np.float64) + np.diag(precision))
        step = inverse @ gradient
        largest = float(np.abs(step).max())
        w -= step * min(1.0, LONGEST / max(largest, EPSILON))
        if largest < EPSILON:
            break
    return w
