"""Fits the weights by which a later message closes an open item: ``python -m training.closing [--check] [-v]``.

Logistic regression with a ridge on pairs (open item, later message) of ``worlds``, by Newton's method in numpy. The
scores are of worlds left out of the fit, an eighth at a time; the weights written are of all. ``--check``: writes
nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from pkg_pipeline.offline.judging import (
    CANCELLED,
    WEIGHTS_FILE,
    Head,
    cancellations,
    meet,
)
from training.newton import newton
from training.standing import walks
from training.worlds import World, hard, load, of_talks

T = TypeVar("T")
PARTS = 8
"""Of the worlds; each is scored by weights fitted to the others."""
RIDGE = 2.0
NEAR_A_CLOSING = 4
"""Lines around a closing message that are no counterexamples: they speak of it too."""
DIGITS = 3


@dataclass
class Pairs:
    """Rows of features with whether the message closes the item."""

    rows: list[Mapping[str, float]] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)


@dataclass
class Score:
    """Counts over the labelled tasks: closed rightly, closed at all, kept in truth."""

    right: int = 0
    closed: int = 0
    kept: int = 0

    def add(self, other: Score) -> None:
        self.right, self.closed, self.kept = (
            self.right + other.right,
            self.closed + other.closed,
            self.kept + other.kept,
        )

    @property
    def precision(self) -> float:
        return self.right / max(1, self.closed)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.kept)

    def __str__(self) -> str:
        size = f"{self.right} of {self.closed} closed, {self.kept} kept"
        return f"P {100 * self.precision:.0f} R {100 * self.recall:.0f} ({size})"


def every() -> list[World]:
    """All that closings are fitted to: worlds and single talks. The accounts add nothing to these weights."""
    return [*load(), *hard(), *of_talks()]


def pairs_of(world: World, head: Head = "kept") -> Pairs:
    """Each message with each labelled item open at it, and whether it closes (gives up) the item."""
    pairs = Pairs()
    for walk in walks(world, settle_by_label=True):
        ids = [said.line.message.external_id for said in walk.talk]
        places = {said.line.index: place for place, said in enumerate(walk.talk)}
        ends = [min((i for i, key in enumerate(ids) if key in one.closed_by), default=None) for one in walk.standing]
        for met in meet(walk.items, walk.since, walk.talk):
            place = places[met.said.line.index]
            for i, given in met.pairs:
                one, end = walk.standing[i], ends[i]
                is_so = ids[place] in one.ended[head]
                if one.label is None or (end is not None and place > end and not is_so):
                    continue
                if head != "kept" or is_so or end is None or abs(place - end) > NEAR_A_CLOSING:
                    pairs.rows.append(given)
                    pairs.kept.append(is_so)
    return pairs


def fit(pairs: Sequence[Pairs]) -> dict[str, float]:
    """Weights in log-odds by feature; the constant is not held back by the ridge."""
    rows = [row for one in pairs for row in one.rows]
    names = sorted(rows[0])
    x = np.array([[row[name] for name in names] for row in rows])
    y = np.array([kept for one in pairs for kept in one.kept], dtype=float)
    penalty = np.full(len(names), RIDGE)
    penalty[names.index("one")] = 1e-6
    w = newton(x, y, np.zeros(len(names)), penalty)
    return {name: round(float(value), DIGITS) for name, value in zip(names, w, strict=True)}


def told(world: World, weights: Mapping[str, float], least: float, wrong: list[str] | None = None) -> Score:
    """Cancellations by talk of the labelled items that are open by the labels."""
    found = Score()
    for walk in walks(world, settle_by_label=True):
        ids = {message.external_id for message in walk.source.messages}
        said = cancellations(meet(walk.items, walk.since, walk.talk), weights, least=least)
        for i, one in enumerate(walk.standing):
            if one.label is None or one.closed_by & ids or walk.since[i] >= 0:
                continue
            is_so = bool(one.ended["cancelled"] & ids)
            found.add(Score(is_so and i in said, i in said, is_so))
            if wrong is not None and is_so != (i in said):
                words = said[i].said.line.message.text if i in said else ""
                wrong.append(f"{'-' if is_so else '+'} {one.label.text} <- {words}")
    return found


@dataclass(frozen=True)
class Made:
    """The weights from all worlds by head, and for each world those of cancellations fitted without it."""

    weights: dict[Head, dict[str, float]]
    left_out: tuple[dict[str, float], ...]


def make(worlds: Sequence[World]) -> Made:
    pairs = [pairs_of(world) for world in worlds]
    given_up = [pairs_of(world, "cancelled") for world in worlds]
    parts = range(min(PARTS, len(worlds)))
    of_part = [fit(_without(given_up, part)) for part in parts]
    left_out = tuple(of_part[place % PARTS] for place in range(len(worlds)))
    return Made({"kept": fit(pairs), "cancelled": fit(given_up)}, left_out)


def _without(listed: Sequence[T], part: int) -> list[T]:
    return [one for place, one in enumerate(listed) if place % PARTS != part]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    worlds = every()
    made = make(worlds)
    total: dict[str, Score] = {}
    for world, weights in zip(worlds, made.left_out, strict=True):
        wrong: list[str] = []
        one = told(world, weights, CANCELLED, wrong)
        for key in (world.language, "all"):
            total.setdefault(key, Score()).add(one)
        if given.verbose:
            print(f"== {world.name} cancelled at {CANCELLED}: {one}", *wrong, sep="\n   ")
    for key, one in total.items():
        print(f"cancelled at {CANCELLED}, left out: {key} {one}")
    if not given.check:
        WEIGHTS_FILE.write_text(json.dumps(made.weights, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
