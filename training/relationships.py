"""Fits what somebody is to me: ``python -m training.relationships`` (``make train``) writes its weights.

A multinomial logistic around the weights of ``relationship_priors.toml``, by Newton's method with a normal prior of
``SPREAD``; left-out figures come from folds of whole worlds. Every person is told as at the end of the account and as
they were after the first weeks.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.profile import relationship
from pkg_pipeline.memory.profile.records import RelationshipType, Signals, Utterance
from pkg_pipeline.memory.profile.relationship import (
    MOST_MESSAGES,
    ROLES,
    SURE,
    TYPES,
    Features,
    Hearing,
)
from training import accounts
from training.told_worlds import Row, worlds_of

PRIORS = Path(__file__).with_name("relationship_priors.toml")
WEIGHTS = Path(relationship.__file__).with_name("relationship_weights.toml")
ZONE = ZoneInfo("UTC")
"""Accounts are told in local time."""
SPREAD = 0.5
"""Standard deviation of a weight around its prior, in log-odds."""
FIRST_WEEKS = timedelta(days=28)
EARLY_SHARE = 0.5
"""How much a person after the first weeks counts beside one at the end."""
STEPS = 30
FOLDS = 8
HEAD_LINES = "# Weights of what somebody is to me, in log-odds, fitted by `make train` from labelled accounts.\n"

TRUST, USUAL = 3.0, 0.5
"""Of what a phrase tells before it was heard: so many people, this share of them rightly."""
MANNERS = frozenset({"formal", "informal"})

Floats = NDArray[np.float64]


class Fitted(NamedTuple):
    weights: dict[str, float]
    phrases: dict[str, float]


@dataclass(frozen=True)
class Labelled:
    """A person of a world, at its end or ``is_early``."""

    name: str
    world: str
    language: str
    type: str
    heard: Hearing
    is_early: bool


def people() -> list[Labelled]:
    """Of every account, in the order of names."""
    rows = {path: worlds_of(path) for path in sorted(accounts.FOLDER.glob("*.txt"))}
    return [one for path in rows for world, row in rows[path].items() for one in _of_world(world, row)]


def _of_world(world: str, row: Row) -> Iterator[Labelled]:
    for name, kind in row["types"].items():
        whole = signals_of(row, name)
        if not whole.said:
            continue
        first = min(one.at for one in whole.said)
        early = tuple(one for one in whole.said if one.at <= first + FIRST_WEEKS)
        yield Labelled(name, world, row["language"], kind, relationship.hearing(whole, ZONE), is_early=False)
        if len(early) < len(whole.said):
            given = Signals(name, early, whole.groups)
            yield Labelled(name, world, row["language"], kind, relationship.hearing(given, ZONE), is_early=True)


def signals_of(row: Row, name: str) -> Signals:
    """What the memory would know of a person: the dialogs, the groups in common, their facts."""
    me = next(one["id"] for one in row["people"] if one["is_self"])
    said: list[Utterance] = []
    groups: list[str] = []
    for chat in row["chats"]:
        if chat["kind"] == "direct" and chat["title"] == name:
            said += [
                Utterance(one["text"], one["from"] == me, datetime.fromisoformat(one["at"])) for one in chat["messages"]
            ]
        elif chat["kind"] == "group" and name in {one["from"] for one in chat["messages"]}:
            groups.append(chat["title"].lstrip("#"))
    said.sort(key=lambda one: one.at)
    known = {(one["who"], one["type"]): one["value"] for one in row["facts"] if not one["is_ended"]}
    facts = [known[name, kind] for kind in ("position", "organisation") if (name, kind) in known]
    organizations = (known.get((name, "organisation")), known.get((me, "organisation")))
    return Signals(name, tuple(said[-MOST_MESSAGES:]), tuple(groups), tuple(facts), organizations)


def phrase_counts(examples: Sequence[Labelled]) -> dict[str, tuple[float, float]]:
    """By phrase: people who said it or were told it in the role it tells of, and those who truly have the role."""
    found: dict[str, tuple[float, float]] = {}
    for one in examples:
        for key, is_right in _told(one):
            said, right = found.get(key, (0.0, 0.0))
            found[key] = said + 1, right + is_right
    return found


def _told(one: Labelled) -> Iterator[tuple[str, bool]]:
    """The phrases of each side of somebody at the end of an account, and whether their role is that of the label."""
    if one.is_early:
        return
    roles = ROLES.get(one.type, ("", ""))
    for side, role in ((one.heard.theirs, roles[0]), (one.heard.mine, roles[1])):
        yield from ((f"{of} {phrase}", of == role) for of, phrase in side if of not in MANNERS)


def phrase_weights(counts: Mapping[str, tuple[float, float]], but: Labelled | None = None) -> dict[str, float]:
    """How much each phrase tells of its role: 1 where nothing is known, at most 2; without what ``but`` said."""
    own = Counter[str]() if but is None else Counter(key for key, _ in _told(but))
    own_right = Counter[str]() if but is None else Counter(key for key, is_right in _told(but) if is_right)
    return {
        key: round(2 * (right - own_right[key] + TRUST * USUAL) / (said - own[key] + TRUST), 2)
        for key, (said, right) in counts.items()
    }


def fit(examples: Sequence[Labelled], priors: Mapping[str, float]) -> Fitted:
    """Weights that make the labels likely, near the priors."""
    counts = phrase_counts(examples)
    told = [relationship.features(one.heard, phrase_weights(counts, but=one)) for one in examples]
    names = sorted(priors)
    index = {name: place for place, name in enumerate(names)}
    start = np.array([priors[name] for name in names])
    tables = [_table(one, index) for one in told]
    right = [TYPES.index(one.type) for one in examples]  # type: ignore[arg-type]
    weight = [EARLY_SHARE if one.is_early else 1.0 for one in examples]
    found = start.copy()
    for _ in range(STEPS):
        slope = (start - found) / SPREAD**2
        bend = np.eye(len(names)) / SPREAD**2
        for given, place, count in zip(tables, right, weight, strict=True):
            chance = _softmax(given @ found)
            mean = chance @ given
            slope += count * (given[place] - mean)
            spread = given - mean
            bend += count * (spread.T * chance) @ spread
        step = np.linalg.solve(bend, slope)
        found += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if float(np.abs(step).max()) < 1e-7:
            break
    weights = {name: round(float(value), 3) for name, value in zip(names, found, strict=True)}
    return Fitted(weights, phrase_weights(counts))


def _table(told: Mapping[RelationshipType, Features], index: Mapping[str, int]) -> Floats:
    table = np.zeros((len(TYPES), len(index)))
    for place, kind in enumerate(TYPES):
        for name, value in told[kind].items():
            if name in index:
                table[place, index[name]] = value
    return table


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def priors() -> dict[str, float]:
    """Every weight; 0 where nothing is said beforehand."""
    given = tomllib.loads(PRIORS.read_text("utf-8"))
    found = dict(given["shared"])
    for kind in TYPES:
        found |= {f"{kind} {name}": 0.0 for name in (*given["whole"]["names"], "said")}
        found |= {f"{kind} {name}": value for name, value in given.get(kind, {}).items()}
    return {name: float(value) for name, value in found.items()}


@dataclass(frozen=True)
class Score:
    """Of the people asked after: rightly called, wrongly called; the rest is unknown."""

    asked: int
    right: int
    wrong: int

    @property
    def accuracy(self) -> float:
        return self.right / self.asked

    @property
    def error(self) -> float:
        return self.wrong / self.asked


def called(one: Labelled, by: Fitted) -> tuple[str, float]:
    """The likeliest type and its probability."""
    chances = relationship.probabilities(relationship.features(one.heard, by.phrases), by.weights)
    best = max(TYPES, key=lambda kind: chances[kind])
    return best, chances[best]


def left_out(examples: Sequence[Labelled]) -> list[tuple[Labelled, str, float]]:
    """Everybody called by weights fitted without their world."""
    worlds = sorted({one.world for one in examples})
    told: list[tuple[Labelled, str, float]] = []
    for fold in range(FOLDS):
        of_fold = set(worlds[fold::FOLDS])
        fitted = fit([one for one in examples if one.world not in of_fold], priors())
        told += [(one, *called(one, fitted)) for one in examples if one.world in of_fold]
    return told


def score(told: Sequence[tuple[Labelled, str, float]], sure: float = SURE) -> Score:
    said = [(one.type, kind if chance >= sure else "unknown") for one, kind, chance in told]
    right = sum(label == kind for label, kind in said)
    return Score(len(said), right, sum(kind not in (label, "unknown") for label, kind in said))


def write(fitted: Fitted, worlds: Sequence[str]) -> None:
    """Phrases whose weight is that of any are left out; ``worlds`` it was fitted to."""
    telling = {key: value for key, value in sorted(fitted.phrases.items()) if value != 2 * USUAL}
    lines = [HEAD_LINES, f"worlds = {json.dumps(sorted(worlds))}", "", "[weights]"]
    lines += [f"{json.dumps(name)} = {value}" for name, value in fitted.weights.items()]
    lines += ["", "[phrases]", *(f"{json.dumps(key, ensure_ascii=False)} = {value}" for key, value in telling.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


def stored() -> tuple[Fitted, list[str]]:
    """What is written, and the worlds it was fitted to."""
    told = tomllib.loads(WEIGHTS.read_text("utf-8"))
    return Fitted(told["weights"], told["phrases"]), told["worlds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--score", action="store_true", help="only print the figures of people left out")
    given = parser.parse_args()
    examples = people()
    told = left_out(examples)
    for is_early in (False, True):
        some = [one for one in told if one[0].is_early is is_early]
        print("early" if is_early else "whole", score(some), dict(Counter(one[0].type for one in some)))
        for language in sorted({one[0].language for one in some}):
            print(" ", language, score([one for one in some if one[0].language == language]))
    for sure in (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7):
        print(sure, score([one for one in told if not one[0].is_early], sure))
    for one, kind, chance in told:
        if kind != one.type and not one.is_early:
            print(f"  {one.world} {one.name}: {one.type}, called {kind} ({chance})")
    if not given.score:
        write(fit(examples, priors()), list({one.world for one in examples}))


if __name__ == "__main__":
    main()
