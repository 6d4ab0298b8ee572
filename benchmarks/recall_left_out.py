"""Recall with weights that were chosen without the corpus they are measured on, beside the plain ways.

    python -m benchmarks recall_left_out
    python benchmarks/recall_left_out.py [--cache FILE]

For each kind of talk in turn the weights of the ranking are chosen on all others (``fitted``: one after the other, from
a grid, until none gets better; every corpus counts alike, so does every budget), and recall prints its blocks with
them. LoCoMo's licence allows measuring only: it is in no choice. The last lines say which weights all the others
choose together, and what is in force. Hits as in ``recall_everywhere``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.recall_cases import Case, Kept, cases, measured  # noqa: E402
from benchmarks.recall_everywhere import BUDGETS, evaluate, plain_systems, recall_system  # noqa: E402
from benchmarks.recall_in_memory import CachedEmbedder, CorpusInMemory  # noqa: E402
from benchmarks.recall_sets import corpora  # noqa: E402
from pkg_pipeline.memory.recall.ranking import LOOKS, RankingRules  # noqa: E402
from pkg_pipeline.stages.recall.stage import RecallSettings  # noqa: E402

GRID: dict[str, tuple[float, ...]] = {
    "lexical": (0.4, 0.6, 0.8, 1.0, 1.3, 1.6),
    "neighbours": (0.0, 0.1, 0.2, 0.3, 0.4, 0.6),
    "speaker": (0.0, 0.1, 0.2, 0.35, 0.5, 0.7),
    "repeat": (0.0, 0.015, 0.04, 0.08),
    "period": (0.0, 0.2, 0.4, 0.6, 0.8),
    "relation": (0.0, 0.15, 0.3, 0.5),
    "dated": (0.0, 0.05, 0.1, 0.2),
    "looks": (0.0, 0.5, 1.0, 1.5),
}
START = RankingRules(lexical=1.0, speaker=0.0, period=0.0, dated=0.0, relation=0.0, repeat=0.0, neighbours=0.0)
"""Nothing but both scores, so that no earlier choice is handed on."""
LEAST_GAIN = 0.02
MOST_QUESTIONS = 60
"""Points: less is no reason to move a weight. Of a big corpus every n-th question takes part in a choice."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Weights, ``looks`` as a multiple of those in force."""

    rules: RankingRules = START
    looks: float = 0.0

    def but(self, weight: str, size: float) -> Choice:
        if weight == "looks":
            return replace(self, looks=size)
        return replace(self, rules=replace(self.rules, **{weight: size}))

    def whole(self) -> RankingRules:
        return replace(self.rules, looks={wish: self.looks * size for wish, size in LOOKS.items()})

    def told(self) -> str:
        return " ".join(f"{name} {self.looks if name == 'looks' else getattr(self.rules, name):g}" for name in GRID)


Value = Callable[[str, Choice], float]


def valued(sets: Mapping[str, Sequence[Case]]) -> Value:
    """The mean hit of a corpus over its questions and all budgets, in percent, each reckoned once."""
    known: dict[tuple[str, str], float] = {}
    kept: dict[str, Kept] = {name: {} for name in sets}

    def value(name: str, choice: Choice) -> float:
        key = name, choice.told()
        if key not in known:
            known[key] = measured(sets[name], kept[name], choice.rules, choice.looks)
        return known[key]

    return value


def fitted(value: Value, names: Sequence[str]) -> Choice:
    """The weights that serve these corpora best, by coordinates."""

    def mean(choice: Choice) -> float:
        return sum(value(name, choice) for name in names) / len(names)

    choice, is_moved = Choice(), True
    best = mean(choice)
    while is_moved:
        is_moved = False
        for weight, grid in GRID.items():
            for size in grid:
                other = choice.but(weight, size)
                if (found := mean(other)) > best + LEAST_GAIN:
                    choice, best, is_moved = other, found, True
    return choice


def kin(name: str) -> str:
    """What is left out together: the questions to one text."""
    return name.rsplit("_", 1)[1] if "_" in name else f"own {name}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recall_vectors.npz")
    given = parser.parse_args(argv)
    embedder = CachedEmbedder(given.cache)
    told_of = {corpus.name: corpus for corpus in corpora()}
    sets = {name: cases(corpus, embedder) for name, corpus in told_of.items() if not corpus.is_for_measuring}
    value = valued({name: given[:: -(-len(given) // MOST_QUESTIONS)] for name, given in sets.items()})
    print("| hit at " + " / ".join(map(str, BUDGETS)) + " | questions | plain | weights chosen without it | in force |")
    print("| --- | ---: | ---: | ---: | ---: |")
    chosen: dict[str, Choice] = {}
    for name, corpus in told_of.items():
        others = [other for other in sets if kin(other) != kin(name)]
        chosen[name] = fitted(value, others)
        plain = [evaluate(one, corpus.questions) for one in plain_systems(corpus, embedder).values()]
        memory = CorpusInMemory(corpus.said, embedder)
        embedder.save()
        ours = [
            evaluate(recall_system(memory, RecallSettings(ZoneInfo("UTC"), ranking=rules)), corpus.questions)
            for rules in (chosen[name].whole(), RankingRules())
        ]
        cells = [" / ".join(f"{max(one.mean(budget) for one in plain):.1f}" for budget in BUDGETS)]
        cells += [" / ".join(f"{one.mean(budget):.1f}" for budget in BUDGETS) for one in ours]
        print(f"| {name} | {len(corpus.questions)} | " + " | ".join(cells) + " |", flush=True)
    print()
    for name, choice in chosen.items():
        print(f"- without {name}: {choice.told()}")
    print(f"- on all: {fitted(value, list(sets)).told()}\n- in force: {Choice(RankingRules(), 1.0).told()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
