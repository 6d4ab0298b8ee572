"""The head of facts: how probable it is that a candidate is a fact and of whom it is said to be (P13).

One logistic head a kind, over the features of the rules, the vector of the line and that of the value alone, for every
language. The weights are in ``facts.npz``, fitted by ``make train``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from pkg_pipeline.offline.facts.candidates import SURE_RULE, WEIGHED, Candidate
from pkg_pipeline.offline.facts.found import FactKind, FoundFact
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.line_head import MOST_CHARS, Embed, Floats, matrix
from pkg_pipeline.offline.reading import Reading

FURTHEST: Final = 5.0
"""Log-odds beyond it say nothing more."""
DECIMALS: Final = 2
SURE: Final = 0.9
"""How sure what is shown is at least: so many of those from the threshold on are right on accounts left out."""
UNSURE: Final = 0.85
LEAST: Final = 0.5
"""Less sure is not even a candidate."""


@dataclass(frozen=True)
class FactHead:
    """Weights of the features by ``names``, then of the vectors; from ``threshold`` on a candidate may be shown, from
    ``RULED`` on one that a rule is sure of.
    """

    names: tuple[str, ...]
    weights: Floats
    threshold: float
    ruled: float

    def is_shown(self, features: Named, chance: float) -> bool:
        return chance >= (self.ruled if features.get(SURE_RULE) else self.threshold)

    def chances(self, rows: Sequence[Named], vectors: Floats) -> Floats:
        """Of each candidate, 0 to 1."""
        log_odds = np.hstack([matrix(rows, self.names), vectors]) @ self.weights
        return np.round(1 / (1 + np.exp(-np.clip(log_odds, -FURTHEST, FURTHEST))), DECIMALS)


@cache
def heads() -> Mapping[FactKind, FactHead]:
    with files("pkg_pipeline.offline").joinpath("facts.npz").open("rb") as stream, np.load(stream) as found:
        return {
            kind: FactHead(
                tuple(found[f"{kind}: names"].tolist()),
                found[f"{kind}: weights"].astype(np.float64),
                *found[f"{kind}: thresholds"].tolist(),
            )
            for kind in WEIGHED
        }


def weighed(reading: Reading, candidates: Sequence[Candidate], embed: Embed) -> list[FoundFact]:
    """Of each value whose it most probably is, with that chance; what may be shown is at least ``SURE``."""
    best: dict[int, FoundFact] = {}
    vectors = vectors_of(candidates, reading, embed) if candidates else np.zeros((0, 0))
    for kind, head in heads().items():
        places = [place for place, one in enumerate(candidates) if one.fact.kind == kind]
        if not places:
            continue
        told = [candidates[place] for place in places]
        chances = head.chances([one.features for one in told], vectors[places])
        for one, chance in zip(told, chances.tolist(), strict=True):
            sure = max(chance, SURE) if head.is_shown(one.features, chance) else min(chance, UNSURE)
            if sure > (best[one.value].confidence if one.value in best else LEAST):
                best[one.value] = replace(one.fact, confidence=round(sure, DECIMALS))
    return list(best.values())


def vectors_of(told: Sequence[Candidate], reading: Reading, embed: Embed) -> Floats:
    """The vector of each candidate's line, then that of its value."""
    lines = [reading.lines[one.fact.sentence.line].message.text for one in told]
    return both_vectors(lines, [one.fact.value for one in told], embed)


def both_vectors(lines: Sequence[str], values: Sequence[str], embed: Embed) -> Floats:
    """The vector of each line beside that of its value, each distinct text embedded once."""
    texts = [text[:MOST_CHARS] for text in (*lines, *values)]
    distinct = list(dict.fromkeys(texts))
    known = dict(zip(distinct, embed(distinct), strict=True))
    found = np.array([known[text] for text in texts], dtype=np.float64)
    return np.hstack([found[: len(lines)], found[len(lines) :]])
