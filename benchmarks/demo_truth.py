"""How right the items of ``pkg-pipeline demo`` are, read offline, beside what a careful person takes from its chats.

    python -m benchmarks.demo_truth [--lines] [--json]

The demo's account is imported at the moment of ``demo_truth.json``, its talks are read as a user's are, and what the
lists then show is compared with the labels: items by the messages that they share, states by the label's. What two
careful people could see differently counts neither way. Prints precision and recall by language; ``--lines``: what is
wrong, line by line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.demo import account
from pkg_pipeline.memory.items.states import SURE_FROM
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.items import ItemFilter, list_items
from pkg_pipeline.wiring import Memory, open_memory
from training.matching import one_to_one

Row = dict[str, Any]
TRUTH = Path(__file__).with_name("demo_truth.json")
CHAT_LANGUAGES = {chat.external_id: chat.language for chat in account.load_chats()}
ROWS_AT_ONCE = 100
MEASURES = {
    "open list": "open action items shown as open",
    "open, surely": "those of them that are shown without a perhaps",
    "closings": "kept promises closed, of all that were kept",
    "closings of found": "kept promises closed, of those that were found",
    "perhaps": "kept promises closed or perhaps kept",
    "tasks": "action items found, whatever became of them",
    "decisions": "decisions found",
    "decisions, surely": "those of them that are shown without a perhaps",
    "in force": "decisions shown as in force that are, of those that are",
    "superseded": "decisions that no longer hold, marked so",
}


@dataclass
class Figure:
    """Counts of one measure: shown rightly, shown at all, labelled."""

    right: int = 0
    shown: int = 0
    labelled: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.shown)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.labelled)


@dataclass
class Judged:
    """Figures by measure and language (``all`` among them), and what is wrong, a line each."""

    figures: dict[tuple[str, str], Figure] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def of(self, measure: str, language: str = "all") -> Figure:
        return self.figures.setdefault((measure, language), Figure())

    def count(self, measure: str, language: str, *, right: int = 0, shown: int = 0, labelled: int = 0) -> None:
        for key in (language, "all"):
            figure = self.of(measure, key)
            figure.right, figure.shown, figure.labelled = (
                figure.right + right,
                figure.shown + shown,
                figure.labelled + labelled,
            )


def items_of(memory: Memory) -> list[Row]:
    """Every item of the lists, of both kinds and any status, as the API and the command show it."""
    found: list[Row] = []
    for kind in ("action_item", "decision"):
        cursor: str | None = None
        while True:
            page = list_items(
                memory.item_reads, ItemFilter(kind=kind), now=memory.clock.now(), limit=ROWS_AT_ONCE, cursor=cursor
            )
            found += [_plain(row) for row in page.items]
            cursor = page.next
            if cursor is None:
                break
    return found


def _plain(row: Row) -> Row:
    """Keys of messages and chats as they stand in the labels."""
    keys = {name: [unquote(key) for key in row[name]] for name in ("message_ids", "closed_by", "renewed_in")}
    return {**row, **keys, "chat": unquote(row["chat"])}


def read_demo(folder: Path, url: str, now: datetime, *, read: Callable[[Memory], list[Any]] = items_of) -> list[Any]:
    """The demo's account of ``now`` imported and read offline; the items that its lists show, or what ``read`` sees."""
    settings = Settings.model_validate(
        {
            "home": folder / "home",
            "database_url": url,
            "now": now,
            "llm": "offline",
            "embedder": "none",
            "timezone": account.TIMEZONE,
        }
    )
    with open_memory(settings) as memory:
        for path in account.write_exports(folder / "exports", now):
            memory.build_interactions(memory.import_path(path).chats)
        memory.items.run(Billing("live"))
        return read(memory)


def said_on(label: Row) -> set[str]:
    return {*label["messages"], *(key for one in label["renewed"] for key in one["messages"])}


def matched(found: Sequence[Row], labels: Sequence[Row]) -> dict[int, int]:
    """By index of an item that of its label: of one kind, sharing messages, one to one, the likest first.

    Of two lines that tell one thing, the one with the label's status is it; the other is a twin too many.
    """
    pairs: list[tuple[float, int, int]] = []
    for i, item in enumerate(found):
        ids = {*item["message_ids"], *item["renewed_in"]}
        for j, label in enumerate(labels):
            either = label.get("either_kind") or item["kind"] == label["kind"]
            if either and (shared := ids & said_on(label)):
                same = (item["kind"] == label["kind"]) + (item["status"] == label["status"]) / 2
                pairs.append((same + len(shared) / len(ids | set(label["messages"])), i, j))
    return one_to_one(pairs)


def judge(found: Sequence[Row], labels: Sequence[Row]) -> Judged:
    judged, of_item = Judged(), matched(found, labels)
    for i, item in enumerate(found):
        _judge_shown(judged, item, labels[of_item[i]] if i in of_item else None)
    of_label = {label: found[item] for item, label in of_item.items()}
    for j, label in enumerate(labels):
        _judge_label(judged, label, of_label.get(j))
    return judged


