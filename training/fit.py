"""Fits the heads of the offline reader: ``python -m training.fit`` (``make train``) writes its weights.

Logistic regression around the weights of ``priors.toml``: Newton's method on the likelihood of the labelled talks with
a normal prior of ``SPREAD`` around each, so a feature the talks say little of keeps its judgement. Left-out figures
come from folds of whole talks; all of it is the same at every run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.offline import chat_tasks, duties
from pkg_pipeline.offline.reading import Reading
from training import conversations, lines
from training.conversations import FOLDS
from training.matching import one_to_one
from training.newton import chance, newton
from training.talks import LANGUAGES, Label, Talk

PRIORS = Path(__file__).with_name("priors.toml")
WEIGHTS = Path(chat_tasks.__file__).with_name("weights.toml")
SPREAD = 0.7
"""Standard deviation of a weight around its prior, in log-odds."""
HEAD_LINES = (
    "# Weights of the heads in log-odds, fitted by `make train` from training/priors.toml and training/talks.\n"
)

Floats = NDArray[np.float64]
Candidate = tuple[dict[str, float], set[int]]


@dataclass(frozen=True)
class Example:
    """A candidate of a talk: its features, whether a label is its own, and the talk's fold."""

    features: dict[str, float]
    is_right: bool
    fold: int
    language: str


def _tasks(reading: Reading) -> list[Candidate]:
    return [
        (chat_tasks.features(reading, duty), {reading.lines[i].message.number for i in duties.lines_of(duty)})
        for duty in duties.duties_of(reading)
    ]


HEADS: dict[str, tuple[str, Callable[[Reading], list[Candidate]]]] = {
    chat_tasks.HEAD: ("task", _tasks),
}


def matches_of(candidates: Sequence[set[int]], labels: Sequence[Label]) -> dict[int, int]:
    """The label of each candidate by place, the largest share of messages first, one to one."""
    return one_to_one(
        (len(numbers & label.numbers) / len(numbers | label.numbers), i, j)
        for i, numbers in enumerate(candidates)
        for j, label in enumerate(labels)
        if numbers & label.numbers
    )


def examples_of(talk: Talk, kind: str, candidates: Sequence[Candidate], fold: int) -> list[Example]:
    """Every candidate of a talk; each label is matched by the one that shares most with it."""
    labels: list[Label] = [label for label in talk.labels if label.kind == kind]
    of_candidate = matches_of([numbers for _, numbers in candidates], labels)
    return [
        Example(features, i in of_candidate, fold, talk.language)
        for i, (features, _) in enumerate(candidates)
        if i not in of_candidate or not labels[of_candidate[i]].is_optional
    ]


def fitted(examples: Sequence[Example], prior: dict[str, float]) -> dict[str, float]:
    """The weights of highest posterior; features without a prior start at 0."""
    names = sorted({"bias", *prior, *(name for one in examples for name in one.features)})
    places = {name: i for i, name in enumerate(names)}
    x: Floats = np.zeros((len(examples), len(names)))
    for row, one in zip(x, examples, strict=True):
        row[places["bias"]] = 1.0
        for name, value in one.features.items():
            row[places[name]] = value
    y: Floats = np.array([one.is_right for one in examples], dtype=np.float64)
    start: Floats = np.array([prior.get(name, 0.0) for name in names])
    w = newton(x, y, start, np.full(len(names), SPREAD**-2))
    return {name: round(float(weight), 2) + 0.0 for name, weight in zip(names, w, strict=True)}


def chances(examples: Sequence[Example], weights: dict[str, float]) -> list[float]:
    totals = [weights["bias"] + sum(weights.get(n, 0.0) * v for n, v in one.features.items()) for one in examples]
    return chance(np.array(totals)).tolist()


@dataclass(frozen=True)
class Fit:
    """Examples of a head, how many labels there are by language, and its weights from the priors and the talks."""

    examples: tuple[Example, ...]
    labelled: dict[str, int]
    prior: dict[str, float]

    @property
    def weights(self) -> dict[str, float]:
        return fitted(self.examples, self.prior)

    def without(self, fold: int) -> dict[str, float]:
        """The weights of all examples but those of a fold."""
        return fitted([one for one in self.examples if one.fold != fold], self.prior)

    def left_out(self) -> list[tuple[Example, float]]:
        """Every example with its probability by weights fitted without its fold."""
        found: list[tuple[Example, float]] = []
        for fold in range(FOLDS):
            weights = self.without(fold)
            of_fold = [one for one in self.examples if one.fold == fold]
            found += zip(of_fold, chances(of_fold, weights), strict=True)
        return found

    def shares(
        self, left_out: Sequence[tuple[Example, float]], threshold: float, language: str | None = None
    ) -> tuple[float, float]:
        """Precision and recall, 0 to 1, of what is published from ``threshold`` on."""
        taken = [one for one, chance in left_out if chance >= threshold and language in (None, one.language)]
        hits = sum(one.is_right for one in taken)
        wanted = sum(n for other, n in self.labelled.items() if language in (None, other))
        return hits / max(1, len(taken)), hits / max(1, wanted)


@cache
def fit_of(head: str) -> Fit:
    """The fit of one head to all labelled talks and worlds."""
    kind, candidates = HEADS[head]
    examples: list[Example] = []
    labelled: dict[str, int] = dict.fromkeys(LANGUAGES, 0)
    for talk, reading in zip(conversations.labelled(), lines.left_out(), strict=True):
        if kind in talk.kinds:
            examples += examples_of(talk, kind, candidates(reading), conversations.fold_of(talk))
            labelled[talk.language] += sum(one.kind == kind and not one.is_optional for one in talk.labels)
    return Fit(tuple(examples), labelled, tomllib.loads(PRIORS.read_text(encoding="utf-8"))[head])


def add_head(head: str, examples: Sequence[Example]) -> None:
    """Write a head that has no priors, in place of itself and of those that are fitted after it."""
    told, _, _ = WEIGHTS.read_text(encoding="utf-8").partition(f"\n[{head}]\n")
    rows = "".join(f'"{name}" = {weight}\n' for name, weight in fitted(examples, {}).items())
    WEIGHTS.write_text(f"{told}\n[{head}]\n{rows}", encoding="utf-8")


def main() -> None:
    lines.main()
    text = HEAD_LINES
    for head in HEADS:
        fit = fit_of(head)
        left_out = fit.left_out()
        right = sum(one.is_right for one in fit.examples)
        print(f"{head}: {len(fit.examples)} candidates, {right} right; P/R left out")
        for threshold in (0.4, 0.5, 0.6, 0.7):
            pairs = {language or "all": fit.shares(left_out, threshold, language) for language in (*LANGUAGES, None)}
            print(f"  from {threshold}:", ", ".join(f"{name} {p:.2f}/{r:.2f}" for name, (p, r) in pairs.items()))
        text += f"\n[{head}]\n" + "".join(f'"{name}" = {weight}\n' for name, weight in fit.weights.items())
    WEIGHTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
