"""How many facts of the labelled accounts are found, and how many found ones are right: reading, gate and periods.

    python benchmarks/facts_truth.py [-v] [FOLDER]

Each account is read talk after talk as a memory does, by a head of facts that did not see it; what passes the gate and
the threshold of confirmation counts as found. Half of the accounts (by their names) was looked at while rules were
written, of the other half only some and later (docs/figures.md): both are printed apart. Of ``training/fact_talks`` the
half that nothing is fitted to is the unseen one. ``-v`` shows what is wrong, of the first half alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID
from zlib import crc32

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline.memory.items.batches import reading_input  # noqa: E402
from pkg_pipeline.memory.items.fact_periods import StatedFact, held_until  # noqa: E402
from pkg_pipeline.memory.items.gate import check_reading  # noqa: E402
from pkg_pipeline.memory.items.records import ReadFact  # noqa: E402
from pkg_pipeline.memory.text.normalise import comparable  # noqa: E402
from pkg_pipeline.offline.reading import read  # noqa: E402
from pkg_pipeline.offline.talk_items import facts_of  # noqa: E402
from pkg_pipeline.prompts.conversation_reading import Answer, to_candidate  # noqa: E402
from training import facts, worlds  # noqa: E402
from training.fact_labels import TYPES, is_labelled, is_who  # noqa: E402
from training.vectors import embed  # noqa: E402
from training.worlds import FactLabel, World  # noqa: E402

ACCOUNTS = ROOT / "training" / "accounts"
CONFIRMED = 0.9


@dataclass(frozen=True)
class Found:
    """A fact that a memory would show. ``message``: the first that it rests on; ``who``: a name."""

    who: str
    fact: ReadFact

    def line(self) -> str:
        return f"{self.who} {self.fact.fact_type}={self.fact.value} ({self.fact.confidence:.2f}) | {self.fact.quote}"


def found_in(world: World, *, least: float = CONFIRMED) -> list[Found]:
    """Every confirmed fact of an account in the order said."""
    names = {person.entity_id: person.name for talk in world.talks for person in talk.participants}
    found: list[Found] = []
    for talk in world.talks:
        source = reading_input([talk], ())
        answer = Answer(items=[], changes=[], facts=facts_of(read(talk), embed))
        for reading in check_reading(to_candidate(answer), source).readings:
            for fact in reading.facts:
                who = names.get(fact.entity_id, "") if fact.entity_id else fact.about_name or ""
                if fact.confidence >= least and who:
                    found.append(Found(who, fact))
    return found


def _is_same(found: Found, label: FactLabel) -> bool:
    fact = found.fact
    if fact.is_ended or label.is_ended:
        is_kind = fact.fact_type == TYPES.get(label.type, label.type) and is_who(found.who, label.who)
        return is_kind and fact.is_ended == label.is_ended
    return is_labelled(fact.fact_type, found.who, fact.value, [label])


def score(world: World) -> tuple[Counter[str], list[str]]:
    """Found, right, labelled and matched facts, each value of somebody once, and the lines of what is wrong."""
    shown = found_in(world)
    found = _once(shown)
    labels = list({(one.who, one.type, comparable(one.value), one.is_ended): one for one in world.facts}.values())
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for one in found:
        right = any(_is_same(one, label) for label in labels)
        counts["found"] += 1
        counts["right"] += right
        counts[f"{one.fact.fact_type} found"] += 1
        counts[f"{one.fact.fact_type} right"] += right
        if not right:
            wrong.append(f"+ {one.line()}")
    for label in labels:
        matched = any(_is_same(one, label) for one in found)
        kind = TYPES.get(label.type, label.type)
        counts["labelled"] += 1
        counts["matched"] += matched
        counts[f"{kind} labelled"] += 1
        counts[f"{kind} matched"] += matched
        if not matched:
            wrong.append(
                f"- {label.who} {label.type}={label.value}{' ENDED' * label.is_ended} | {world.text_of[label.message]}"
            )
    counts["two current"] += _doubled(shown)
    return counts, wrong


def _once(found: Iterable[Found]) -> list[Found]:
    kept: dict[tuple[str, str, str, bool], Found] = {}
    for one in found:
        kept.setdefault((one.who, one.fact.fact_type, comparable(one.fact.value), one.fact.is_ended), one)
    return list(kept.values())


def _doubled(found: Iterable[Found]) -> int:
    """How many single-valued types show two current values."""
    of: dict[tuple[str, str], dict[UUID, StatedFact]] = {}
    for one in found:
        fact = one.fact
        assert fact.said_at is not None
        of.setdefault((one.who, fact.fact_type), {})[fact.id] = StatedFact(
            fact.id, fact.fact_type, fact.value, fact.said_at, fact.is_ended, fact.replaces
        )
    doubled = 0
    for (_, kind), stated in of.items():
        current = {comparable(stated[key].value) for key, end in held_until(stated.values()).items() if end is None}
        doubled += kind in {"address", "birthday", "position", "organization"} and len(current) > 1
    return doubled


def is_unseen(world: World) -> bool:
    if "_fact_" in world.name:
        return world.name not in facts.parts()
    return crc32(world.name.encode()) % 2 == 1


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


def table(totals: dict[str, Counter[str]]) -> str:
    rows = [
        "| accounts | labelled | found | precision | recall | two current |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in totals.items():
        right, recalled = percent(one["right"], one["found"]), percent(one["matched"], one["labelled"])
        rows.append(f"| {name} | {one['labelled']} | {one['found']} | {right} | {recalled} | {one['two current']} |")
    return "\n".join(rows)


def measure(told: Iterable[World]) -> tuple[dict[str, Counter[str]], list[str]]:
    totals: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    for world in told:
        with facts.without(world):
            counts, lines = score(world)
        half = "unseen" if is_unseen(world) else "seen"
        for name in (f"{half}, {world.language}", half):
            totals.setdefault(name, Counter()).update(counts)
        if half == "seen":
            wrong += [f"{world.name}: {line}" for line in lines]
    return dict(sorted(totals.items())), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ACCOUNTS)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--language")
    given = parser.parse_args()
    told = [world for world in worlds.load(given.folder) if given.language in (None, world.language)]
    totals, wrong = measure(told)
    if given.v:
        print("\n".join(wrong))
    print(table(totals))
    for half in ("seen", "unseen"):
        one = totals.get(half, Counter())
        kinds = sorted({key.split()[0] for key in one if key.endswith((" found", " labelled"))})
        print(f"\n{half}: " + "; ".join(_of_kind(one, kind) for kind in kinds))


def _of_kind(one: Counter[str], kind: str) -> str:
    right, recalled = (one[f"{kind} right"], one[f"{kind} found"]), (one[f"{kind} matched"], one[f"{kind} labelled"])
    return f"{kind} {percent(*right)}/{percent(*recalled)} ({one[f'{kind} labelled']})"


if __name__ == "__main__":
    main()
