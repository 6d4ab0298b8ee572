"""Fits the trees by which a later message keeps an open item, or renews it (``closing.npz``): ``python -m
training.closing_trees [--check]``.

Boosted trees on pairs (open item, later message) of worlds, talks and accounts, each read by heads that did not see it.
Where trees are left out, so is the world, from every head. Those that did not see a part are kept
(``left_out_closings.npz``), since accounts left out are read by them. ``--check``: fits anew and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline import closing_context
from pkg_pipeline.offline.closing_context import rows
from pkg_pipeline.offline.judging import RENEWED, SURE, Met, closings, meet, renewals
from pkg_pipeline.offline.line_context import Floats, Trees
from training import accounts, closing, standing, worlds
from training.boosting import SEEDS, boosted
from training.closing import NEAR_A_CLOSING, Score
from training.conversations import FOLDS
from training.left_out import read_once
from training.newton import chance, newton
from training.other_matters import Told, swapped
from training.standing import Read, Walk, walks
from training.vectors import embed
from training.without_evidence import without_evidence
from training.worlds import World

WEIGHTS = Path(closing_context.__file__).with_name("closing.npz")
LEFT_OUT = Path(__file__).with_name("left_out_closings.npz")
NEAR_A_RENEWAL = 2
"""Lines around one that renews an item are no counterexamples."""
LEAST_JUDGED = 0.03
"""Closings from this probability on tell how probable an item's closing is."""
ROUNDS, LEAVES = 300, 24
"""With 80 of 100 closings right, of 100 pairs that keep an item 31 are found by 100 trees of 12 leaves, 36 by 500,
37 by these.
"""
RIGHT = 0.71
"""Of all that is closed as certain."""


def fold_of(world: World) -> int:
    """The part that is left out with a world, the same as for its lines."""
    return zlib.crc32(world.name.encode()) % FOLDS


THIRD = 0, 1
"""Of the parts those whose worlds tests read, where all would take minutes: a third of all talks in each language."""


def third(of: Iterable[World]) -> list[World]:
    return [world for world in of if fold_of(world) in THIRD]


@cache
def ordinary() -> tuple[World, ...]:
    """What figures are measured on."""
    return (*worlds.load(), *worlds.of_talks(), *accounts.load())


@cache
def every() -> tuple[World, ...]:
    """What is learned from."""
    return (*ordinary(), *hard())


@cache
def hard() -> tuple[World, ...]:
    return tuple(worlds.hard())


@dataclass(frozen=True)
class Unseen:
    """What did not see a part: weights of a pair's features and uncalibrated trees, by part. ``scale``: see there."""

    linear: tuple[Mapping[str, float], ...]
    trees: tuple[Trees, ...]
    scale: tuple[float, float]


@cache
def kept() -> Unseen | None:
    """What was fitted last, if to these very worlds."""
    with np.load(LEFT_OUT) as file:
        if int(file["worlds"]) != worlds.checksum(every()):
            return None
        names = file["names"].tolist()
        linear = tuple(dict(zip(names, row, strict=True)) for row in file["linear"].tolist())
        stacked = Trees.kept(file).arrays
        trees = tuple(Trees.kept({name: rows[n] for name, rows in stacked.items()}) for n in range(FOLDS))
        slope, shift = file["scale"].tolist()
        return Unseen(linear, trees, (slope, shift))


def anew() -> Unseen:
    return Unseen(tuple(map(linear, range(FOLDS))), tuple(map(_without, range(FOLDS))), scale())


def keep(said: Unseen) -> None:
    names = sorted(said.linear[0])
    np.savez_compressed(
        LEFT_OUT,
        worlds=np.array(worlds.checksum(every())),
        names=np.array(names),
        linear=np.array([[row[name] for name in names] for row in said.linear]),
        scale=np.array(said.scale),
        **{name: np.stack([trees.arrays[name] for trees in said.trees]) for name in said.trees[0].arrays},
    )
    kept.cache_clear()


@cache
def linear(fold: int) -> Mapping[str, float]:
    """Weights of a pair's features, fitted without a part."""
    known = kept()
    return linear_anew(fold) if known is None else known.linear[fold]


def linear_anew(fold: int) -> Mapping[str, float]:
    return closing.fit([closing.pairs_of(one) for one in closing.every() if fold_of(one) != fold])


