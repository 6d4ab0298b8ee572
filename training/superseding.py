"""Fits the weights by which a decision takes the place of an earlier one (``superseding.json``):
``python -m training.superseding [--check] [-v]``.

Logistic regression on pairs (new decision, decision in force) of worlds and accounts, each read by heads that did not
see it, with nothing superseded. The pairs are kept (``left_out_superseding.npz``), since accounts left out are read by
weights of some of them. ``--check``: reads anew and writes nothing. Figures are of worlds left out.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from pkg_pipeline.memory.items.records import ReadingInput, ShownItem
from pkg_pipeline.offline import superseding
from pkg_pipeline.offline.matters import roots_of_names
from pkg_pipeline.offline.superseding import DECIMALS, SUPERSEDED, WEIGHTS_FILE, pairs_of
from pkg_pipeline.offline.talk_items import found
from pkg_pipeline.prompts import conversation_reading as prompt
from training import accounts, worlds
from training.closing import Score
from training.closing_trees import fold_of
from training.conversations import FOLDS
from training.left_out import prepared, without
from training.newton import chance, newton
from training.vectors import embed
from training.whole_accounts import read_account, read_left_out
from training.worlds import Label, World

LEFT_OUT = Path(__file__).with_name("left_out_superseding.npz")
SPREAD = 0.5
"""Standard deviation of a weight around its prior, 0 where none is given, in log-odds."""
PRIOR = {"next price": 2.0}
"""Judgements that few pairs speak of: the only price near the new one is its older."""
AGAIN = 8
"""So few pairs are right that one descent, whose curvature is fixed after a few steps, does not arrive."""
FREE = 1e-4
"""Precision of the bias."""


@dataclass(frozen=True)
class Pair:
    """``new``: which decision of which talk; ``old``: what it may take the place of; ``fold``: the part left out."""

    features: Mapping[str, float]
    is_right: bool
    new: tuple[str, int]
    old: str
    words: str
    fold: int


@cache
def every() -> tuple[World, ...]:
    return (*worlds.load(), *accounts.load())


@cache
def pairs() -> tuple[Pair, ...]:
    """Those of all worlds, as they were last read."""
    return kept() or read_pairs(every())


def read_pairs(of: Sequence[World]) -> tuple[Pair, ...]:
    """Those that the labels tell of: not of new decisions that nobody labelled in worlds of tasks."""
    known: list[Pair] = []
    with patch.object(superseding, "SUPERSEDED", np.inf):
        for world in of:
            read_account(world, partial(_recorded, world, known))
    return tuple(known)


def kept() -> tuple[Pair, ...] | None:
    """If they are of these very worlds."""
    with np.load(LEFT_OUT) as file:
        if int(file["worlds"]) != worlds.checksum(every()):
            return None
        names, rows = file["names"].tolist(), (file["features"] / 10**DECIMALS).tolist()
        said = json.loads(file["said"].tobytes())
        told = zip(rows, file["right"].tolist(), file["folds"].tolist(), said, strict=True)
        return tuple(
            Pair(dict(zip(names, row, strict=True)), right, (talk, place), old, words, fold)
            for row, right, fold, (talk, place, old, words) in told
        )


def keep(found: Sequence[Pair]) -> None:
    names = list(found[0].features)
    features = np.array([[one.features[name] for name in names] for one in found])
    said = json.dumps([(*one.new, one.old, one.words) for one in found])
    np.savez_compressed(
        LEFT_OUT,
        worlds=np.array(worlds.checksum(every())),
        names=np.array(names),
        features=np.round(features * 10**DECIMALS).astype(np.int32),
        right=np.array([one.is_right for one in found]),
        folds=np.array([one.fold for one in found], dtype=np.int8),
        said=np.frombuffer(said.encode(), dtype=np.uint8),
    )


def _recorded(world: World, known: list[Pair], source: ReadingInput) -> prompt.Answer:
    """Reads one talk and notes its pairs."""
    told = prepared()[source.talks[0].interaction_id]
    with without(told.fold):
        decided = found(told.reading)[0]
    shown = [item for item in source.shown if item.kind == "decision" and item.status == "open"]
    names = roots_of_names(told.reading.source.participants)
    olds = [_meant(world, item) for item in shown]
    for place, of_new in enumerate(pairs_of(told.reading, shown, decided, names, embed)):
        lines = {told.reading.lines[line].message.external_id for line in decided[place].lines}
        news = [label for label in world.items if label.kind == "decision" and lines & set(label.messages)]
        if of_new is None or (world.is_of_tasks and not news):
            continue
        for item, labels, features in zip(shown, olds, of_new, strict=True):
            if not any(one.is_optional for one in labels):
                known.append(
                    Pair(
                        features,
                        any(old.superseded_by == new.ref for old in labels for new in news),
                        (str(source.talks[0].interaction_id), place),
                        f"{world.name}/{item.id}",
                        f"{item.quote} -> {decided[place].sentence.text}",
                        fold_of(world),
                    )
                )
    return read_left_out(source)


def _meant(world: World, item: ShownItem) -> list[Label]:
    said = set(item.said.split("\n"))
    decisions = (label for label in world.items if label.kind == "decision")
    return [label for label in decisions if said.intersection(world.text_of[key] for key in label.messages)]


def fit(without: int | None = None) -> dict[str, float]:
    """Weights of all pairs, or of those outside a part."""
    used = [one for one in pairs() if one.fold != without]
    names = list(used[0].features)
    x = np.array([[*one.features.values(), 1.0] for one in used])
    y = np.array([float(one.is_right) for one in used])
    start = np.array([PRIOR.get(name, 0.0) for name in [*names, "bias"]])
    precision = np.array([SPREAD**-2] * len(names) + [FREE])
    w = newton(x, y, start, precision)
    for _ in range(AGAIN):
        w = newton(x, y, start, precision, near=w)
    return {name: round(float(weight), 3) for name, weight in zip([*names, "bias"], w, strict=True)}


def read_unseen(source: ReadingInput) -> prompt.Answer:
    """One talk of the training data by heads that did not see it, these weights among them."""
    by = _fitted(prepared()[source.talks[0].interaction_id].fold)
    with patch.object(superseding, "weights", lambda: by):
        return read_left_out(source)


_fitted = cache(fit)


def score(least: float = SUPERSEDED, wrong: list[str] | None = None) -> Score:
    """What is superseded by weights that did not see its world, of all found decisions that are: each new one takes the
    place of at most one.
    """
    best: dict[tuple[str, int], tuple[float, Pair]] = {}
    for fold in range(FOLDS):
        by = _fitted(fold)
        for one in (one for one in pairs() if one.fold == fold):
            sure = float(chance(np.array(by["bias"] + sum(by[k] * v for k, v in one.features.items()))))
            if one.new not in best or sure > best[one.new][0]:
                best[one.new] = sure, one
    said = [(sure, one) for sure, one in best.values() if sure >= least]
    truly: dict[str, list[Pair]] = defaultdict(list)
    for one in pairs():
        if one.is_right:
            truly[one.old].append(one)
    if wrong is not None:
        wrong += [f"+ {sure:.2f} {one.words}" for sure, one in said if not one.is_right]
        hit = {one.old for _, one in said if one.is_right}
        wrong += [f"- {of_old[0].words}" for old, of_old in truly.items() if old not in hit]
    return Score(sum(one.is_right for _, one in said), len(said), len(truly))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    with patch(f"{__name__}.kept", lambda: None):
        pairs()
    wrong: list[str] = []
    for least in (0.3, 0.35, SUPERSEDED, 0.5):
        print(f"superseded from {least}, left out: {score(least, wrong if least == SUPERSEDED else None)}")
    if given.verbose:
        print(*wrong, sep="\n")
    if not given.check:
        keep(pairs())
        WEIGHTS_FILE.write_text(json.dumps(fit(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
