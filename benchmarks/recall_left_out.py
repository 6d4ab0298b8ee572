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
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.recall_cases import Case, cases, measured  # noqa: E402
from benchmarks.recall_everywhere import BUDGETS, evaluate, plain_systems, recall_system  # noqa: E402
from benchmarks.recall_in_memory import CachedEmbedder, CorpusInMemory  # noqa: E402
from benchmarks.recall_sets import corpora  # noqa: E402
from pkg_pipeline.memory.recall.ranking import RankingRules, ranked  # noqa: E402
from pkg_pipeline.stages.recall.stage import RecallSettings  # noqa: E402

GRID: dict[str, tuple[float, ...]] = {
    "lexical": (0.4, 0.6, 0.8, 1.0, 1.3, 1.6),
    "neighbours": (0.0, 0.1, 0.2, 0.3, 0.4, 0.6),
    "speaker": (0.0, 0.1, 0.2, 0.35, 0.5, 0.7),
    "repeat": (0.0, 0.015, 0.04, 0.08),
    "period": (0.0, 0.2, 0.4, 0.6, 0.8),
    "relation": (0.0, 0.15, 0.3, 0.5),
    "dated": (0.0, 0.05, 0.1, 0.2),
}
START = RankingRules(lexical=1.0, speaker=0.0, period=0.0, dated=0.0, relation=0.0, repeat=0.0, neighbours=0.0)
"""Nothing but both scores, so that no earlier choice is handed on."""
LEAST_GAIN = 0.02
MOST_QUESTIONS = 100
"""Points: less is no reason to move a weight. Of a big corpus every n-th question takes part in a choice."""

Value = Callable[[str, RankingRules], float]


def valued(sets: Mapping[str, Sequence[Case]]) -> Value:
    """The mean hit of a corpus over its questions and all budgets, in percent, each reckoned once."""
    known: dict[tuple[str, str], float] = {}

    def value(name: str, rules: RankingRules) -> float:
        key = name, repr(rules)
        if key not in known:
            found = measured(sets[name], lambda few, asked: ranked(few, asked, rules))
            known[key] = 100 * sum(sum(one.values()) for one in found) / len(found) / len(BUDGETS)
        return known[key]

    return value


def fitted(value: Value, names: Sequence[str]) -> RankingRules:
    """The weights that serve these corpora best, by coordinates."""

    def mean(rules: RankingRules) -> float:
        return sum(value(name, rules) for name in names) / len(names)

    rules, best, is_moved = START, mean(START), True
    while is_moved:
        is_moved = False
        for weight, grid in GRID.items():
            for size in grid:
                other = replace(rules, **{weight: size})
                if (found := mean(other)) > best + LEAST_GAIN:
                    rules, best, is_moved = other, found, True
    return rules


def kin(name: str) -> str:
    """What is left out together: the questions to one text."""
    return name.split("_", 1)[1] if "_" in name else f"own {name}"


def told(rules: RankingRules) -> str:
    return " ".join(f"{weight} {getattr(rules, weight):g}" for weight in GRID)


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
    chosen: dict[str, RankingRules] = {}
    for name, corpus in told_of.items():
        others = [other for other in sets if kin(other) != kin(name)]
        chosen[name] = fitted(value, others)
        plain = [evaluate(one, corpus.questions) for one in plain_systems(corpus, embedder).values()]
        memory = CorpusInMemory(corpus.said, embedder)
        embedder.save()
        ours = [
            evaluate(recall_system(memory, RecallSettings(ZoneInfo("UTC"), ranking=rules)), corpus.questions)
            for rules in (chosen[name], RankingRules())
        ]
        cells = [" / ".join(f"{max(one.mean(budget) for one in plain):.1f}" for budget in BUDGETS)]
        cells += [" / ".join(f"{one.mean(budget):.1f}" for budget in BUDGETS) for one in ours]
        print(f"| {name} | {len(corpus.questions)} | " + " | ".join(cells) + " |", flush=True)
    print()
    for name, rules in chosen.items():
        print(f"- without {name}: {told(rules)}")
    print(f"- on all: {told(fitted(value, list(sets)))}\n- in force: {told(RankingRules())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