@dataclass(frozen=True)
class Pairs:
    """Pairs as the trees see them, whether each message keeps its item, and renews it (columns; nan: not said), and the
    part of its world.
    """

    x: Floats
    right: Floats
    folds: NDArray[np.int64]


@cache
def pairs() -> Pairs:
    """Those of all worlds."""
    return pairs_of(every())


def pairs_of(of: Sequence[World]) -> Pairs:
    """Of whole parts; each part's are the same, whatever is read beside it."""
    x: list[Floats] = []
    right: list[tuple[float, float]] = []
    folds: list[int] = []
    told = [Told(w.name, w.language, fold_of(w), walk, talk) for w in of for walk, talk in met(w)]
    for one in told:
        said = _right(one.walk, one.talk)
        if said:
            x.append(rows(one.walk.reading, one.walk.items, one.talk, linear(one.fold), embed))
            right += said
            folds += [one.fold] * len(said)
    for one, items, talk, place in swapped(told):
        x.append(rows(one.walk.reading, items, talk, linear(one.fold), embed)[[place]])
        right.append((0.0, 0.0))
        folds.append(one.fold)
    for world, unkept in without_evidence((one for one in of if one not in hard()), _rows):
        x.append(unkept)
        right += [(0.0, float("nan"))] * len(unkept)
        folds += [fold_of(world)] * len(unkept)
    return Pairs(np.vstack(x), np.array(right), np.array(folds))


def _rows(world: World, walk: Walk, talk: Sequence[Met]) -> Floats:
    return rows(walk.reading, walk.items, talk, linear(fold_of(world)), embed)


def reader_of(world: World) -> Callable[[SummaryInput], Read]:
    """Heads that did not see a world: those of the package saw no hard one."""
    return standing.read_once if world in hard() else read_once


def met(world: World) -> Iterator[tuple[Walk, Sequence[Met]]]:
    for walk in walks(world, settle_by_label=True, read=reader_of(world)):
        yield walk, meet(walk.items, walk.since, walk.talk)


def _right(walk: Walk, talk: Sequence[Met]) -> list[tuple[float, float]]:
    ids = [said.line.message.external_id for said in walk.talk]
    places = {said.line.index: place for place, said in enumerate(walk.talk)}
    found: list[tuple[float, float]] = []
    for one in talk:
        place = places[one.said.line.index]
        for i, _ in one.pairs:
            closed_by, again = walk.standing[i].closed_by, walk.standing[i].again
            end = min((at for at, key in enumerate(ids) if key in closed_by), default=None)
            is_near = end is not None and (place > end or abs(place - end) <= NEAR_A_CLOSING)
            is_over = end is not None and place >= end
            is_new = walk.since[i] >= 0
            near = [abs(at - place) for at, key in enumerate(ids) if key in again]
            about = is_over or is_new or min(near, default=NEAR_A_RENEWAL + 1) <= NEAR_A_RENEWAL
            found.append(
                (
                    1.0 if ids[place] in closed_by else float("nan") if is_near else 0.0,
                    1.0 if ids[place] in again and not is_new else float("nan") if about else 0.0,
                )
            )
    return found


def trees_of(told: Pairs, places: NDArray[np.bool_], rounds: int = ROUNDS) -> Trees:
    return boosted(told.x[places], told.right[places], SEEDS[:1], rounds, LEAVES)


@cache
def _without(fold: int) -> Trees:
    known = kept()
    return trees_of(pairs(), pairs().folds != fold) if known is None else known.trees[fold]


@cache
def without(fold: int) -> Trees:
    """Trees that did not see a part."""
    return calibrated(_without(fold))


def calibrated(trees: Trees) -> Trees:
    """With log-odds that are certain where enough of what is closed by them is right."""
    slope, shift = scale()
    slopes, shifts = np.array([slope, 1.0]), np.array([shift, 0.0])
    value = (trees.value * slopes[:, None, None]).astype(np.float32)
    return replace(trees, value=value, start=trees.start * slopes + shifts)


@contextmanager
def judging(trees: Trees, by: Mapping[str, float]) -> Iterator[None]:
    """Promises are closed by these trees and weights."""
    known = closing_context.weights()
    with (
        patch.object(closing_context, "trees", lambda: trees),
        patch.object(closing_context, "weights", lambda: {**known, "kept": by}),
    ):
        yield


