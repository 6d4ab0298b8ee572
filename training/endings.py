"""Fits the head of endings (``endings.npz``) on lines of worlds, talks and accounts: ``python -m training.endings``.

Logistic regression with a normal prior around 0; a line is right if it closes any labelled task.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.offline import ending_head
from pkg_pipeline.offline.line_head import Floats
from pkg_pipeline.offline.reading import read
from training import accounts, worlds
from training.conversations import FOLDS
from training.newton import newton
from training.vectors import embed
from training.worlds import World

WEIGHTS = Path(ending_head.__file__).with_name("endings.npz")
SPREAD = 1.0
"""Standard deviation of the weights around 0, in log-odds; a vector's entries are near 0.04."""
FREE = 1e3
"""That of the constant."""


@dataclass(frozen=True)
class Told:
    """Every line: its row, whether it closes a task, its talk, and the part that is left out with its world."""

    rows: Floats
    right: NDArray[np.float64]
    talks: tuple[UUID, ...]
    folds: NDArray[np.int64]


@cache
def told() -> Told:
    rows: list[Floats] = []
    right: list[float] = []
    talks: list[UUID] = []
    folds: list[int] = []
    for world in (*worlds.load(), *worlds.of_talks(), *accounts.load()):
        ends = _ends(world)
        for source in world.talks:
            reading = read(source)
            rows.append(ending_head.matrix(reading, embed))
            right += [float(line.message.external_id in ends) for line in reading.lines]
            talks += [source.interaction_id] * len(reading.lines)
            folds += [zlib.crc32(world.name.encode()) % FOLDS] * len(reading.lines)
    return Told(np.vstack(rows), np.array(right), tuple(talks), np.array(folds))


def _ends(world: World) -> frozenset[str]:
    return frozenset(key for item in world.items if item.kind == "action_item" for key in item.closed_by)


def fitted(given: Told, places: NDArray[np.bool_]) -> Floats:
    """The weights of the lines at ``places``."""
    x = given.rows[places]
    precision = np.r_[FREE**-2, np.full(x.shape[1] - 1, SPREAD**-2)]
    return newton(x, given.right[places], np.zeros(x.shape[1]), precision)


@cache
def left_out() -> Mapping[UUID, tuple[float, ...]]:
    """By interaction what is said of its lines by heads that did not see its world."""
    given = told()
    log_odds = np.zeros(len(given.right))
    for fold in range(FOLDS):
        here = given.folds == fold
        log_odds[here] = given.rows[here] @ fitted(given, ~here)
    found: dict[UUID, tuple[float, ...]] = {}
    for talk, said in zip(given.talks, ending_head.endings(log_odds), strict=True):
        found[talk] = (*found.get(talk, ()), said)
    return found


def fit() -> Floats:
    """The weights of every line."""
    return fitted(told(), np.ones(len(told().right), dtype=np.bool_))


def main() -> None:
    np.savez_compressed(WEIGHTS, weights=fit().astype(np.float16))


if __name__ == "__main__":
    main()
