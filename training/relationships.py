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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pkg_pipeline.memory.profile import relationship, relationship_vectors
from pkg_pipeline.memory.profile.records import RelationshipType
from pkg_pipeline.memory.profile.relationship import ROLES, Features, sure
from pkg_pipeline.memory.profile.relationship_vectors import TYPES, Floats, centred
from training import relationship_head
from training.labelled_people import Labelled, people
from training.relationship_head import fit_heads, softmax

PRIORS = Path(__file__).with_name("relationship_priors.toml")
WEIGHTS = Path(relationship.__file__).with_name("relationship_weights.toml")
SPREAD = 0.5
"""Standard deviation of a weight around its prior, in log-odds."""
STEPS = 30
FOLDS = 8
HEAD_LINES = "# Weights of what somebody is to me, in log-odds, fitted by `make train` from labelled accounts.\n"

TRUST, USUAL = 3.0, 0.5
"""Of what a phrase tells before it was heard: so many people, this share of them rightly."""
MANNERS = frozenset({"formal", "informal"})
GROUPS_OF_PEOPLE = ("whole", "early", "in groups")
VECTORS = "vectors"
"""The feature of what the head over vectors tells."""


class Fitted(NamedTuple):
    """Of words alone; with vectors; how much each phrase tells; the head over vectors."""

    weights: dict[str, float]
    with_vectors: dict[str, float]
    phrases: dict[str, float]
    head: Floats


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


