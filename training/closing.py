"""Fits the weights by which a later message closes an open item: ``python -m training.closing [--check] [-v]``.

Logistic regression with a ridge on pairs (open item, later message) of ``worlds``, by Newton's method in numpy. The
scores are of worlds left out of the fit; the weights written are of all. ``--check``: writes nothing.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeVar
from uuid import UUID

import numpy as np

from pkg_pipeline.memory.gate.progress import says_done
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.offline import linking
from pkg_pipeline.offline.evidence import Heard, heard
from pkg_pipeline.offline.judging import (
    CANCELLED,
    RENEWED,
    SURE,
    WEIGHTS_FILE,
    Head,
    cancellations,
    closings,
    meet,
    renewals,
)
from pkg_pipeline.offline.matters import Open, matter_of, roots_of_names, roots_of_text
from pkg_pipeline.offline.reading import Reading, read
from pkg_pipeline.offline.retelling import described
from pkg_pipeline.offline.same_matter import same_tasks
from pkg_pipeline.offline.talk_items import found_in
from training.worlds import Label, World, load, of_talks

T = TypeVar("T")
RIDGE = 2.0
ROUNDS = 40
NEAR_A_CLOSING = 4
"""Lines around a closing message that are no counterexamples: they speak of it too."""
DIGITS = 3
LEAST_JUDGED = 0.3
"""Closings from this probability on tell how probable an item's closing is."""


@dataclass
class Standing:
    """An open item while a world is read: a labelled one, one that the reader found, or both."""

    label: Label | None
    quoted: SourceMessage
    text: str
    said: str
    owner: Person | None
    people: frozenset[UUID]
    due: date | None
    is_closed: bool = False

    @property
    def closed_by(self) -> frozenset[str]:
        return frozenset() if self.label is None else self.label.closed_by

    @property
    def ended(self) -> dict[Head, frozenset[str]]:
        """The messages that close, renew or cancel it."""
        if self.label is None:
            return {"kept": frozenset(), "renewed": frozenset(), "cancelled": frozenset()}
        again = frozenset(key for ids, _ in self.label.renewed for key in ids)
        return {"kept": self.label.closed_by, "renewed": again, "cancelled": self.label.cancelled_by}


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


@dataclass
class Walk:
    """A talk with the items that stand at it. ``since``: the line after which each counts, -1 before the talk."""

    talk: tuple[Heard, ...]
    source: SummaryInput
    standing: list[Standing]
    items: list[Open]
    since: list[int]


def walks(world: World, *, settle_by_label: bool) -> Iterator[Walk]:
    """Every talk in order with the items open at it: the labelled tasks, in the reader's words where it found them,
    and what else it took for a task. The caller may close them, or the labels do.
    """
    standing: list[Standing] = []
    tasks = [label for label in world.items if label.kind == "action_item"]
    for source in world.talks:
        reading = read(source)
        by_id = {message.external_id: message for message in source.messages}
        names = roots_of_names(source.participants)
        around = frozenset(person.entity_id for person in source.participants)
        before = [one for one in standing if one.people & around and not one.is_closed]
        items = [_open(one, names) for one in before]
        new = list(_new(reading, [label for label in tasks if label.messages[0] in by_id], items, names))
        listed = [*before, *(one for one, _, _ in new)]
        items += [item for _, item, _ in new]
        since = [*([-1] * len(before)), *(place for _, _, place in new)]
        yield Walk(heard(reading, names), source, listed, items, since)
        standing += [one for one, _, _ in new]
        for one in standing:
            if one.label is None:
                continue
            for ids, day in one.label.renewed:
                if ids & by_id.keys():
                    one.due = day or one.due
            ended = one.label.cancelled_by | (one.closed_by if settle_by_label else frozenset())
            one.is_closed |= bool(ended & by_id.keys())
        standing = [one for one in standing if not one.is_closed]


