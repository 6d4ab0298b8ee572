"""The packaged offline reader on invented accounts that nobody develops with: one table, by language and in all.

    python -m benchmarks judged_accounts [-v] [FOLDER]

``pkg_pipeline_tests/offline/fresh_accounts`` holds months of chats in the form of ``training/accounts``; no weights
are fitted to them and no words are taken from them. Tasks, decisions, owners and dates are counted talk by talk;
the open list and closings at the end of an account read as a memory reads it; facts after the gate. Pleasantries:
those of ``pleasantries.toml`` taken as tasks. ``-v`` shows what is wrong, for a last look, not for developing.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import facts_truth  # noqa: E402
from benchmarks.facts_truth import percent  # noqa: E402
from pkg_pipeline.memory.profile.relationship import sure  # noqa: E402
from pkg_pipeline.offline.talk_items import read_talks  # noqa: E402
from training import open_lists, relationships, score, told_worlds, worlds  # noqa: E402
from training.labelled_people import of_account  # noqa: E402
from training.talks import LANGUAGES, Talk  # noqa: E402
from training.vectors import embed  # noqa: E402
from training.whole_accounts import read_account  # noqa: E402
from training.world_talks import of_worlds  # noqa: E402
from training.worlds import World  # noqa: E402

ACCOUNTS = ROOT / "pkg_pipeline_tests" / "offline" / "fresh_accounts"
PLEASANTRIES = "pleasantries.toml"
ALL = "all"


@dataclass
class Judged:
    """Counts by language and ``all``, the open lists, and the lines of what is wrong."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    lists: open_lists.Figures = field(default_factory=open_lists.Figures)
    wrong: list[str] = field(default_factory=list)

    def add(self, language: str, counts: Mapping[str, int]) -> None:
        for key in (language, ALL):
            self.counts.setdefault(key, Counter()).update(counts)

    def note(self, name: str, lines: Iterable[str]) -> None:
        self.wrong += [f"{name}: {line}" for line in lines]


def pleasantries(folder: Path) -> dict[str, list[str]]:
    """By account the wishes and jokes that ask for nothing, as they are written."""
    return tomllib.loads((folder / PLEASANTRIES).read_text("utf-8"))


def judge(folder: Path = ACCOUNTS) -> Judged:
    """Every account of a folder."""
    told = worlds.load(folder)
    judged = Judged()
    polite = pleasantries(folder)
    for talk in (talk for language in LANGUAGES for talk in of_worlds(language, told)):
        counts, wrong = score.count(talk)
        judged.add(talk.language, counts)
        judged.add(talk.language, _taken(talk, polite.get(talk.group, [])))
        judged.note(talk.name, wrong)
    for world in told:
        counts, wrong = facts_truth.score(world)
        judged.add(world.language, {f"fact {name}": count for name, count in counts.items()})
        judged.note(world.name, wrong)
        open_lists.judge(read_account(world, partial(read_talks, embed=embed)), judged.lists)
    _judge_people(folder, told, judged)
    judged.note("lists", (f"{count} {' | '.join(key)}" for key, count in sorted(judged.lists.wrong.items())))
    return judged


def _taken(talk: Talk, polite: list[str]) -> Counter[str]:
    """Pleasantries of a talk, and those on which a found task rests."""
    tasks = {number for item in score.answered(talk) if item.kind == "task" for number in item.messages}
    said = [one.number for one in talk.source.messages if one.text in polite]
    return Counter(pleasantries=len(said), pleasantries_taken=sum(number in tasks for number in said))


def _judge_people(folder: Path, told: Iterable[World], judged: Judged) -> None:
    """Everybody of a dialog at the end, called by the packaged weights."""
    fitted, _ = relationships.stored()
    language = {world.name: world.language for world in told}
    rows = {name: row for path in sorted(folder.glob("*.txt")) for name, row in told_worlds.worlds_of(path).items()}
    for one in (one for name, row in rows.items() for one in of_account(name, row) if not one.is_early):
        kind, chance = relationships.called(one, fitted, by_vectors=True)
        kind = kind if chance >= sure(by_words=False, is_met_in_groups=False) else "unknown"
        is_wrong = kind not in (one.type, "unknown")
        judged.add(language[one.world], {"people": 1, "types right": kind == one.type, "types wrong": is_wrong})
        if kind != one.type:
            judged.note(one.world, [f"@ {one.name}: {one.type}, called {kind} ({chance})"])


def table(judged: Judged) -> str:
    """One row a measure, one column a language and all; percent."""
    columns = [*(one for one in LANGUAGES if one in judged.counts), ALL]
    rows = [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    cells = {column: _cells(judged, column) for column in columns}
    return "\n".join(
        [*rows, *(f"| {name} | {' | '.join(cells[one][name] for one in columns)} |" for name in cells[ALL])]
    )


def _cells(judged: Judged, language: str) -> dict[str, str]:
    counts = judged.counts[language]
    found, right = counts["fact found"], counts["fact right"]
    return {
        "tasks, P / R / F": _shares(counts, "task"),
        "owner of matched tasks": percent(counts["task owner"], counts["task matched"]),
        "due date of matched tasks": percent(counts["task due"], counts["task matched"]),
        "decisions, P / R / F": _shares(counts, "decision"),
        "decisions told in words that state them, P / R / F": _shares(counts, "stated"),
        "open list at the end, P / R": _of_list(judged, "open at the end", language),
        "closing of what was kept, P / R": _of_list(judged, "closed of all", language),
        "decisions in force at the end, P / R": _of_list(judged, "in force at the end", language),
        "superseded decisions, P / R": _of_list(judged, "superseded", language),
        "facts, P / R": f"{percent(right, found)} / {percent(counts['fact matched'], counts['fact labelled'])}",
        "types, right / wrong": f"{percent(counts['types right'], counts['people'])} / "
        f"{percent(counts['types wrong'], counts['people'])} of {counts['people']}",
        "pleasantries taken as tasks": f"{counts['pleasantries_taken']} of {counts['pleasantries']}",
    }


def _shares(counts: Counter[str], kind: str) -> str:
    shown = " / ".join(f"{100 * share:.0f}" for share in score.shares(counts, kind))
    return f"{shown} ({counts[f'{kind} found']}, {counts[f'{kind} labelled']})"


def _of_list(judged: Judged, measure: str, language: str) -> str:
    one = judged.lists.scores.get((measure, language))
    if one is None:
        return "–"
    return f"{percent(one.right, one.closed)} / {percent(one.right, one.kept)} ({one.closed}, {one.kept})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ACCOUNTS)
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    judged = judge(given.folder)
    if given.verbose:
        print("\n".join(judged.wrong), end="\n\n")
    print(table(judged))


if __name__ == "__main__":
    main()
