"""What the offline summariser gets right against human labels, beside the plain floors of the same run.

    python benchmarks/extraction_quality.py FOLDER [--split visible] [--out system.jsonl] [--set ami]

FOLDER holds the judge (``extraction_judge.py``) with SET.SPLIT.messages.jsonl and SET.SPLIT.gold.jsonl. A conversation
becomes one SummaryInput (self = the ``is_self`` sender, UTC, scored by P15), is answered, passes the gate, is written
in the judge's shape and judged; a visible talk is read by weights fitted without it. What the gate takes out is printed
and makes the exit code 1, unless the messages' own words stand in its place. The labelled chats of the tests'
fixtures, where present, give precision and recall per language.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder  # noqa: E402
from pkg_pipeline.adapters.text.tokens import TiktokenCounter  # noqa: E402
from pkg_pipeline.memory.gate.truth import AS_SAID  # noqa: E402
from pkg_pipeline.memory.items.records import ReadingInput  # noqa: E402
from pkg_pipeline.memory.message.importance import score_many  # noqa: E402
from pkg_pipeline.memory.records import (  # noqa: E402
    Person,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.summary.gate import check  # noqa: E402
from pkg_pipeline.offline.llm import OfflineLlm  # noqa: E402
from pkg_pipeline.offline.reading import language_of  # noqa: E402
from pkg_pipeline.offline.talk_items import read_talks  # noqa: E402
from pkg_pipeline.prompts.summary import Answer, to_candidates  # noqa: E402
from pkg_pipeline.stages.ports import LlmRequest  # noqa: E402

Row = dict[str, Any]
COUNTER = TiktokenCounter()
EMBEDDER = OfflineEmbedder()


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
            score.value,
            score.reason,
        )
        for n, (row, score) in enumerate(zip(rows, score_many([r["text"] for r in rows]), strict=True), 1)
    )
    language = language_of(" ".join(m.text for m in messages)[:20_000], "en")
    return SummaryInput(
        interaction_id=uuid5(NAMESPACE_URL, key),
        chat_key=f"jsonl:{key}",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=tuple(people.values()),
        messages=messages,
        language=language,
        timezone=timezone,
        input_hash=key,
    )


def request_of(source: SummaryInput) -> LlmRequest:
    return LlmRequest("interaction_summary", "", "", "", {}, 4096, source)


def judged_shape(key: str, content: SummaryContent, source: SummaryInput) -> Row:
    """The words that the gate lets through and the items of a reading, as the judge reads them."""
    ids = {message.number: message.external_id for message in source.messages}
    items = {
        kind: [row | {"message_ids": [ids[n] for n in sorted(row["numbers"])]} for row in rows]
        for kind, rows in items_of(source).items()
    }
    for row in (row for rows in items.values() for row in rows):
        del row["numbers"]
    important = [m.message_id for m in content.important_messages]
    return {"conversation_id": key, "summary": content.summary, "important_message_ids": important} | items


def conversations(folder: Path, name: str, split: str) -> dict[str, list[Row]]:
    talks: dict[str, list[Row]] = {}
    with (folder / f"{name}.{split}.messages.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            talks.setdefault(row["chat_id"], []).append(row)
    return talks


def run_system(
    talks: dict[str, list[Row]], reader: Callable[[str], AbstractContextManager[None]] = nullcontext
) -> tuple[list[Row], list[str], list[float]]:
    """Answers that passed the gate, what the gate took out, and processor seconds of each summary.

    ``reader``: the weights that a talk is read with; by default those of the package.
    """
    llm = OfflineLlm(embed=EMBEDDER.embed)
    rows: list[Row] = []
    problems: list[str] = []
    seconds: list[float] = []
    for key, messages in talks.items():
        source = source_of(key, messages)
        with reader(key):
            begun = time.process_time()
            reply = llm.complete(request_of(source))
            seconds.append(time.process_time() - begun)
            result = check(to_candidates(Answer.model_validate_json(reply.text))[1], source)
            lost = (entry for entry in result.dropped if not entry.reason.endswith(AS_SAID))
            problems += [f"{key}: {entry.part}: {entry.reason}" for entry in lost]
            if result.content is None:
                problems.append(f"{key}: QUARANTINED {result.quarantine_reason}")
            else:
                rows.append(judged_shape(key, result.content, source))
    return rows, problems, seconds


# ── the labelled chats of the tests' fixtures ──


@dataclass
class Counts:
    """Found, wanted and matched items of one kind and language, and how many matches have the rest right."""

    found: int = 0
    wanted: int = 0
    matched: int = 0
    right: Counter[str] = field(default_factory=Counter[str])

    def add(self, found: list[Row], wanted: list[Row], fields: tuple[str, ...]) -> None:
        pairs = sorted(
            ((len(f["numbers"] & w["numbers"]) / len(f["numbers"] | w["numbers"]), -i, -j), i, j)
            for i, f in enumerate(found)
            for j, w in enumerate(wanted)
            if f["numbers"] & w["numbers"]
        )
        used: tuple[set[int], set[int]] = (set(), set())
        for _, i, j in reversed(pairs):
            if i not in used[0] and j not in used[1]:
                used[0].add(i)
                used[1].add(j)
                self.right.update({name: found[i][name] == wanted[j][name] for name in fields})
        self.found += len(found)
        self.wanted += len(wanted)
        self.matched += len(used[0])

    def row(self, name: str, fields: tuple[str, ...]) -> str:
        precision, recall = self.matched / max(1, self.found), self.matched / max(1, self.wanted)
        f = 2 * precision * recall / max(1e-9, precision + recall)
        rest = [f"{100 * self.right[x] / max(1, self.matched):.0f}" for x in fields]
        cells = [name, f"{100 * precision:.0f}", f"{100 * recall:.0f}", f"{100 * f:.0f}", f"{self.found}/{self.wanted}"]
        return "| " + " | ".join([*cells, *rest]) + " |"


OWNERS = {"me": "self"}
ACTION_FIELDS = ("owner", "owner_name", "due_date", "status")
DECISION_FIELDS = ("importance", "date")


def labelled_source(talk: Any) -> SummaryInput:
    """One labelled chat as the stage would hand it to the model."""
    own = {p.name: p.is_self for p in talk.participants}
    rows = [
        {
            "sender_id": f"{talk.id}:{m.sender}",
            "sender_name": m.sender,
            "is_self": own[m.sender],
            "sent_at": m.sent_at,
            "text": m.text,
            "message_id": str(m.number),
        }
        for m in talk.messages
    ]
    return replace(source_of(talk.id, rows, talk.timezone), language=talk.language)


def speed_of(talks: dict[str, list[Row]], seconds: list[float]) -> str:
    """How fast talks were summed up, and how fast their readings are."""
    texts = [row["text"] for rows in talks.values() for row in rows]
    tokens = sum(COUNTER.count_many(texts))
    sources = [source_of(key, rows) for key, rows in talks.items()]
    begun = time.process_time()
    for source in sources:
        items_of(source)
    by_task = {"summaries": sum(seconds), "readings": time.process_time() - begun}
    said = [
        f"{name} {len(texts) / took:,.0f} messages/s, {tokens / took:,.0f} tokens/s" for name, took in by_task.items()
    ]
    return f"{len(talks)} talks of {len(texts):,} messages, {tokens:,} tokens; of a core's time: {'; '.join(said)}"


def items_of(source: SummaryInput) -> dict[str, list[Row]]:
    """What a reading of a talk finds, in the fields of the labels."""
    reading = ReadingInput((source,), (), source.language, source.timezone, source.input_hash)
    answer = read_talks(reading, EMBEDDER.embed)
    days = {m.number: m.sent_at.astimezone(ZoneInfo(source.timezone)).date().isoformat() for m in source.messages}
    found: dict[str, list[Row]] = {"decisions": [], "action_items": []}
    for item in answer.told:
        row: Row = {"numbers": {*item.messages}, "importance": item.importance, "description": item.text}
        row["quote"] = item.quote
        if item.kind == "decision":
            found["decisions"].append(row | {"date": days[max(item.messages)]})
            continue
        row["numbers"] |= {*item.end.messages} if item.end else set[int]()
        row |= {"owner": OWNERS.get(item.owner, item.owner), "owner_name": item.who, "due_date": item.due}
        found["action_items"].append(row | {"status": "closed" if item.end else "open"})
    return found


def run_labelled(chosen: Callable[[int], bool] = lambda _n: True) -> None:
    """Precision and recall per language; an item is found when it shares a message with a labelled one, one to one."""
    labelled = importlib.import_module("pkg_pipeline_tests.fixtures.labelled.loading")
    kinds: dict[tuple[str, str], Counts] = defaultdict(Counts)
    for language in labelled.LANGUAGES:
        for n, talk in enumerate(labelled.load(language)):
            if not chosen(n):
                continue
            read = items_of(labelled_source(talk))
            for kind, fields in (("decisions", DECISION_FIELDS), ("action_items", ACTION_FIELDS)):
                found = read[kind]
                wanted = [i.model_dump() | {"numbers": set(i.message_numbers)} for i in getattr(talk, kind)]
                for item in wanted:  # the answer leaves the owner of the memory unnamed
                    item["owner_name"] = item.get("owner_name") if item.get("owner") == "them" else None
                kinds[language, kind].add(found, wanted, fields)
    for kind, fields in (("decisions", DECISION_FIELDS), ("action_items", ACTION_FIELDS)):
        print(f"\n### Labelled chats, {kind} (percent)\n")
        print(
            "| "
            + " | ".join(["language", "P", "R", "F", "found/labelled", *fields])
            + " |\n|"
            + "---|" * (5 + len(fields))
        )
        for language in labelled.LANGUAGES:
            print(kinds[language, kind].row(language, fields))
    run_summaries([labelled_source(talk) for language in labelled.LANGUAGES for talk in labelled.load(language)])


def run_summaries(sources: list[SummaryInput]) -> None:
    """How long the summaries of chats are, and how fast they are made where their readings were not."""
    llm = OfflineLlm(embed=EMBEDDER.embed)
    begun = time.process_time()
    replies = [llm.complete(request_of(source)) for source in sources]
    took = time.process_time() - begun
    told = COUNTER.count_many([Answer.model_validate_json(reply.text).talks[0].summary for reply in replies])
    said = [sum(COUNTER.count_many([message.text for message in source.messages])) for source in sources]
    messages = sum(len(source.messages) for source in sources)
    print(
        f"\n{len(sources)} chats of {messages} messages: summaries {sum(told) / sum(said):.2f} of their tokens, "
        f"{messages / took:,.0f} messages/s of a core's time"
    )


def run_short_chats(judge: Any) -> None:
    """ROUGE-1 on short English chats with third-person summaries, written for this purpose, beside the floors."""
    talks = json.loads((ROOT / "pkg_pipeline_tests/offline/short_chats.json").read_text(encoding="utf-8"))
    scores: dict[str, list[float]] = defaultdict(list)
    for n, talk in enumerate(talks):
        rows = [
            {"chat_id": f"short-{n}", "sender_id": name, "sender_name": name, "is_self": name == talk["lines"][0][0]}
            | {"sent_at": "2024-01-01T09:00:00+00:00", "message_id": f"m{k}", "text": text}
            for k, (name, text) in enumerate(talk["lines"])
        ]
        reply = OfflineLlm(embed=EMBEDDER.embed).complete(request_of(source_of(f"short-{n}", rows)))
        summaries = {"offline": Answer.model_validate_json(reply.text).talks[0].summary}
        summaries |= {name: judge.BASELINES[name](rows)["summary"] for name in ("lead-3", "longest-3", "lexrank-3")}
        for name, summary in summaries.items():
            scores[name].append(judge.rouge(summary, [talk["summary"]])["R1"])
    print(f"\n### Summary: {len(talks)} short English chats of our own, R1\n")
    for name, values in scores.items():
        print(f"| {name} | {sum(values) / len(values):.1f} |")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="without it, only the labelled chats")
    parser.add_argument("--split", default="visible")
    parser.add_argument("--set", action="append", help="default: all that are there")
    parser.add_argument("--out", type=Path, help="also write the answers here, as the judge reads them")
    parser.add_argument("--no-floors", action="store_true")
    args = parser.parse_args(argv)
    if (ROOT / "pkg_pipeline_tests/fixtures/labelled/loading.py").exists():
        run_labelled()
    if args.folder is None:
        return 0
    sys.path.insert(0, str(args.folder))
    judge = importlib.import_module("extraction_judge")
    run_short_chats(judge)
    written: list[Row] = []
    failed = 0
    for name in args.set or judge.SETS:
        if not (args.folder / f"{name}.{args.split}.gold.jsonl").exists():
            continue
        talks = conversations(args.folder, name, args.split)
        reader = nullcontext
        if args.split == "visible":  # what a talk's own labels taught is not measured on it
            reader = partial(importlib.import_module("training.genres").reader_without, args.folder, name)
        rows, problems, seconds = run_system(talks, reader)
        written += rows
        split = judge.Split.load(args.folder, name, args.split)
        reports = {"offline": judge.Report(split, {row["conversation_id"]: row for row in rows})}
        if not args.no_floors:
            reports |= judge.baselines(split)
        judge.show(f"{name}.{args.split}", split, reports)
        print(f"\n{speed_of(talks, seconds)}; slowest summary {max(seconds):.2f} s; {len(problems)} problems")
        for problem in problems[:20]:
            print("  PROBLEM", problem)
        failed += len(problems)
    if args.out:
        args.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