def _open(one: Standing, names: frozenset[str]) -> Open:
    owner = one.owner.entity_id if one.owner else None
    text = f"{one.text}\n{one.quoted.text}"
    around = roots_of_text(one.said) - names
    return Open(matter_of(text, names=names), owner, one.quoted.sent_at, one.due, one.text, around)


def _new(
    reading: Reading, labels: Sequence[Label], shown: Sequence[Open], names: frozenset[str]
) -> Iterator[tuple[Standing, Open, int]]:
    """What becomes open in a talk, with the line after which it counts."""
    by_id = {line.message.external_id: line for line in reading.lines}
    _, actions = found_in(reading)
    opened = [linking.found_open(reading, one, names) for one in actions]
    repeated = same_tasks(shown, opened, actions)
    wanted = list(labels)
    people = frozenset(person.entity_id for person in reading.source.others)
    for place, (action, item) in enumerate(zip(actions, opened, strict=True)):
        ids = {reading.lines[line].message.external_id for line in action.lines}
        label = next((one for one in wanted if ids & set(one.messages)), None)
        if label is None and place in repeated:
            continue
        if label is not None:
            wanted.remove(label)
        line = reading.lines[action.sentence.line]
        owner = action.owner_person if label is None else label.owner
        text = described(action.sentence, reading, action.before)
        about = people | ({label.owner.entity_id} if label is not None and label.owner else frozenset())
        said = "\n".join(reading.lines[at].message.text for at in action.lines)
        made = Standing(label, line.message, text, said, owner, about, action.due)
        yield made, replace(item, owner=owner.entity_id if owner else None), max(action.lines[:1] or (line.index,))
    for label in wanted:
        line = by_id[label.messages[0]]
        about = people | ({label.owner.entity_id} if label.owner else frozenset())
        said = [by_id[key].message.text for key in label.messages if key in by_id]
        asked = [one.message.text for one in reading.lines[max(0, line.index - 1) : line.index]]
        made = Standing(label, line.message, "", "\n".join((*asked, *said)), label.owner, about, label.due)
        yield made, _open(made, names), line.index


def pairs_of(world: World, head: Head = "kept") -> Pairs:
    """Each message with each labelled item open at it, and whether it closes (renews) the item."""
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
    w = _newton(x, y, penalty)
    return {name: round(float(value), DIGITS) for name, value in zip(names, w, strict=True)}


