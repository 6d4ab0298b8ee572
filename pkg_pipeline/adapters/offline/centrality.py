"""How central a sentence is to its conversation: TF-IDF, LexRank by power iteration, coverage of terms. Numbers only.

Nothing here knows of languages or tasks: it sees bags of terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
MAX_RANKED = 1_200
"""LexRank compares everything with everything; above this many sentences only the weightiest take part."""
DAMPING = 0.85
MAX_ITERATIONS = 40


def term_weights(bags: Sequence[Sequence[str]]) -> dict[str, float]:
    """Weight of each term: how many bags speak of it, dampened, times how telling it is.

    A term of one single bag weighs little; one that is in every bag weighs little too.
    """
    seen = Counter(term for bag in bags for term in set(bag))
    total = len(bags)
    return {term: math.log1p(n) * math.log((total + 1) / (n + 0.5)) for term, n in seen.items()}


def lexrank(bags: Sequence[Sequence[str]]) -> Vector:
    """Stationary weight of each bag in the graph of TF-IDF cosines, scaled to a maximum of 1. Shape (len(bags),)."""
    count = len(bags)
    out = np.zeros(count)
    if not count:
        return out
    chosen = (
        range(count) if count <= MAX_RANKED else sorted(sorted(range(count), key=lambda i: -len(bags[i]))[:MAX_RANKED])
    )
    rows = [bags[i] for i in chosen]
    seen = Counter(term for bag in rows for term in set(bag))
    column = {term: i for i, term in enumerate(t for t, n in seen.items() if n > 1)}
    if not column:
        return out
    matrix = np.zeros((len(rows), len(column)), dtype=np.float32)
    for row, bag in enumerate(rows):
        for term, n in Counter(bag).items():
            if term in column:
                matrix[row, column[term]] = n * math.log((len(rows) + 1) / seen[term])
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(norms > 0, norms, 1)
    alike = matrix @ matrix.T
    np.fill_diagonal(alike, 0)
    sums = alike.sum(axis=1, keepdims=True)
    step = np.where(sums > 0, alike / np.where(sums > 0, sums, 1), 1 / len(rows))
    score = np.full(len(rows), 1 / len(rows))
    for _ in range(MAX_ITERATIONS):
        after = (1 - DAMPING) / len(rows) + DAMPING * (score @ step)
        if float(np.abs(after - score).sum()) < 1e-6:
            break
        score = after
    out[list(chosen)] = score / max(float(score.max()), 1e-12)
    return out


def coverage_order(
    bags: Sequence[Sequence[str]],
    costs: Sequence[int],
    gains: Sequence[float],
    *,
    budget: int,
    at_most: int,
    power: float,
) -> list[int]:
    """Greedy choice of bags that together cover the most term weight, by weight per cost to a power.

    ``gains`` multiplies what a bag covers; ``costs`` are in words and sum up to at most ``budget``. Returns indices in
    order of choice; ties go to the earlier bag.
    """
    weights = term_weights(bags)
    covered: set[str] = set()
    chosen: list[int] = []
    spent = 0
    open_ = [i for i in range(len(bags)) if bags[i] and 0 < costs[i] <= budget]
    while open_ and len(chosen) < at_most:
        best, best_value = -1, 0.0
        for i in open_:
            if costs[i] + spent > budget:
                continue
            value = gains[i] * sum(weights[t] for t in set(bags[i]) if t not in covered) / costs[i] ** power
            if value > best_value + 1e-12:
                best, best_value = i, value
        if best < 0:
            break
        chosen.append(best)
        open_.remove(best)
        covered.update(bags[best])
        spent += costs[best]
    return chosen
