"""Recall on talk of several kinds, beside the plain ways, in memory: all figures in a minute once vectors are kept.

    python -m benchmarks recall_everywhere
    python benchmarks/recall_everywhere.py [--only qmsum …] [--cache FILE] [--kinds] [--rows FILE]

``hit``: the share of a question's evidence that is named by the answer and of whose words 80 % stand in its block of at
most N tokens, in runs of three words (Chinese: of three characters), averaged over the questions, in percent. The plain
ways: BM25 and the same multilingual vectors fused by rank over passages of a hundred words, each alone, and each
behind the one before it; ``plain`` is the better of the two at each budget. ``recall`` is the product's stage over a
store in memory that searches exactly; the database is asked by ``recall_quality`` and ``recall_languages``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import recall_floors as floors  # noqa: E402
from benchmarks.recall_in_memory import COUNTER, CachedEmbedder, CorpusInMemory, Said  # noqa: E402
from benchmarks.recall_sets import Asked, Corpus, corpora  # noqa: E402
from pkg_pipeline.memory import hashing  # noqa: E402
from pkg_pipeline.memory.languages.scripts import HAN  # noqa: E402
from pkg_pipeline.stages.recall.stage import RecallRequest, RecallSettings, recall  # noqa: E402

BUDGETS = (500, 1000, 2000, 4100)
COVERAGE = 0.8
RUN = 3
PLAIN = ("passages alone", "behind the one before")
_WORD = re.compile(rf"[{HAN}]|[^\W{HAN}]+")

System = Callable[[Asked, int], tuple[str, list[str]]]


@dataclass(slots=True)
class Scores:
    """Per budget the hit, the tokens of each question, and the milliseconds spent."""

    hits: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seconds: float = 0.0

    def mean(self, budget: int, places: Sequence[int] | None = None) -> float:
        found = self.hits[budget]
        chosen = range(len(found)) if places is None else places
        return 100 * sum(found[place] for place in chosen) / max(1, len(chosen))


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def runs(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[at : at + size]) for size in range(1, RUN + 1) for at in range(len(tokens) - size + 1)}


def coverage(tokens: Sequence[str], block: set[tuple[str, ...]]) -> float:
    """Share of the words that stand in the block inside a run of them."""
    size = min(RUN, len(tokens))
    covered: set[int] = set()
    for at in range(len(tokens) - size + 1):
        if tuple(tokens[at : at + size]) in block:
            covered.update(range(at, at + size))
    return len(covered) / len(tokens) if tokens else 1.0


def evaluate(system: System, questions: Sequence[Asked], budgets: Sequence[int] = BUDGETS) -> Scores:
    scores = Scores()
    started = time.perf_counter()
    for one in questions:
        for budget in budgets:
            text, keys = system(one, budget)
            block, named = runs(words(text)), set(keys)
            found = [key in named and coverage(words(said), block) >= COVERAGE for key, said in one.evidence]
            scores.hits[budget].append(sum(found) / len(found))
            scores.tokens[budget].append(COUNTER.count(text))
    scores.seconds = time.perf_counter() - started
    return scores


def newest_first(system: System, questions: Sequence[Asked], budget: int = 1000) -> tuple[int, int, int, int, int]:
    """Of the questions for what holds now: how many, whose newest message is in the first place, is named at all;
    and of those with an older value: how many, and where the newest stands before it (or it alone is named).
    """
    first = named = older = before = count = 0
    for one in questions:
        if one.kind != "newest":
            continue
        _, keys = system(one, budget)
        places = [keys.index(key) for key, _ in one.evidence if key in keys]
        others = [keys.index(key) for key, _ in one.before if key in keys]
        count, first, named = count + 1, first + (0 in places), named + bool(places)
        if one.before:
            older, before = older + 1, before + (bool(places) and min(places) < min(others, default=len(keys)))
    return count, first, named, older, before


def recall_system(memory: CorpusInMemory, settings: RecallSettings | None = None) -> System:
    parts = memory.parts(settings)

    def ask(one: Asked, budget: int) -> tuple[str, list[str]]:
        chat = None if one.chat is None else hashing.chat_id("jsonl", one.chat)
        block = recall(parts, RecallRequest(one.question, one.at, chat_id=chat, max_tokens=budget)).block
        return block.text, [key for line in block.lines for key in line.ranked.candidate.message_ids]

    return ask


def plain_systems(corpus: Corpus, embedder: CachedEmbedder) -> dict[str, System]:
    """The plain ways over each chat that is asked in, or over everything."""
    within: dict[str | None, list[Said]] = defaultdict(list)
    scopes = {one.chat for one in corpus.questions}
    for one in corpus.said:
        for scope in scopes & {None, one.chat}:
            within[scope].append(one)
    made = {scope: _plain_rankings(said, embedder) for scope, said in within.items()}
    return {name: _packed(made, name) for name in PLAIN}


def _plain_rankings(said: Sequence[Said], embedder: CachedEmbedder) -> tuple[floors.Packer, dict[str, floors.Ranking]]:
    rows: list[floors.Row] = [
        {
            "source": one.source,
            "chat_id": one.chat,
            "message_id": one.id,
            "sender_id": one.speaker,
            "sent_at": one.at.isoformat(),
            "text": one.text[start:end],
        }
        for one in sorted(said, key=lambda one: one.at)
        for start, end in floors.hundreds_of_words(one.text)
    ]
    texts = [f"{row['sender_id']}: {row['text']}" for row in rows]
    behind = [f"{before}\n{text}" for before, text in zip(floors.before_each(rows, texts), texts, strict=True)]
    rankings = {
        name: floors.fused(floors.bm25(indexed), floors.vectors(indexed, lambda few: embedder.embed(few)))
        for name, indexed in zip(PLAIN, (texts, behind), strict=True)
    }
    return floors.Packer(rows, COUNTER.count), rankings


def _packed(made: dict[str | None, tuple[floors.Packer, dict[str, floors.Ranking]]], name: str) -> System:
    orders: dict[tuple[str | None, str], Sequence[int]] = {}

    def ask(one: Asked, budget: int) -> tuple[str, list[str]]:
        packer, rankings = made[one.chat]
        key = (one.chat, one.question)
        if key not in orders:
            orders[key] = rankings[name](one.question)
        return packer.pack(orders[key], budget)

    return ask


def show(corpus: Corpus, results: dict[str, Scores], *, by_kind: bool) -> None:
    print(
        f"| {corpus.name}, {len(corpus.questions)} questions | " + " | ".join(map(str, BUDGETS)) + " | tokens of 1000 |"
    )
    print("| --- |" + " ---: |" * (len(BUDGETS) + 1))
    for name, scores in results.items():
        cells = " | ".join(f"{scores.mean(budget):.1f}" for budget in BUDGETS)
        mean = sum(scores.tokens[1000]) / max(1, len(scores.tokens[1000]))
        print(f"| {name} | {cells} | {mean:.0f} |")
    ours = results["recall"]
    best = {budget: max(results[name].mean(budget) for name in PLAIN) for budget in BUDGETS}
    print("| **recall less plain** | " + " | ".join(f"{ours.mean(one) - best[one]:+.1f}" for one in BUDGETS) + " | |")
    if by_kind:
        kinds: dict[str, list[int]] = defaultdict(list)
        for place, one in enumerate(corpus.questions):
            kinds[one.kind].append(place)
        for kind, places in kinds.items():
            cells = []
            for budget in BUDGETS:
                plain = max(results[name].mean(budget, places) for name in PLAIN)
                cells.append(f"{ours.mean(budget, places):.0f} / {plain:.0f}")
            print(f"| {kind} ({len(places)}), recall / plain | " + " | ".join(cells) + " | |")
    print(flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of corpora; default: all")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recall_vectors.npz")
    parser.add_argument("--kinds", action="store_true", help="by kind of question, too")
    parser.add_argument("--rows", type=Path, help="write every question's result here, one JSON line each")
    given = parser.parse_args(argv)
    embedder = CachedEmbedder(given.cache)
    rows: list[dict[str, object]] = []
    for corpus in corpora(given.only):
        results = {name: evaluate(one, corpus.questions) for name, one in plain_systems(corpus, embedder).items()}
        embedder.save()
        ours = recall_system(CorpusInMemory(corpus.said, embedder))
        results["recall"] = evaluate(ours, corpus.questions)
        embedder.save()
        show(corpus, results, by_kind=given.kinds)
        for name, system in (("recall", ours), *plain_systems(corpus, embedder).items()):
            count, first, named, older, before = newest_first(system, corpus.questions)
            if count:
                print(
                    f"- {name}, newest values within 1000 tokens: {first} of {count} in the first place, "
                    f"{named} named; {before} of {older} before the older one"
                )
        print()
        for place, one in enumerate(corpus.questions):
            hits = {
                f"{name} {budget}": scores.hits[budget][place] for name, scores in results.items() for budget in BUDGETS
            }
            rows.append({"corpus": corpus.name, "question": one.question, "kind": one.kind, **hits})
    if given.rows:
        given.rows.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
