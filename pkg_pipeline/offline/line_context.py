"""What the lines around a line make of it: boosted trees over what the head of lines says of each alone, and its
features. "14th, at hers" - "coming" says little line by line, and together a decision.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.records import Person

Floats = NDArray[np.float64]

REACH: Final = 4
"""Lines before and after that are looked at."""
JUDGED: Final = 3
"""Heads whose log-odds the trees judge anew: says a task, states a decision, agrees to one."""
SEEN: Final = 4
"""Heads that the trees see of a line: the judged, and whose a task is."""
NOBODY: Final = -6.0
"""Log-odds where there is no line: less than any line has."""
FIRST: Final = 100
"""Trees that are asked of every line."""


@dataclass(frozen=True)
class Trees:
    """Boosted trees of each head judged; arrays are heads by trees by nodes, the root first.

    ``column``: what a node asks for, -1 in a leaf; up to ``most`` one goes to ``low``, else to ``high``; ``value``: a
    leaf's, in log-odds. ``start``: log-odds before any tree, by head.
    """

    column: NDArray[np.int16]
    most: NDArray[np.float32]
    low: NDArray[np.uint8]
    high: NDArray[np.uint8]
    value: NDArray[np.float32]
    start: Floats

    @classmethod
    def kept(cls, file: Mapping[str, NDArray[Any]]) -> Trees:
        """As ``arrays`` of them were kept in a file, perhaps beside others."""
        return cls(**{**{one.name: file[one.name] for one in fields(cls)}, "value": file["value"].astype(np.float32)})

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they are kept; values to three places, which is less than they differ by from machine to machine."""
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "value": self.value.astype(np.float16)}

    def log_odds(self, x: Floats, unlikely: float = -math.inf) -> Floats:
        """Lines by heads; ``x``: lines by columns (``surroundings``, then features). What is under ``unlikely`` after
        ``FIRST`` trees is not weighed further: of most pairs the first few say enough.
        """
        told = x.astype(np.float32)
        return np.stack([self._of_head(told, head, unlikely) for head in range(len(self.start))], axis=1)

    def _of_head(self, x: NDArray[np.float32], head: int, unlikely: float) -> Floats:
        said = self.start[head] + self._added(x, head, slice(FIRST))
        if self.column.shape[1] > FIRST and (likely := np.flatnonzero(said >= unlikely)).size:
            said[likely] += self._added(x[likely], head, slice(FIRST, None))
        return said

    def _added(self, x: NDArray[np.float32], head: int, some: slice) -> Floats:
        """What some trees add to the log-odds of each line."""
        column, most, leads_to = (one[head] for one in self._nodes)
        _, trees, nodes = self.column.shape
        row = (np.arange(len(x)) * x.shape[1])[:, None]
        roots = np.arange(trees)[some] * nodes
        node = np.broadcast_to(roots, (len(x), len(roots)))
        while True:
            is_high = ~(x.take(row + column.take(node)) <= most.take(node))
            below = leads_to.take(2 * node + is_high)
            if np.array_equal(below, node):
                return self.value[head].take(node).sum(axis=1, dtype=np.float64)
            node = below

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
        """By head, all trees in a row: what each node asks for, the most, and where it leads, low and high in turn; a
        leaf leads to itself.
        """
        heads, trees, nodes = self.column.shape
        is_leaf = self.column < 0
        below = [np.where(is_leaf, np.arange(nodes), one) for one in (self.low, self.high)]
        leads_to = np.stack(below, axis=-1) + (np.arange(trees) * nodes)[:, None, None]
        column = np.where(is_leaf, 0, self.column).astype(np.intp)
        return column.reshape(heads, -1), self.most.reshape(heads, -1), leads_to.reshape(heads, -1)


def surroundings(speakers: Sequence[Person], alone: Floats) -> Floats:
    """Of each line what the head says of it alone, of those around it, and the most of another's and the speaker's own
    before and after; ``alone``: lines by heads.
    """
    return np.array([_around(speakers, alone, place) for place in range(len(speakers))])


def _around(speakers: Sequence[Person], alone: Floats, place: int) -> list[float]:
    found: list[float] = [*alone[place, :SEEN]]
    before = range(max(0, place - REACH), place)
    after = range(place + 1, min(len(speakers), place + 1 + REACH))
    for step in (*range(-REACH, 0), *range(1, REACH + 1)):
        other = place + step
        is_line = 0 <= other < len(speakers)
        said = alone[other, :JUDGED] if is_line else [NOBODY] * JUDGED
        found += [*said, float(speakers[other] == speakers[place]) if is_line else -1.0]
    for lines in (before, after):
        for head in range(JUDGED):
            for is_own in (False, True):
                said = (alone[i, head] for i in lines if (speakers[i] == speakers[place]) == is_own)
                found.append(max(said, default=NOBODY))
    return found
