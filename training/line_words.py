"""Fits what the words of lines say (part of ``lines.npz``): sparse logistic regression by scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from pkg_pipeline.offline.line_context import Floats
from pkg_pipeline.offline.line_words import BESIDE, PLACES, SIZE, Words, places_of
from pkg_pipeline.offline.reading import Reading

LOOSENESS = 0.2
"""scikit-learn's C: the greater, the less weights are held back."""
MOST = 127


def matrix(readings: Sequence[Reading]) -> csr_matrix:
    """Lines by the weights of ``PLACES`` in a row."""
    columns: list[int] = []
    counts: list[float] = []
    ends = [0]
    for reading in readings:
        for places in places_of(reading):
            for place, pieces in enumerate(places):
                columns += [place * SIZE + piece for piece in pieces]
                counts += [BESIDE if place else 1.0] * len(pieces)
            ends.append(len(columns))
    return csr_matrix((counts, columns, ends), shape=(len(ends) - 1, len(PLACES) * SIZE))


def fitted(x: csr_matrix, right: Floats) -> Words:
    """``right``: lines by heads (nan: not said)."""
    rows, starts = zip(*(_of_one(x, column) for column in right.T), strict=True)
    weights = np.array(rows)
    step = np.abs(weights).max(axis=1) / MOST
    whole = np.round(weights / step[:, None]).astype(np.int8)
    return Words(whole.reshape(len(rows), len(PLACES), SIZE), step, np.array(starts))


def said(x: csr_matrix, words: Words) -> Floats:
    """Lines by heads: ``Words.log_odds`` of many talks at once."""
    weights = words.weights.reshape(len(words.start), -1) * words.step[:, None]
    return np.asarray(x @ weights.T) + words.start


def _of_one(x: csr_matrix, right: Floats) -> tuple[Floats, float]:
    from sklearn.linear_model import LogisticRegression  # only who fits needs it

    told = np.flatnonzero(~np.isnan(right))
    fit: Any = LogisticRegression(C=LOOSENESS, solver="liblinear", max_iter=100)
    fit.fit(x[told], right[told])
    return fit.coef_[0], float(fit.intercept_[0])
