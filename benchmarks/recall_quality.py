"""Recall on LoCoMo: does the block hold the messages that hold the answer, within the budget? No language model.

    python -m benchmarks recall_quality
    python benchmarks/recall_quality.py [--eval FOLDER] [--data FILE] [--split dev] [--no-context] [--rows FILE]

The conversations go through the importer into a memory of their own, which is asked through ``recall`` and through a
context with a hint. Beside it, in the same run, the plain ways: newest first, BM25, vectors, and the best of them, BM25
and the same multilingual vectors fused by rank, each message indexed with the one before it. ``hit``: share of a
question's evidence messages that are named and of whose words 80 % stand in the block, in percent. The interval is a
paired bootstrap over questions of ours against that best one (10,000 draws, seed 7). Scoring and baselines are those of
the folder ``eval`` that lies beside the checkout with its data; where it is not, this skips and says so.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline.adapters.postgres import engine  # noqa: E402
from pkg_pipeline.adapters.postgres.migrations import migrate  # noqa: E402
from pkg_pipeline.adapters.server import embedded  # noqa: E402
from pkg_pipeline.adapters.text.tokens import table_path  # noqa: E402
from pkg_pipeline.memory.hashing import chat_id, parse_message_key  # noqa: E402
from pkg_pipeline.settings import Settings  # noqa: E402
from pkg_pipeline.stages.ports import Billing  # noqa: E402
from pkg_pipeline.wiring import Memory, PinnedClock  # noqa: E402

EVAL = ROOT.parent / "shared" / "eval"
BUDGETS = (1000, 2000, 4100)
BEST = "hybrid, each with the one before"
BASELINES: dict[str, tuple[str, dict[str, str]]] = {
    "newest first": ("recent", {}),
    "BM25": ("bm25", {}),
    "vectors": ("vector", {"embedder": "use"}),
    BEST: ("hybrid", {"embedder": "use", "context": "1"}),
}
TABLE_URL = b"https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""The name under which tiktoken looks for its table in TIKTOKEN_CACHE_DIR: the digest of where it would fetch it."""

Rows = dict[int, list[dict[str, float]]]


def tokenizer_table(folder: Path) -> None:
    """Put the vocabulary where tiktoken finds it without a network."""
    (folder / hashlib.sha1(TABLE_URL, usedforsecurity=False).hexdigest()).write_bytes(
        gzip.decompress(table_path().read_bytes())
    )
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)


@contextmanager
def memory_of(conversations: list[Any], folder: Path, *, summaries: bool) -> Iterator[Memory]:
    """A memory with the conversations in it, indexed as ``pkg-pipeline run`` would."""
    last = max(datetime.fromisoformat(one.messages[-1].sent_at) for one in conversations).replace(tzinfo=UTC)
    settings = Settings(home=folder / "home", llm="offline", receipts=False)
    exported = folder / "locomo.jsonl"
    with exported.open("w", encoding="utf-8") as stream:
        for one in conversations:
            for message in one.messages:
                row = {
                    "chat_id": one.id,
                    "chat_kind": "direct",
                    "message_id": message.id,
                    "sender_id": f"{one.id} {message.speaker}",
                    "sender_name": message.speaker,
                    "sent_at": f"{message.sent_at}+00:00",
                    "text": message.text,
                }
                stream.write(json.dumps(row) + "\n")
    url = embedded.start(folder / "postgres")
    try:
        migrate.upgrade(url)
        clock = PinnedClock(last + timedelta(days=30))
        memory = Memory(settings, url=url, connections=engine.pool(url, size=4), clock=clock)
        try:
            memory.import_path(exported, self_rule="none")
            memory.build_interactions()
            if summaries:
                first = datetime.fromisoformat(min(one.messages[0].sent_at for one in conversations)).date()
                memory.summarize((first, last.date()), Billing("backfill"))
            first = datetime.fromisoformat(min(one.messages[0].sent_at for one in conversations)).date()
            memory.chunks.build((first, last.date()))
            yield memory
        finally:
            memory.close()
    finally:
        embedded.stop(folder / "postgres")


def name_of(key: str) -> str:
    """From one of our message keys to the id in the data."""
    return parse_message_key(key).message_external_id


def recall_retriever(memory: Memory, judge: Any) -> Callable[[Any], Any]:
    def retrieve(request: Any) -> Any:
        answer = memory.recall.search(
            request.question,
            chat_id=chat_id("jsonl", request.conversation_id),
            max_tokens=request.budget_tokens,
            as_of=None,
        )
        keys = [name_of(key) for line in answer.block.lines for key in line.ranked.candidate.message_ids]
        return judge.Response(answer.block.text, keys)

    return retrieve


def rows_of(judge: Any, conversations: list[Any], retriever: Any, budgets: tuple[int, ...] = BUDGETS) -> Rows:
    return {
        budget: [row for one in conversations for row in judge.score(one, retriever, budget, "o200k_base")]
        for budget in budgets
    }


