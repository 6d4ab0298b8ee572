"""Accounts: whole labelled worlds (``accounts/README.md``). ``python -m training.accounts [FILE…]`` checks and counts.

``--blank FILE`` prints it without labels, for somebody to label again; ``--agreement FIRST SECOND`` says how far two
labellings of the same words agree.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from training import worlds
from training.told_worlds import worlds_of
from training.worlds import Label, World

FOLDER = Path(__file__).parent / "accounts"
_LABELS = re.compile(r"\s+## ?[^#]*$")


def load() -> list[World]:
    """Every account, by name."""
    return worlds.load(FOLDER)


def blank(path: Path) -> str:
    """The talks of a file without any label."""
    lines = path.read_text("utf-8").splitlines()
    return "\n".join(_LABELS.sub("", line) for line in lines if not line.startswith("@ ")) + "\n"


def counts(world: World) -> Counter[str]:
    found = Counter("decisions" if one.kind == "decision" else "tasks" for one in world.items if not one.is_optional)
    found["talks"] = len(world.talks)
    found["talks of 5 and more"] = sum(len(talk.messages) >= 5 for talk in world.talks)
    found["messages"] = sum(len(talk.messages) for talk in world.talks)
    found["closed"] = sum(bool(one.closed_by) for one in world.items)
    found["renewed"] = sum(bool(one.renewed) for one in world.items)
    found["cancelled"] = sum(bool(one.cancelled_by) for one in world.items)
    found["superseded"] = sum(one.superseded_by is not None for one in world.items)
    found["facts"] = len(world.facts)
    found.update(f"@ {kind}" for kind in world.types.values())
    return found


def _matched(first: World, second: World, kind: str) -> Iterator[tuple[Label, Label]]:
    """Items of both that rest on a common message, each once."""
    left = [one for one in second.items if one.kind == kind]
    for one in first.items:
        same = [two for two in left if one.kind == kind and set(one.messages) & set(two.messages)]
        if same:
            left.remove(same[0])
            yield one, same[0]


def agreement(first: World, second: World) -> Counter[str]:
    """Labels of each and of both by kind; for tasks found by both: same owner, due date, end."""
    found: Counter[str] = Counter()
    for kind in ("action_item", "decision"):
        pairs = list(_matched(first, second, kind))
        sure = [(one, two) for one, two in pairs if not (one.is_optional and two.is_optional)]
        for name, world in (("first", first), ("second", second)):
            mine = {id(pair[name == "second"]) for pair in pairs}
            found[f"{kind} {name}"] += len(sure) + sum(
                one.kind == kind and not one.is_optional and id(one) not in mine for one in world.items
            )
        found[f"{kind} both"] += len(sure)
        if kind == "action_item":
            found["owner"] += sum(one.owner == two.owner for one, two in sure)
            found["due"] += sum(one.due == two.due for one, two in sure)
            found["end"] += sum(
                (bool(one.closed_by), bool(one.cancelled_by)) == (bool(two.closed_by), bool(two.cancelled_by))
                for one, two in sure
            )
    facts = [{(one.message, one.type, one.is_ended) for one in world.facts} for world in (first, second)]
    found |= Counter(facts_first=len(facts[0]), facts_second=len(facts[1]), facts_both=len(facts[0] & facts[1]))
    people = set(first.types) & set(second.types)
    found["people"] = len(people)
    found["people the same"] = sum(first.types[one] == second.types[one] for one in people)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--blank", type=Path)
    parser.add_argument("--agreement", action="store_true")
    given = parser.parse_args()
    if given.blank:
        print(blank(given.blank), end="")
        return
    files = given.files or sorted(FOLDER.glob("*.txt"))
    told = [worlds.told(name, row) for path in files for name, row in worlds_of(path).items()]
    if given.agreement:
        half = len(told) // 2
        shown = [agreement(one, two) for one, two in zip(told[:half], told[half:], strict=True)]
    else:
        shown = [counts(one) for one in told]
        for world, one in zip(told, shown, strict=True):
            print(world.name, dict(one))
    print("all", dict(sum(shown, Counter())))


if __name__ == "__main__":
    main()