@contextmanager
def left_out(fold: int) -> Iterator[None]:
    """Promises are closed by trees and weights that did not see a part."""
    with judging(without(fold), linear(fold)):
        yield


@cache
def scale() -> tuple[float, float]:
    """Slope and shift of the log-odds of closings of worlds left out: those from ``SURE`` on are as often right as
    ``RIGHT`` says.
    """
    known = kept()
    if known is not None:
        return known.scale
    judged: list[tuple[float, bool]] = []
    for world in ordinary():
        with judging(_without(fold_of(world)), linear(fold_of(world))):
            score(world, LEAST_JUDGED, judged)
    x = np.array([[log_odds, 1.0] for log_odds, _ in sorted(judged, reverse=True)])
    y = np.array([right for _, right in sorted(judged, reverse=True)], dtype=float)
    slope, shift = newton(x, y, np.zeros(2), np.array([1e-3, 1e-3]))
    expected = chance(x @ [slope, shift]).cumsum() / np.arange(1, len(x) + 1)
    last = x[max(0, int((expected >= RIGHT).sum()) - 1), 0]
    return float(slope), math.log(SURE / (1 - SURE)) - float(slope * last)


def score(world: World, least: float, judged: list[tuple[float, bool]] | None = None) -> Score:
    """The world read in order with the trees' own closings: an item is rightly closed where or after it was kept."""
    found = Score()
    kept_before: set[str] = set()
    for walk in walks(world, settle_by_label=False, read=reader_of(world)):
        by_id = {message.external_id for message in walk.source.messages}
        kept_now = {one.label.ref for one in walk.standing if one.label is not None and one.closed_by & by_id}
        listed = [i for i, one in enumerate(walk.standing) if not one.is_closed]
        items = [walk.items[i] for i in listed]
        talk = meet(items, [walk.since[i] for i in listed], walk.talk)
        best = closings(talk, closing_context.log_odds(walk.reading, items, talk, embed)[0], least=least)
        for place, kept in best.items():
            one = walk.standing[listed[place]]
            one.is_closed = True
            if one.label is None:
                continue
            is_right = one.label.ref in kept_now | kept_before
            found.add(Score(is_right, 1, 0))
            if judged is not None:
                judged.append((math.log(kept.probability / (1 - kept.probability)), is_right))
        kept_before |= kept_now
    found.kept += sum(bool(one.closed_by) for one in world.items if one.kind == "action_item")
    return found


def renewed(world: World, wrong: list[str] | None = None) -> Score:
    """What talks renew of the items open by the labels, and of what the reader took for tasks beside them."""
    found = Score()
    for walk, talk in met(world):
        if any(one.pairs for one in talk):
            kept, again = closing_context.log_odds(walk.reading, walk.items, talk, embed)
            said = renewals(talk, again, kept)
            ids = {message.external_id for message in walk.source.messages}
            for i, one in enumerate(walk.standing):
                if walk.since[i] < 0:
                    is_so = one.label is not None and bool(one.again & ids)
                    is_right = i in said and said[i].said.line.message.external_id in one.again
                    found.add(Score(is_right, i in said, is_so))
                    if wrong is not None and i in said and not is_right:
                        wrong.append(f"{one.text or one.quoted.text} <- {said[i].said.line.message.text}")
    return found


def fit(told: Pairs, rounds: int = ROUNDS) -> Trees:
    """The trees of every pair."""
    return calibrated(trees_of(told, np.ones(len(told.right), dtype=np.bool_), rounds))


def keys_of(world: World) -> tuple[str, ...]:
    """The rows of the figures in which a world counts."""
    return ("hard",) if world in hard() else (world.language, "all")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    with patch(f"{__name__}.kept", lambda: None):
        made, unseen = fit(pairs()), anew()
    if not given.check:
        np.savez_compressed(WEIGHTS, **made.arrays)
        keep(unseen)
    total: dict[str, Score] = {}
    for world in every():
        with left_out(fold_of(world)):
            both = {f"kept at {SURE}": score(world, SURE), f"renewed at {RENEWED}": renewed(world)}
        for (said, one), key in product(both.items(), keys_of(world)):
            total.setdefault(f"{said}, left out: {key}", Score()).add(one)
    for said, one in sorted(total.items()):
        print(said, one)


if __name__ == "__main__":
    main()