def interval(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> tuple[float, float]:
    """95 % of the paired difference of means, in points."""
    difference = np.array([mine["hit"] - other["hit"] for mine, other in zip(ours, theirs, strict=True)])
    draws = np.random.default_rng(7).integers(0, len(difference), (10_000, len(difference)))
    low, high = np.quantile(difference[draws].mean(axis=1), [0.025, 0.975])
    return 100 * float(low), 100 * float(high)


def line_of(judge: Any, name: str, rows: Rows) -> str:
    cells = [f"{name:36s}"]
    for budget, scores in rows.items():
        row = judge.summarise(budget, scores)
        kinds = " ".join(f"{row[kind]:5.1f}" for kind in judge.CATEGORIES.values())
        cells.append(f"{row['hit']:5.1f} [{kinds}]")
    return " | ".join(cells)


def context_rows(memory: Memory, judge: Any, conversations: list[Any], baseline: Any) -> tuple[Rows, Rows, list[int]]:
    """The relevant tier of contexts with a hint, and the baseline at as many tokens as that tier took."""
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    spent: list[int] = []
    for one in conversations:
        speaker = one.messages[0].speaker
        entity = next(
            e for e in memory.reads.entities_named(speaker, exact=True, limit=50) if one.id in e.identities[0]
        )
        sizes: dict[str, int] = {}

        def retrieve(request: Any, entity: Any = entity, sizes: dict[str, int] = sizes) -> Any:
            answer = memory.context(entity.id, max_tokens=4100, as_of=None, hint=request.question)
            tier = next(tier for tier in answer.block.tiers if tier.tier == "relevant")
            text = "".join(f"- {item.text}\n" for item in tier.items)
            sizes[request.question] = tier.tokens
            return judge.Response(text, [name_of(key) for item in tier.items for key in item.message_ids])

        def at_its_size(request: Any, sizes: dict[str, int] = sizes) -> Any:
            from dataclasses import replace

            return baseline(replace(request, budget_tokens=sizes[request.question]))

        ours += list(judge.score(one, retrieve, 4100, "o200k_base"))
        theirs += list(judge.score(one, at_its_size, 4100, "o200k_base"))
        spent += [sizes[question.text] for question in one.questions]
    return {4100: ours}, {4100: theirs}, spent


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--eval", type=Path, default=EVAL, help="where locomo_recall.py and baselines.py are")
    parser.add_argument("--data", type=Path, help="default: locomo_dev.json in that folder")
    parser.add_argument("--split", choices=("dev", "heldout", "all"), default="dev")
    parser.add_argument("--summaries", action="store_true", help="summarise offline first: more than messages to find")
    parser.add_argument("--no-context", action="store_true")
    parser.add_argument("--rows", type=Path, help="write every question's result here, one JSON line each")
    given = parser.parse_args(argv)
    data = given.data or given.eval / "locomo_dev.json"
    if not (given.eval / "locomo_recall.py").is_file() or not data.is_file():
        print(f"SKIPPED: {given.eval} does not hold the data and the judge of recall")
        return 0
    sys.path.insert(0, str(given.eval))
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer_table(Path(scratch))
        judge = importlib.import_module("locomo_recall")
        baselines = importlib.import_module("baselines")
        wanted = {"dev": [True], "heldout": [False], "all": [True, False]}[given.split]
        conversations = [one for one in judge.load(data) if (one.id in judge.DEV) in wanted]
        count = judge.tokenizer("o200k_base")[0]
        print(f"{'hit %, kinds: ' + ', '.join(judge.CATEGORIES.values()):60s} budgets {BUDGETS}")
        made = {
            name: getattr(baselines, kind)(conversations, count, **options)
            for name, (kind, options) in BASELINES.items()
        }
        plain = {name: rows_of(judge, conversations, retriever) for name, retriever in made.items()}
        for name, rows in plain.items():
            print(line_of(judge, name, rows), flush=True)
        started = time.perf_counter()
        with memory_of(conversations, Path(scratch), summaries=given.summaries) as memory:
            print(f"imported and indexed in {time.perf_counter() - started:.1f} s", flush=True)
            ours = rows_of(judge, conversations, recall_retriever(memory, judge))
            print(line_of(judge, "recall", ours))
            for budget in BUDGETS:
                low, high = interval(ours[budget], plain[BEST][budget])
                print(f"  at {budget}: against the best plain way {low:+.1f} … {high:+.1f} points")
            if given.rows:
                write_rows(given.rows, conversations, ours, plain[BEST])
            if not given.no_context:
                mine, theirs, spent = context_rows(memory, judge, conversations, made[BEST])
                low, high = interval(mine[4100], theirs[4100])
                print(line_of(judge, f"context --hint, its {np.mean(spent):.0f} tokens", mine))
                print(line_of(judge, "best plain way, as many tokens", theirs))
                print(f"  {low:+.1f} … {high:+.1f} points")
    return 0


def write_rows(path: Path, conversations: list[Any], ours: Rows, theirs: Rows) -> None:
    questions = [(one.id, question) for one in conversations for question in one.questions]
    with path.open("w", encoding="utf-8") as stream:
        for place, (conversation, question) in enumerate(questions):
            row = {"conversation": conversation, "question": question.text, "category": question.category}
            for budget in BUDGETS:
                row[f"ours_{budget}"] = ours[budget][place]["hit"]
                row[f"plain_{budget}"] = theirs[budget][place]["hit"]
            stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