def phrase_weights(counts: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """How much each phrase tells of its role: 1 where nothing is known, at most 2."""
    return {key: _phrase_weight(said, right) for key, (said, right) in counts.items()}


def _phrase_weight(said: float, right: float) -> float:
    return round(2 * (right + TRUST * USUAL) / (said + TRUST), 2)


def _but(one: Labelled, weights: Mapping[str, float], counts: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """The weights of phrases without what somebody said."""
    own = Counter(key for key, _ in _told(one))
    own_right = Counter(key for key, is_right in _told(one) if is_right)
    return {
        **weights,
        **{key: _phrase_weight(counts[key][0] - said, counts[key][1] - own_right[key]) for key, said in own.items()},
    }


def fit(examples: Sequence[Labelled], priors: Mapping[str, float]) -> Fitted:
    """Weights that make the labels likely, near the priors; vectors are heard by a head fitted without each person."""
    fold = np.array(_folds(examples))
    everybody, *without = fit_heads(examples, np.array([fold != left for left in (-1, *range(FOLDS))]))
    odds = [centred(one.vector @ without[of]) for one, of in zip(examples, fold, strict=True)]
    heard = [replace(one.heard, vectors=told) for one, told in zip(examples, odds, strict=True)]
    counts = phrase_counts(examples)
    phrases = phrase_weights(counts)
    told = [relationship.features(one, _but(who, phrases, counts)) for one, who in zip(heard, examples, strict=True)]
    return Fitted(
        weights=_weights(examples, told, {name: value for name, value in priors.items() if name != VECTORS}),
        with_vectors=_weights(examples, told, priors),
        phrases=phrases,
        head=everybody,
    )


def _folds(examples: Sequence[Labelled]) -> list[int]:
    """By world, in turn."""
    worlds = {world: place % FOLDS for place, world in enumerate(dict.fromkeys(one.world for one in examples))}
    return [worlds[one.world] for one in examples]


def _weights(
    examples: Sequence[Labelled], told: Sequence[Mapping[RelationshipType, Features]], priors: Mapping[str, float]
) -> dict[str, float]:
    names = sorted(priors)
    index = {name: place for place, name in enumerate(names)}
    start = np.array([priors[name] for name in names])
    tables = np.array([_table(one, index) for one in told])
    right = tables[np.arange(len(examples)), [TYPES.index(one.type) for one in examples]]
    share = np.array([one.share for one in examples])
    found = start.copy()
    for _ in range(STEPS):
        chance = softmax(tables @ found)
        mean = np.einsum("pk,pkf->pf", chance, tables)
        slope = (start - found) / SPREAD**2 + share @ (right - mean)
        around = (tables - mean[:, None]) * np.sqrt(share[:, None] * chance)[:, :, None]
        flat = around.reshape(-1, len(names))
        step = np.linalg.solve(np.eye(len(names)) / SPREAD**2 + flat.T @ flat, slope)
        found += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if float(np.abs(step).max()) < 1e-7:
            break
    return {name: round(float(value), 3) for name, value in zip(names, found, strict=True)}


def _table(told: Mapping[RelationshipType, Features], index: Mapping[str, int]) -> Floats:
    table = np.zeros((len(TYPES), len(index)))
    for place, kind in enumerate(TYPES):
        for name, value in told[kind].items():
            if name in index:
                table[place, index[name]] = value
    return table


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


def called(one: Labelled, by: Fitted, *, by_vectors: bool) -> tuple[str, float]:
    """The likeliest type and its probability."""
    heard = replace(one.heard, vectors=centred(one.vector @ by.head)) if by_vectors else one.heard
    weights = by.with_vectors if by_vectors else by.weights
    chances = relationship.probabilities(relationship.features(heard, by.phrases), weights)
    best = max(TYPES, key=lambda kind: chances[kind])
    return best, chances[best]


class Call(NamedTuple):
    """Somebody, the likeliest type and its probability, with vectors and by words alone."""

    one: Labelled
    kind: str
    chance: float
    word_kind: str
    word_chance: float


def left_out(examples: Sequence[Labelled], parts: Iterable[int] = range(FOLDS)) -> list[Call]:
    """Everybody of these parts of the accounts called by weights fitted without their world."""
    told: list[Call] = []
    fold = _folds(examples)
    for number in parts:
        fitted = fit([one for one, of in zip(examples, fold, strict=True) if of != number], priors())
        asked = [one for one, of in zip(examples, fold, strict=True) if of == number and one.is_asked]
        told += [
            Call(one, *called(one, fitted, by_vectors=True), *called(one, fitted, by_vectors=False)) for one in asked
        ]
    return told


def asked(told: Sequence[Call], name: str) -> list[Call]:
    """Those of dialogs at their end (``whole``) or after the first weeks (``early``), or those met ``in groups``."""
    found = {"whole": (False, False), "early": (True, False), "in groups": (False, True)}[name]
    return [one for one in told if (one.one.is_early, one.one.is_met_in_groups) == found]


def score(told: Sequence[Call], from_: float | None = None, *, by_words: bool = False) -> Score:
    """Of those said from a probability of ``from_`` on, or as the product says them."""
    said: list[tuple[str, str]] = []
    for one, kind, chance, word_kind, word_chance in told:
        least = from_ or sure(by_words=by_words, is_met_in_groups=one.is_met_in_groups)
        kind, chance = (word_kind, word_chance) if by_words else (kind, chance)
        said.append((one.type, kind if chance >= least else "unknown"))
    right = sum(label == kind for label, kind in said)
    return Score(len(said), right, sum(kind not in (label, "unknown") for label, kind in said))


def write(fitted: Fitted, worlds: Sequence[str]) -> None:
    """Phrases whose weight is that of any are left out; ``worlds``: the accounts it was fitted to."""
    telling = {key: value for key, value in sorted(fitted.phrases.items()) if value != 2 * USUAL}
    lines = [HEAD_LINES, f"worlds = {json.dumps(sorted(worlds))}"]
    for name, table in (("weights", fitted.weights), ("with_vectors", fitted.with_vectors), ("phrases", telling)):
        lines += ["", f"[{name}]", *(f"{json.dumps(key, ensure_ascii=False)} = {one}" for key, one in table.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")
    relationship_head.write(fitted.head)


def stored() -> tuple[Fitted, list[str]]:
    """What is written, and the accounts it was fitted to."""
    told = tomllib.loads(WEIGHTS.read_text("utf-8"))
    return Fitted(told["weights"], told["with_vectors"], told["phrases"], relationship_vectors.head()), told["worlds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--score", action="store_true", help="only print the figures of people left out")
    parser.add_argument("--misses", action="store_true", help="name those called wrongly, but in the judging half")
    given = parser.parse_args()
    examples = people()
    told = left_out(examples)
    for name in GROUPS_OF_PEOPLE:
        some = asked(told, name)
        print(name, dict(Counter(one.one.type for one in some)))
        for name, part in _parts(some).items():
            print(f"  {name}:", score(part), "by words", score(part, by_words=True))
    for least in (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8):
        some = asked(told, "whole")
        print(least, score(some, least), "by words", score(some, least, by_words=True))
    for one in told if given.misses else ():
        if one.kind != one.one.type and not one.one.is_early and not one.one.is_for_judging:
            print(
                "  in groups" if one.one.is_met_in_groups else "",
                f"  {one.one.world} {one.one.name}: {one.one.type}, called {one.kind} ({one.chance})",
            )
    if not given.score:
        write(fit(examples, priors()), list({one.world for one in examples if one.is_asked}))


def _parts(told: Sequence[Call]) -> dict[str, list[Call]]:
    languages = sorted({one.one.language for one in told})
    return {
        "all": list(told),
        **{language: [one for one in told if one.one.language == language] for language in languages},
        "words developed on": [one for one in told if not one.one.is_for_judging],
        "judging": [one for one in told if one.one.is_for_judging],
    }


if __name__ == "__main__":
    main()
