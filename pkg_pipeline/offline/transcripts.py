"""Which lines of a transcribed meeting a person would mark, by a head.

Features are places among the lines of the same meeting, so that no word or length of one meeting counts in another.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pkg_pipeline.offline import genre_heads
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.line_head import Floats
from pkg_pipeline.offline.reading import Reading

SHARE = 0.18
"""Share of the lines of a transcript that is kept: as precise as the rules alone were with fewer."""
REACHES = (3, 10)
"""Lines before and after over which is averaged."""


def _places(values: Floats) -> Floats:
    """The share of smaller values, 0 to 1; equal values share a place."""
    return np.searchsorted(np.sort(values), values, side="left") / max(1, len(values) - 1)


def _around(values: Floats, reach: int) -> Floats:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    first, last = np.maximum(0, at - reach), np.minimum(len(values), at + reach + 1)
    return (sums[last] - sums[first]) / (last - first)


def features(reading: Reading, weights: Sequence[float]) -> list[Named]:
    """How each line stands out by its ``weights`` and its words, with the lines around it, and where it stands."""
    words = np.array([sum(s.words for s in line.sentences) for line in reading.lines], dtype=np.float64)
    columns: dict[str, Floats] = {}
    for name, values in {"weight": np.array(weights, dtype=np.float64), "words": words}.items():
        places = _places(values)
        columns |= {name: places, f"{name} squared": places**2}
        columns |= {f"{name} within {reach}": _around(places, reach) for reach in REACHES}
    position = np.array([reading.position(i) for i in range(len(words))])
    columns |= {"position": position, "edge": (2 * position - 1) ** 2}
    speakers = [line.speaker for line in reading.lines]
    goes_on = np.array([float(one == two) for one, two in itertools.pairwise(speakers)])
    columns |= {"continues": np.concatenate([[0.0], goes_on]), "is continued": np.concatenate([goes_on, [0.0]])}
    return [dict(zip(columns, map(float, row), strict=True)) for row in zip(*columns.values(), strict=True)]


def importance(reading: Reading, weights: Sequence[float]) -> list[float]:
    """How probable a person would mark each line, 0 to 1; lines without ``weights`` are not marked."""
    found = genre_heads.probabilities("line of a meeting", features(reading, weights))
    return [float(one) if weight > 0 else 0.0 for one, weight in zip(found, weights, strict=True)]