def _judge_shown(judged: Judged, item: Row, label: Row | None) -> None:
    language, kind, status = _language(item["chat"]), item["kind"], item["status"]
    if label is not None and not label["sure"]:
        return
    is_right = label is not None
    is_sure = item["decided_by"] == "person" or item["probability"] >= SURE_FROM
    judged.count("tasks" if kind == "action_item" else "decisions", language, right=is_right, shown=1)
    if kind == "decision" and is_sure:
        judged.count("decisions, surely", language, right=is_right, shown=1)
    if kind == "action_item" and (label is None or label.get("status_sure", True)):
        truth = None if label is None else label["status"]
        if status == "open":
            is_open = truth == "open" and label is not None and label["kind"] == kind
            _shown(judged, "open list", item, truth, is_open)
            if is_sure:
                judged.count("open, surely", language, right=is_open, shown=1)
        elif label is not None and status in ("done", "perhaps_done"):
            kept = truth in ("done", "perhaps_done")
            if status == "done":
                _shown(judged, "closings", item, truth, kept)
                judged.count("closings of found", language, right=kept, shown=1)
            judged.count("perhaps", language, right=kept, shown=1)
    if kind == "decision" and status == "open":
        _shown(judged, "in force", item, _became(label), _became(label) == "open")
    if kind == "decision" and status == "superseded":
        _shown(judged, "superseded", item, label and label["status"], bool(label) and label["status"] == status)


def _became(label: Row | None) -> str | None:
    """The status of a label; what has run its course is over."""
    return "over" if label is not None and label.get("spent") else label and label["status"]


def _shown(judged: Judged, measure: str, item: Row, truth: str | None, right: bool) -> None:
    judged.count(measure, _language(item["chat"]), right=right, shown=1)
    if not right:
        what = "no item" if truth is None else truth
        evidence = f" by {item['closed_by']}" if item["closed_by"] else ""
        judged.wrong.append(f"{measure}: + {item['message_ids'][0]} {item['text']!r}: {what}{evidence}")


def _judge_label(judged: Judged, label: Row, item: Row | None) -> None:
    language, kind = _language(label["chat"]), label["kind"]
    if not label["sure"]:
        return
    judged.count("tasks" if kind == "action_item" else "decisions", language, labelled=1)
    if kind == "decision":
        judged.count("decisions, surely", language, labelled=1)
        judged.count("superseded", language, labelled=label["status"] == "superseded")
        judged.count("in force", language, labelled=_became(label) == "open")
    shown = "not found" if item is None else item["status"]
    if kind == "decision" and _became(label) == "open" != shown:
        judged.wrong.append(f"in force: - {label['messages'][0]} {label['text']!r}: {shown}")
    if kind == "decision" or not label.get("status_sure", True):
        return
    if label["status"] == "open":
        judged.count("open list", language, labelled=1)
        judged.count("open, surely", language, labelled=1)
        if shown != "open":
            judged.wrong.append(f"open list: - {label['messages'][0]} {label['text']!r}: {shown}")
    elif label["status"] == "done":
        judged.count("closings", language, labelled=1)
        judged.count("perhaps", language, labelled=1)
        judged.count("closings of found", language, labelled=item is not None)
        if shown in ("open", "lapsed"):
            judged.wrong.append(
                f"closings: - {label['messages'][0]} {label['text']!r} by {label['closed_by']}: {shown}"
            )


def _language(chat: str) -> str:
    return CHAT_LANGUAGES.get(chat.rpartition(":")[2], "?")


def told(judged: Judged) -> str:
    """A Markdown table."""
    lines = ["| | language | P | R | right of shown | labelled |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    for measure, meaning in MEASURES.items():
        for language in ("all", "ru", "en", "zh"):
            one = judged.of(measure, language)
            name = f"{measure} ({meaning})" if language == "all" else measure
            figures = (
                f"{100 * one.precision:.0f} | {100 * one.recall:.0f} | {one.right} of {one.shown} | {one.labelled}"
            )
            lines.append(f"| {name} | {language} | {figures} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", action="store_true", help="what is wrong, line by line")
    parser.add_argument("--json", action="store_true", help="figures alone, as JSON")
    given = parser.parse_args()
    truth = json.loads(TRUTH.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        found = read_demo(Path(folder), server, datetime.fromisoformat(truth["now"]))
    judged = judge(found, truth["items"])
    if given.json:
        print(json.dumps({" ".join(key): vars(one) for key, one in judged.figures.items()}, indent=1))
        return
    print(told(judged))
    kinds = Counter((item["kind"], item["status"]) for item in found)
    print("\nshown: " + ", ".join(f"{count} {kind} {status}" for (kind, status), count in sorted(kinds.items())))
    if given.lines:
        print("", *judged.wrong, sep="\n")


if __name__ == "__main__":
    main()
