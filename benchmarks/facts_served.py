"""What a memory serves as confirmed of what chats say outright, and what waits as a candidate, beside labels.

    python -m benchmarks facts_served [--lines]

The demo's account (``demo_truth.json``) and the talks of ``fact_chats`` are imported and read as a user's are. Labels
were made by reading alone, the talks' as they were written. A fact counts once for whoever it is of; what two careful
people could see differently counts neither way; what somebody replaced later is found if it stands as closed. Prints
precision and recall by language and by type; ``--lines``: what is wrong.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.demo_truth import CHAT_LANGUAGES, TRUTH, read_demo
from pkg_pipeline.adapters.postgres import memories
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.facts import FactFilter, list_facts
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline.wiring.facts import FactReview
from training.fact_labels import TYPES, is_labelled, is_who
from training.told_worlds import worlds_of
from training.worlds import FactLabel

TALKS = Path(__file__).with_name("fact_chats")
READ_AT = datetime(2025, 12, 1, 12, tzinfo=UTC)
KINDS = {"job_title": "position", "billing_email": "email"}
UNTYPED = frozenset({"other", "city"})
"""Labels of the demo that no type of the memory's is for."""


@dataclass(frozen=True)
class Told:
    """A label. ``where``: the demo, or the world that it is of."""

    where: str
    language: str
    fact: FactLabel
    is_sure: bool = True


@dataclass(frozen=True)
class Shown:
    where: str
    language: str
    who: str
    kind: str
    value: str
    status: str

    @property
    def line(self) -> str:
        return f"{self.where}: {self.who} {self.kind}={self.value} ({self.status})"


@dataclass
class Measured:
    """Counts by (language or type, what), and what is wrong, a line each."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    wrong: list[str] = field(default_factory=list)

    def share(self, of: str, right: str, whole: str) -> float:
        return self.counts[of, right] / max(1, self.counts[of, whole])


def labels() -> list[Told]:
    """Of the demo and of the talks."""
    return [*_of_demo(), *(told for path in sorted(TALKS.glob("*.txt")) for told in _of_talks(path))]


def _of_demo() -> Iterator[Told]:
    for row in json.loads(TRUTH.read_text("utf-8"))["facts"]:
        kind = KINDS.get(row["fact_type"]) or str(row["fact_type"])
        if kind not in UNTYPED:
            fact = FactLabel(row["about"], kind, row.get("iso", row["value"]), row["messages"][0])
            yield Told("demo", _language(row["messages"][0].rpartition("/")[0]), fact, row["sure"])


def _of_talks(path: Path) -> Iterator[Told]:
    for name, world in worlds_of(path).items():
        for row in world["facts"]:
            yield Told(name, path.stem, FactLabel(row["who"], row["type"], row["value"], row["message"]))


def export_of(name: str, world: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A world as lines of JSONL."""
    people = {one["id"]: one for one in world["people"]}
    for chat in world["chats"]:
        for said in chat["messages"]:
            who = people[said["from"]]
            yield {
                "chat_id": f"{name}/{chat['id']}",
                "chat_kind": chat["kind"],
                "chat_title": chat["title"],
                "message_id": said["id"],
                "sender_id": f"{name}/{who['id']}",
                "sender_name": who["name"],
                "is_self": who["is_self"],
                "sent_at": said["at"],
                "text": said["text"],
            }


def read_talks(folder: Path, url: str, paths: Sequence[Path]) -> list[Shown]:
    """Talks imported and read offline, each world in a memory of its own, since each has an owner of its own; what the
    lists of facts show.
    """
    given = {"home": folder / "home", "now": READ_AT, "llm": "offline", "embedder": "none"}
    shown: list[Shown] = []
    for path in paths:
        for number, (name, world) in enumerate(worlds_of(path).items()):
            own = f"{path.stem}-{number}"
            export = folder / f"{own}.jsonl"
            export.write_text("".join(json.dumps(one) + "\n" for one in export_of(name, world)), "utf-8")
            memories.create(url, own, prepare=_nothing, clean=_nothing)
            settings = Settings.model_validate(given | {"database_url": memories.url_of(url, own)})
            with open_memory(settings) as memory:
                memory.build_interactions(memory.import_path(export).chats)
                memory.items.run(Billing("live"))
                shown += shown_by(memory)
    memories.drop_all(url, clean=_nothing)
    return shown


def _nothing(_: str) -> None:
    """These memories have no files of their own."""