def _newton(x: np.ndarray, y: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    w = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (p - y) + penalty * w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.abs(step).max() < 1e-9:
            break
    return w


def calibrated(weights: Mapping[str, float], judged: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Weights whose probability is that of the *item*: ``judged`` are logits of closings left out, right or not."""
    x = np.array([[logit, 1.0] for logit, _ in judged])
    y = np.array([right for _, right in judged], dtype=float)
    slope, shift = _newton(x, y, np.array([1e-3, 1e-3]))
    scaled = {name: value * slope for name, value in weights.items()}
    scaled["one"] += shift
    return {name: round(value, DIGITS) for name, value in scaled.items()}


def score(
    world: World,
    weights: Mapping[str, float],
    least: float,
    wrong: list[str] | None = None,
    judged: list[tuple[float, bool]] | None = None,
) -> Score:
    """The world read in order with the linker's own closings: an item is rightly closed where or after it was kept."""
    found = Score()
    closed: set[str] = set()
    kept_before: set[str] = set()
    for walk in walks(world, settle_by_label=False):
        texts = {message.external_id: message for message in walk.source.messages}
        kept_now = {one.label.ref for one in walk.standing if one.label is not None and one.closed_by & texts.keys()}
        listed = [i for i, one in enumerate(walk.standing) if not one.is_closed]
        items = [walk.items[i] for i in listed]
        best = closings(meet(items, [walk.since[i] for i in listed], walk.talk), weights, least=least)
        for place, kept in best.items():
            one = walk.standing[listed[place]]
            one.is_closed = True
            if (label := one.label) is None:
                continue
            closed.add(label.ref)
            found.closed += 1
            is_right = label.ref in kept_now | kept_before
            found.right += is_right
            if judged is not None and says_done([kept.said.line.message]):
                judged.append((math.log(kept.probability / (1 - kept.probability)), is_right))
            if wrong is not None and not is_right:
                wrong.append(f"+ {label.text} <- {kept.said.line.message.text} ({kept.probability:.2f})")
        kept_before |= kept_now
    for label in world.items:
        if label.kind == "action_item" and label.closed_by:
            found.kept += 1
            if wrong is not None and label.ref not in closed:
                said = {m.external_id: m for talk in world.talks for m in talk.messages}
                wrong.append(f"- {label.text} <- {' / '.join(said[key].text for key in sorted(label.closed_by))}")
    return found


def told(world: World, head: Head, weights: Mapping[str, float], least: float, wrong: list[str] | None = None) -> Score:
    """Renewals or cancellations by talk of the labelled items that are open by the labels."""
    found = Score()
    for walk in walks(world, settle_by_label=True):
        ids = {message.external_id for message in walk.source.messages}
        find = renewals if head == "renewed" else cancellations
        said = find(meet(walk.items, walk.since, walk.talk), weights, least=least)
        for i, one in enumerate(walk.standing):
            if one.label is None or one.closed_by & ids or walk.since[i] >= 0:
                continue
            is_so = bool(one.ended[head] & ids)
            found.add(Score(is_so and i in said, i in said, is_so))
            if wrong is not None and is_so != (i in said):
                words = said[i].said.line.message.text if i in said else ""
                wrong.append(f"{'-' if is_so else '+'} {one.label.text} <- {words}")
    return found


@dataclass(frozen=True)
class Made:
    """The weights from all worlds by head, and for each world those fitted without it."""

    weights: dict[Head, dict[str, float]]
    left_out: tuple[dict[Head, dict[str, float]], ...]


def make(worlds: Sequence[World]) -> Made:
    pairs = [pairs_of(world) for world in worlds]
    again = [pairs_of(world, "renewed") for world in worlds]
    given_up = [pairs_of(world, "cancelled") for world in worlds]
    raw = [fit(_without(pairs, place)) for place in range(len(worlds))]
    judged: list[list[tuple[float, bool]]] = [[] for _ in worlds]
    for place, world in enumerate(worlds):
        score(world, raw[place], LEAST_JUDGED, judged=judged[place])
    left_out: tuple[dict[Head, dict[str, float]], ...] = tuple(
        {
            "kept": calibrated(one, [pair for those in _without(judged, place) for pair in those]),
            "renewed": fit(_without(again, place)),
            "cancelled": fit(_without(given_up, place)),
        }
        for place, one in enumerate(raw)
    )
    kept = calibrated(fit(pairs), [pair for those in judged for pair in those])
    return Made({"kept": kept, "renewed": fit(again), "cancelled": fit(given_up)}, left_out)


def _without(listed: Sequence[T], place: int) -> list[T]:
    return [one for other, one in enumerate(listed) if other != place]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    worlds = [*load(), *of_talks()]
    made = make(worlds)
    measured: list[tuple[Head, float]] = [
        ("kept", SURE),
        ("renewed", RENEWED),
        ("cancelled", CANCELLED),
    ]
    for head, least in measured:
        total: dict[str, Score] = {}
        for world, weights in zip(worlds, made.left_out, strict=True):
            wrong: list[str] = []
            by = weights[head]
            one = score(world, by, least, wrong) if head == "kept" else told(world, head, by, least, wrong)
            for key in (world.language, "all"):
                total.setdefault(key, Score()).add(one)
            if given.verbose:
                print(f"== {world.name} {head} at {least}: {one}", *wrong, sep="\n   ")
        for key, one in total.items():
            print(f"{head} at {least}, left out: {key} {one}")
    if not given.check:
        WEIGHTS_FILE.write_text(json.dumps(made.weights, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
