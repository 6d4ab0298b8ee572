"""What the offline summariser gets right against human labels, beside the plain floors of the same run.

    python benchmarks/extraction_quality.py FOLDER [--split visible] [--out system.jsonl] [--set ami]

FOLDER holds the judge (``extraction_judge.py``) with SET.SPLIT.messages.jsonl and SET.SPLIT.gold.jsonl. Each conversation
becomes one SummaryInput (self = the ``is_self`` sender, UTC), is answered, checked (every quote verbatim in a cited
message, every cited number known, at most 200 words), written in the judge's shape, judged. The labelled chats of the
tests' fixtures, where present, give precision and recall per language.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline.adapters.offline.llm import OfflineLlm  # noqa: E402
from pkg_pipeline.adapters.offline.reading import count_words, language_of  # noqa: E402
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput  # noqa: E402
from pkg_pipeline.prompts.interaction_summary import Answer  # noqa: E402
from pkg_pipeline.stages.ports import LlmRequest  # noqa: E402

MOST_WORDS = 200
Row = dict[str, Any]


def source_of(key: str, rows: list[Row], timezone: str = "UTC") -> SummaryInput:
    """One conversation of import lines as the stage would hand it to the model."""
    people: dict[str, Person] = {}
    for row in rows:
        sender = row["sender_id"]
        people.setdefault(
            sender, Person(uuid5(NAMESPACE_URL, sender), row.get("sender_name") or sender, bool(row["is_self"]))
        )
    messages = tuple(
        SourceMessage(
            n,
            row["message_id"],
            people[row["sender_id"]],
            datetime.fromisoformat(row["sent_at"]).astimezone(UTC),
            row["text"],
        )
        for n, row in enumerate(rows, 1)
    )
    language = language_of(" ".join(m.text for m in messages)[:20_000], "en")
    return SummaryInput(
        interaction_id=uuid5(NAMESPACE_URL, key), chat_key=f"jsonl:{key}", started_at=messages[0].sent_at, ended_at=messages[-1].sent_at,
        participants=tuple(people.values()), messages=messages, language=language, timezone=timezone, input_hash=key,
    )  # fmt: skip


def request_of(source: SummaryInput) -> LlmRequest:
    return LlmRequest("interaction_summary", "", "", "", {}, 4096, source)


def problems_of(answer: Answer, source: SummaryInput) -> Iterator[str]:
    """What a gate would object to."""
    texts = {m.number: m.text for m in source.messages}
    for part in (*answer.decisions, *answer.action_items, *answer.facts):
        if not set(part.message_ids) <= texts.keys():
            yield "unknown message number"
        elif not any(part.quote in texts[n] for n in part.message_ids):
            yield f"quote not verbatim: {part.quote[:60]}"
    if not set(answer.important_message_ids) <= texts.keys():
        yield "unknown important message"
    if count_words(answer.summary) > MOST_WORDS:
        yield f"summary of {count_words(answer.summary)} words"


def judged_shape(key: str, answer: Answer, source: SummaryInput) -> Row:
    ids = {m.number: m.external_id for m in source.messages}

    def item(part: Any, *more: str) -> Row:
        out = {"description": part.description, "quote": part.quote, "message_ids": [ids[n] for n in part.message_ids]}
        return out | {name: getattr(part, name) for name in more}

    return {
        "conversation_id": key,
        "summary": answer.summary,
        "decisions": [item(d) for d in answer.decisions],
        "action_items": [item(a, "owner") for a in answer.action_items],
        "important_message_ids": [ids[n] for n in answer.important_message_ids],
    }


def conversations(folder: Path, name: str, split: str) -> dict[str, list[Row]]:
    talks: dict[str, list[Row]] = {}
    with (folder / f"{name}.{split}.messages.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            talks.setdefault(row["chat_id"], []).append(row)
    return talks


def run_system(talks: dict[str, list[Row]]) -> tuple[list[Row], list[str], list[float]]:
    llm = OfflineLlm()
    rows: list[Row] = []
    problems: list[str] = []
    seconds: list[float] = []
    for key, messages in talks.items():
        source = source_of(key, messages)
        begun = time.perf_counter()
        reply = llm.complete(request_of(source))
        seconds.append(time.perf_counter() - begun)
        answer = Answer.model_validate_json(reply.text)
        problems += [f"{key}: {p}" for p in problems_of(answer, source)]
        rows.append(judged_shape(key, answer, source))
    return rows, problems, seconds


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="visible")
    parser.add_argument("--set", action="append", help="default: all that are there")
    parser.add_argument("--out", type=Path, help="also write the answers here, as the judge reads them")
    parser.add_argument("--no-floors", action="store_true")
    args = parser.parse_args(argv)
    sys.path.insert(0, str(args.folder))
    judge = importlib.import_module("extraction_judge")
    written: list[Row] = []
    failed = 0
    for name in args.set or judge.SETS:
        if not (args.folder / f"{name}.{args.split}.gold.jsonl").exists():
            continue
        rows, problems, seconds = run_system(conversations(args.folder, name, args.split))
        written += rows
        split = judge.Split.load(args.folder, name, args.split)
        reports = {"offline": judge.Report(split, {row["conversation_id"]: row for row in rows})}
        if not args.no_floors:
            reports |= judge.baselines(split)
        judge.show(f"{name}.{args.split}", split, reports)
        print(
            f"\n{len(rows)} conversations, {sum(seconds):.2f} s in all, slowest {max(seconds):.2f} s, {len(problems)} problems"
        )
        for problem in problems[:20]:
            print("  PROBLEM", problem)
        failed += len(problems)
    if args.out:
        args.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
