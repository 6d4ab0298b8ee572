"""Sentence centrality over bags of terms: TF-IDF, LexRank (power iteration), coverage."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
MAX_RANKED = 1_200
"""Sentences that LexRank compares; the quadratic cost is bounded to the weightiest."""
DAMPING = 0.85
MAX_ITERATIONS = 40


def term_weights(bags: Sequence[Sequence[str]]) -> dict[str, float]:
    """Weight of each term: dampened count of bags with it, times inverse frequency; low for terms of one bag."""
    seen = Counter(term for bag in bags for term in dict.fromkeys(bag))
    total = len(bags)
    return {term: math.log1p(n) * math.log((total + 1) / (n + 0.5)) for term, n in seen.items()}


def lexrank(bags: Sequence[Sequence[str]]) -> Vector:
    """LexRank of each bag over TF-IDF cosines, scaled to a maximum of 1. Shape (len(bags),)."""
    count = len(bags)
    out = np.zeros(count)
    if not count:
        return out
    chosen = (
        range(count) if count <= MAX_RANKED else sorted(sorted(range(count), key=lambda i: -len(bags[i]))[:MAX_RANKED])
    )
    rows = [bags[i] for i in chosen]
    seen = Counter(term for bag in rows for term in dict.fromkeys(bag))
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


@dataclass(frozen=True, slots=True)
class Piece:
    """A candidate: its terms, cost in words, and value of what it covers."""

    terms: tuple[str, ...]
    cost: int
    gain: float


def pieces_of(
    bags: Sequence[tuple[str, ...]], costs: Sequence[int], gains: Sequence[float] | None = None
) -> list[Piece]:
    """Candidates whose value is centrality times ``gains``."""
    central = lexrank(bags)
    own = gains or [1.0] * len(bags)
    return [Piece(bags[i], costs[i], own[i] * (0.4 + float(central[i]))) for i in range(len(bags))]


def coverage_order(
    pieces: Sequence[Piece], *, budget: int, at_most: int, power: float, fits: Callable[[list[int]], bool]
) -> list[int]:
    """Greedy choice by covered term weight per cost to ``power``; indices in order of choice, ties to the earlier.

    Costs sum up to at most ``budget``; ``fits`` may refuse a choice (sorted indices).
    """
    weights = term_weights([piece.terms for piece in pieces])
    sets = [frozenset(piece.terms) for piece in pieces]
    covered: set[str] = set()
    chosen: list[int] = []
    spent = 0
    open_ = [i for i, piece in enumerate(pieces) if piece.terms and 0 < piece.cost <= budget]
    while open_ and len(chosen) < at_most:
        open_ = [i for i in open_ if pieces[i].cost + spent <= budget]
        scored = [
            (pieces[i].gain * math.fsum(weights[t] for t in sets[i] - covered) / pieces[i].cost ** power, -i)
            for i in open_
        ]
        best = next(
            (-i for value, i in sorted(scored, reverse=True) if value > 0 and fits(sorted([*chosen, -i]))), None
        )
        if best is None:
            break
        chosen.append(best)
        open_.remove(best)
        covered |= sets[best]
        spent += pieces[best].cost
    return chosen
