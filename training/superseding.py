"""Fits the trees by which a decision takes the place of an earlier one (``superseding.npz``):
``python -m training.superseding [--check] [-v]``.

Boosted trees on pairs (new decision, decision in force) of worlds and accounts, each read by heads that did not
see it, with nothing superseded. The pairs are kept (``left_out_superseding.npz``), since accounts left out are read by
trees of some of them. ``--check``: reads anew and writes nothing. Figures are of worlds left out.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np

from pkg_pipeline.memory.items.records import ReadingInput, ShownItem
from pkg_pipeline.memory.items.shown import MOST_DECISIONS
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline import superseding
from pkg_pipeline.offline.chat_decisions import THRESHOLD
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.line_context import Floats, Trees
from pkg_pipeline.offline.matters import roots_of_names
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from pkg_pipeline.offline.retelling import decided as decided_words
from pkg_pipeline.offline.superseding import DECIMALS, SUPERSEDED, SURER, TREES_FILE, chances_of, pairs_of
from pkg_pipeline.offline.talk_items import prepared, weighed
from pkg_pipeline.prompts import conversation_reading as prompt
from training import accounts, left_out, worlds
from training.boosting import ROUNDS, SEEDS, boosted
from training.closing import Score
from training.closing_trees import fold_of
from training.conversations import FOLDS
from training.left_out import without
from training.vectors import embed
from training.whole_accounts import read_left_out
from training.worlds import Label, World

LEFT_OUT = Path(__file__).with_name("left_out_superseding.npz")
CHANGES = Path(__file__).with_name("changes")
"""Short accounts written for this alone: what is agreed, what changes it, and what is agreed beside it."""
TOLD_FROM = math.log(THRESHOLD / (1 - THRESHOLD))
"""Log-odds below which a new decision is told only if it takes the place of another."""
STATED_WITHIN = 3
"""Lines from the messages of a label within which what is found, and labelled as nothing else, states it."""


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
    return (*worlds.load(), *accounts.load(), *worlds.load(CHANGES))


@cache
def pairs() -> tuple[Pair, ...]:
    """Those of all worlds, as they were last read."""
    return kept() or read_pairs(every())


def read_pairs(of: Sequence[World]) -> tuple[Pair, ...]:
    """Those that the labels tell of: not of new decisions that nobody labelled in worlds of tasks."""
    return tuple(pair for world in of for pair in _pairs_of(world))


@dataclass(frozen=True)
class Held:
    """A decision in force: a labelled one, as the reader has it if it found it, or one that only the reader found."""

    item: ShownItem
    labels: tuple[Label, ...]
    people: frozenset[UUID]


def _pairs_of(world: World) -> Iterator[Pair]:
    held: list[Held] = []
    for source in sorted(world.talks, key=lambda one: (one.ended_at, one.interaction_id)):
        reading, decided = read_talk(source)
        others = frozenset(one.entity_id for one in source.others)
        near = [one for one in held if one.people & others][-MOST_DECISIONS:]
        yield from _judged(world, reading, decided, near)
        here = {message.external_id for message in source.messages}
        held = [one for one in held if not any(_is_over(world, label, here) for label in one.labels)]
        held += _new(world, reading, decided, others, {label.ref for one in held for label in one.labels})


def read_talk(source: SummaryInput) -> tuple[Reading, list[FoundDecision]]:
    """A talk with its decisions, the doubtful ones too, by heads that did not see it."""
    told = left_out.prepared().get(source.interaction_id)
    if told is None:
        return _decided(prepared(read(plain_talk(source)), embed))
    with without(told.fold):
        return _decided(told.reading)


def _decided(reading: Reading) -> tuple[Reading, list[FoundDecision]]:
    decisions, doubtful, _ = weighed(reading)
    return reading, [*decisions, *doubtful]


def _judged(world: World, reading: Reading, decided: Sequence[FoundDecision], near: Sequence[Held]) -> Iterator[Pair]:
    shown = [replace(one.item, person_ids=tuple(sorted(one.people))) for one in near]
    names = roots_of_names(reading.source.participants)
    for place, of_new in enumerate(pairs_of(reading, shown, decided, names, embed)):
        news = [one for one in _labels(world, reading, decided[place]) if one.kind == "decision"]
        if of_new is None or (world.is_of_tasks and not news) or any(one.is_optional for one in news):
            continue
        for old, features in zip(near, of_new, strict=True):
            if not any(label.is_optional for label in old.labels):
                later = news or _stated_near(world, reading, decided[place])
                yield Pair(
                    features,
                    any(label.superseded_by == new.ref for label in old.labels for new in later),
                    (str(reading.source.interaction_id), place),
                    f"{world.name}/{old.item.id}",
                    f"{old.item.quote} -> {decided[place].sentence.text}",
                    fold_of(world),
                )


def _labels(world: World, reading: Reading, one: FoundDecision) -> list[Label]:
    lines = {reading.lines[line].message.external_id for line in one.lines}
    return [label for label in world.items if lines & set(label.messages)]


def _stated_near(world: World, reading: Reading, one: FoundDecision) -> list[Label]:
    """The decisions of a talk that are labelled just before or after."""
    lines = {one.sentence.line, *one.lines}
    first, last = max(0, min(lines) - STATED_WITHIN), max(lines) + STATED_WITHIN
    near = {line.message.external_id for line in reading.lines[first : last + 1]}
    return [label for label in world.items if label.kind == "decision" and near & set(label.messages)]


def _is_over(world: World, label: Label, here: set[str]) -> bool:
    later = next((one for one in world.items if one.ref == label.superseded_by), None)
    return bool(label.cancelled_by & here) or (later is not None and bool(here & set(later.messages)))


def _new(
    world: World, reading: Reading, decided: Sequence[FoundDecision], others: frozenset[UUID], known: set[str]
) -> Iterator[Held]:
    here = {message.external_id: message for message in reading.source.messages}
    wanted = [one for one in world.items if one.kind == "decision" and one.ref not in known]
    wanted = [one for one in wanted if here.keys() & set(one.messages) and not _is_over(world, one, set(here))]
    for one in decided:
        labels = _labels(world, reading, one)
        meant = tuple(label for label in labels if label in wanted)
        wanted = [label for label in wanted if label not in meant]
        if meant or (one.probability >= THRESHOLD and not labels):
            yield Held(_shown(world, reading, one), meant, others)
    for label in wanted:
        quoted = next(here[key] for key in label.messages if key in here)
        yield Held(world.shown(label, due=label.due, quoted=quoted), (label,), others)


def _shown(world: World, reading: Reading, one: FoundDecision) -> ShownItem:
    first = reading.lines[one.sentence.line].message
    return ShownItem(
        ref=f"{first.external_id}/{one.sentence.place}",
        id=uuid5(NAMESPACE_URL, f"{world.name}/{first.external_id}/{one.sentence.place}"),
        kind="decision",
        status="open",
        text=decided_words(one.sentence, reading, one.before),
        owner="both",
        owner_name=None,
        due_date=None,
        said_at=first.sent_at,
        quote=one.sentence.text,
        said="\n".join(reading.lines[line].message.text for line in one.lines),
    )


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


def fit(without: int | None = None, rounds: int = ROUNDS) -> Trees:
    """Trees of all pairs, or of those outside a part."""
    used = [one for one in pairs() if one.fold != without]
    return boosted(rows_of(used), np.array([[float(one.is_right)] for one in used]), SEEDS, rounds)


def rows_of(of: Sequence[Pair]) -> Floats:
    return np.array([[*one.features.values()] for one in of])


def read_unseen(source: ReadingInput) -> prompt.Answer:
    """One talk of the training data by heads that did not see it, these trees among them."""
    by = _fitted(left_out.prepared()[source.talks[0].interaction_id].fold)
    with patch.object(superseding, "trees", lambda: by):
        return read_left_out(source)


_fitted = cache(fit)


def score(least: float = SUPERSEDED, wrong: list[str] | None = None) -> Score:
    """What is superseded by trees that did not see its world, of all found decisions that are: each new one takes the
    place of at most one.
    """
    best: dict[tuple[str, int], tuple[float, Pair]] = {}
    for fold in range(FOLDS):
        here = [one for one in pairs() if one.fold == fold]
        with patch.object(superseding, "trees", partial(_fitted, fold)):
            chances = chances_of([one.features for one in here])
        for sure, one in zip(chances, here, strict=True):
            if one.new not in best or sure > best[one.new][0]:
                best[one.new] = sure, one
    taken: dict[str, tuple[float, Pair]] = {}
    for sure, one in best.values():
        surer = one.features["sure"] < TOLD_FROM and SURER - SUPERSEDED
        if sure >= max(least + surer, taken.get(one.old, (0.0, one))[0]):
            taken[one.old] = sure, one
    said = list(taken.values())
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
    for least in (0.4, 0.5, 0.6, SUPERSEDED):
        print(f"superseded from {least}, left out: {score(least, wrong if least == SUPERSEDED else None)}")
    if given.verbose:
        print(*wrong, sep="\n")
    if not given.check:
        keep(pairs())
        np.savez_compressed(TREES_FILE, **fit().arrays)


if __name__ == "__main__":
    main()
