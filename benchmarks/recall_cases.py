"""Questions with their candidates kept, so that a change of the ranking is measured without searching again.

The hit is reckoned from what a line costs and how much of the evidence it says; blocks are not printed. It stays within
a point of the printed ones of ``recall_everywhere``, and a set of weights costs a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log1p

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall_everywhere import BUDGETS, COVERAGE, RUN, runs, words
from benchmarks.recall_in_memory import COUNTER, CachedEmbedder, CorpusInMemory
from benchmarks.recall_sets import Asked, Corpus
from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.recall.ranking import AskedFor, RankingRules, ranked
from pkg_pipeline.memory.recall.records import Candidate
from pkg_pipeline.stages.recall.stage import RecallRequest, search

Floats = NDArray[np.float64]
Kept = dict[tuple[int, float], "Weighable"]

WEIGHED = ("looks", "neighbours", "speaker", "period", "relation", "dated")
UNITS = RankingRules(speaker=1.0, period=1.0, dated=1.0, relation=1.0, neighbours=1.0, repeat=0.0, alone=0.0)
HEADING_TOKENS = 9
LEAST_TOKENS = 3
MOST = 4100


@dataclass(frozen=True, slots=True)
class Case:
    """``says``: of a candidate by its ``no``, which evidence, and the places of its words."""

    one: Asked
    candidates: tuple[Candidate, ...]
    asked: AskedFor
    tokens: dict[int, int]
    says: dict[int, tuple[int, frozenset[int]]]
    lengths: tuple[int, ...]


def cases(corpus: Corpus, embedder: CachedEmbedder) -> list[Case]:
    """Every question of a corpus, searched once."""
    parts = CorpusInMemory(corpus.said, embedder).parts()
    found: list[Case] = []
    for one in corpus.questions:
        chat = None if one.chat is None else hashing.chat_id("jsonl", one.chat)
        given = search(parts, RecallRequest(one.question, one.at, chat_id=chat, max_tokens=MOST))
        found.append(_case(one, given.candidates, given.asked))
    return found


def _case(one: Asked, candidates: tuple[Candidate, ...], asked: AskedFor) -> Case:
    evidence = [words(text) for _, text in one.evidence]
    by_key = {key: place for place, (key, _) in enumerate(one.evidence)}
    says = {
        entry.no: (by_key[key], _places(evidence[by_key[key]], entry.text))
        for entry in candidates
        for key in entry.message_ids[:1]
        if key in by_key
    }
    tokens = {entry.no: _tokens(f"- {entry.speaker}: {' '.join(entry.text.split())}\n") for entry in candidates}
    return Case(one, candidates, asked, tokens, says, tuple(map(len, evidence)))


@lru_cache(maxsize=200_000)
def _tokens(line: str) -> int:
    return COUNTER.count(line)


def _places(tokens: Sequence[str], text: str) -> frozenset[int]:
    """Which words of the evidence stand in a text inside a run of them."""
    size, said = min(RUN, len(tokens)), runs(words(text))
    return frozenset(
        at + step
        for at in range(len(tokens) - size + 1)
        if tuple(tokens[at : at + size]) in said
        for step in range(size)
    )


@dataclass(frozen=True, slots=True)
class Weighable:
    """Each candidate's parts unweighted by name, and the place of its talk."""

    candidates: tuple[Candidate, ...]
    base: Floats
    parts: dict[str, Floats]
    talks: tuple[int, ...]


def weighable(case: Case, lexical: float) -> Weighable:
    """The parts as the ranking reckons them; what neighbours lend rests on the weight of words."""
    order = ranked(case.candidates, case.asked, replace(UNITS, lexical=lexical))
    found = tuple(entry.candidate for entry in order)
    parts = {name: np.zeros(len(order)) for name in WEIGHED}
    base = np.zeros(len(order))
    for place, entry in enumerate(order):
        for name, value in entry.parts:
            (parts.get(name, base))[place] += value
    numbers: dict[object, int] = {}
    talks = tuple(numbers.setdefault(one.interaction_id, len(numbers)) for one in found)
    return Weighable(found, base, parts, talks)


def order_of(given: Weighable, rules: RankingRules, looks: float) -> list[Candidate]:
    """The candidates by these weights; ``looks``: times the weights in force."""
    scores = given.base + looks * given.parts["looks"]
    for name in WEIGHED[1:]:
        scores = scores + getattr(rules, name) * given.parts[name]
    best_first = np.argsort(-scores, kind="stable")
    heard: Counter[int] = Counter()
    for place in best_first:
        talk = given.talks[place]
        scores[place] -= rules.repeat * log1p(heard[talk])
        heard[talk] += 1
    return [given.candidates[place] for place in np.argsort(-scores, kind="stable")]


def hit(case: Case, order: Sequence[Candidate], budget: int) -> float:
    """The share of the evidence in a block of the first lines that fit."""
    left, days, said = budget, set[tuple[str, str]](), dict[int, set[int]]()
    for one in order:
        day = one.chat.external_id, one.at.date().isoformat()
        cost = case.tokens[one.no] + (0 if day in days else HEADING_TOKENS)
        if cost > left:
            continue
        left -= cost
        days.add(day)
        if one.no in case.says:
            place, covered = case.says[one.no]
            said.setdefault(place, set()).update(covered)
        if left < LEAST_TOKENS:
            break
    found = [len(said.get(place, ())) >= COVERAGE * length for place, length in enumerate(case.lengths)]
    return sum(found) / len(found)


def measured(given: Sequence[Case], kept: Kept, rules: RankingRules, looks: float) -> float:
    """The mean hit over questions and budgets, in percent."""
    total = 0.0
    for number, case in enumerate(given):
        key = number, rules.lexical
        if key not in kept:
            kept[key] = weighable(case, rules.lexical)
        order = order_of(kept[key], rules, looks)
        total += sum(hit(case, order, budget) for budget in BUDGETS)
    return 100 * total / len(given) / len(BUDGETS)