def shown_by(memory: Memory) -> list[Shown]:
    """Every fact of a memory, confirmed or not; twice only where it is of two people."""
    found: dict[tuple[str, ...], Shown] = {}
    cursor: str | None = None
    while True:
        page = list_facts(FactReview(memory).reads, FactFilter(), limit=100, cursor=cursor)
        for row in page.items:
            chat = unquote(row["chat"] or "")
            where = chat.removeprefix("jsonl:").rpartition("/")[0] if chat.startswith("jsonl:") else "demo"
            language = where[:2] if chat.startswith("jsonl:") else _language(chat)
            who = row["entity_name"] or row["about"] or ""
            one = Shown(where, language, who, row["type"], row["value"], row["status"])
            found.setdefault((where, who, one.kind, one.value), one)
        cursor = page.next
        if cursor is None:
            return list(found.values())


def _language(chat: str) -> str:
    language = CHAT_LANGUAGES.get(chat.rpartition(":")[2])
    return language or "en"


def measure(shown: Sequence[Shown], told: Sequence[Told]) -> Measured:
    measured = Measured()
    for one in shown:
        near = [label for label in told if label.where == one.where]
        if _is_told(one, (label.fact for label in near if label.is_sure)):
            _count(measured, one.language, one.kind, f"{one.status} right", f"{one.status} shown")
        elif not _is_told(one, (label.fact for label in near)):
            _count(measured, one.language, one.kind, f"{one.status} shown")
            measured.wrong.append(f"+ {one.line}")
    for label in told:
        if label.is_sure:
            statuses = {one.status for one in shown if one.where == label.where and _is_told(one, [label.fact])}
            if "closed" in statuses and _is_replaced(label, told):
                statuses.add("confirmed")
            found = [f"{status} found" for status in ("confirmed", "candidate") if status in statuses][:1]
            kind = TYPES.get(label.fact.type, label.fact.type)
            _count(measured, label.language, kind, "labelled", *found)
            if not found or found == ["candidate found"]:
                measured.wrong.append(f"- {label.where}: {label.fact.who} {kind}={label.fact.value} {' '.join(found)}")
    return measured


def _is_replaced(label: Told, told: Sequence[Told]) -> bool:
    """Whether somebody says another value of the same later, so that this one is rightly closed."""
    later = [one.fact for one in told[told.index(label) + 1 :] if one.where == label.where]
    return any(one.type == label.fact.type and is_who(one.who, label.fact.who) for one in later)


def _is_told(one: Shown, facts: Iterable[FactLabel]) -> bool:
    return is_labelled(one.kind, one.who, one.value, facts)


def _count(measured: Measured, language: str, kind: str, *what: str) -> None:
    for of in (language, kind, "all"):
        for name in what:
            measured.counts[of, name] += 1


def table(measured: Measured) -> str:
    lines = [
        "| | labelled | served | right | of it found | candidates | right | served or candidate |",
        "|---|" + "---|" * 7,
    ]
    names = sorted({of for of, _ in measured.counts}, key=lambda of: (of == "all", len(of) > 2, of))
    for of in names:
        counts = {what: measured.counts[of, what] for what in ("labelled", "confirmed shown", "candidate shown")}
        served, waiting = (
            measured.share(of, "confirmed found", "labelled"),
            measured.share(of, "candidate found", "labelled"),
        )
        right = [measured.share(of, f"{status} right", f"{status} shown") for status in ("confirmed", "candidate")]
        lines.append(
            f"| {of} | {counts['labelled']} | {counts['confirmed shown']} | {right[0]:.0%} | {served:.0%} |"
            f" {counts['candidate shown']} | {right[1]:.0%} | {served + waiting:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", action="store_true", help="what is wrong, line by line")
    asked = parser.parse_args()
    now = datetime.fromisoformat(json.loads(TRUTH.read_text("utf-8"))["now"])
    shown: list[Shown] = []
    with tempfile.TemporaryDirectory(prefix="pkgb-") as name:
        folder = Path(name)
        with embedded.running(folder / "pg-talks") as server:
            shown += read_talks(folder, server, sorted(TALKS.glob("*.txt")))
        with embedded.running(folder / "pg-demo") as server:
            shown += read_demo(folder, server, now, read=shown_by)
    measured = measure(shown, labels())
    print(table(measured))
    if asked.lines:
        print("\n".join(measured.wrong))


if __name__ == "__main__":
    main()
