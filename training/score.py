"""How right the offline reader is on labelled talks: ``python -m training.score [-v] [FOLDER]``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline.talk_items import read_talks
from pkg_pipeline.prompts.conversation_reading import AnswerItem
from training import accounts, worlds
from training.matching import one_to_one, tally
from training.talks import LANGUAGES, TALKS, Label, Talk, load
from training.vectors import embed
from training.world_talks import of_worlds


def answered(talk: Talk) -> list[AnswerItem]:
    return read_talks(ReadingInput((talk.source,), (), talk.language, talk.source.timezone, "hash"), embed).told


def matched(found: list[AnswerItem], labels: Sequence[Label]) -> list[tuple[AnswerItem, Label]]:
    """Items and labels of one kind that share a message, the largest share first, one to one."""
    pairs = one_to_one(
        (len(shared) / len({*item.messages} | label.numbers), i, j)
        for i, item in enumerate(found)
        for j, label in enumerate(labels)
        if item.kind == label.kind and (shared := {*item.messages} & label.numbers)
    )
    return [(found[i], labels[j]) for i, j in pairs.items()]


def stated(talk: Talk, found: Sequence[AnswerItem]) -> Counter[str]:
    """Decisions whose own words, or those that they answer, are of a message that states what was labelled; stricter
    than sharing a message.
    """
    decisions = [one for one in found if one.kind == "decision"]
    labels = [one for one in talk.labels if one.kind == "decision"]
    told = [_told_in(one, talk) for one in decisions]
    pairs = one_to_one(
        (len(both), i, j)
        for i, numbers in enumerate(told)
        for j, label in enumerate(labels)
        if (both := numbers & label.stated)
    )
    counts = tally(len(decisions), pairs, labels)
    names = {"labelled": "stated labelled", "told": "stated found", "right": "stated matched"}
    return Counter({name: counts[key] for key, name in names.items()})


def _told_in(item: AnswerItem, talk: Talk) -> set[int]:
    """The messages whose words an item is told in."""
    told = [comparable(part) for part in (item.quote, *item.text.split(" — ")[:-1])]
    return {
        one.number
        for one in talk.source.messages
        if one.number in item.messages and any(part in comparable(one.text) for part in told)
    }


def count(talk: Talk) -> tuple[Counter[str], list[str]]:
    """Found, labelled and matched of each kind, and the lines of what is wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    found = answered(talk)
    counts += stated(talk, found)
    pairs = matched(found, talk.labels)
    right = {id(part) for pair in pairs for part in pair}
    passed = {id(item) for item, label in pairs if label.is_optional}
    for item in found:
        if id(item) not in passed:
            counts[f"{item.kind} found"] += 1
            if id(item) not in right:
                wrong.append(f"+ {item.kind} {item.messages} {item.owner} {item.text} ({item.sure})")
    for label in talk.labels:
        if not label.is_optional:
            counts[f"{label.kind} labelled"] += 1
            if id(label) not in right:
                wrong.append(f"- {label.kind} {sorted(label.numbers)} {label.owner}")
    for item, label in pairs:
        if label.is_optional:
            continue
        counts[f"{label.kind} matched"] += 1
        if label.kind == "task":
            due = label.due.isoformat() if label.due else None
            ended = item.end.state if item.end else None
            parts = {"owner": item.owner == label.owner, "due": item.due == due, "end": ended == label.ended}
        else:
            people = (item.proposed, set(item.agreed)) == (label.proposed, label.agreed)
            parts = {"people": people or label.proposed is None}
        counts.update({f"{label.kind} {part}": ok for part, ok in parts.items()})
        said = f"{item.owner} {item.due} {item.end and item.end.state} by {item.proposed} yes {item.agreed}"
        told = f"{label.owner} {label.due} {label.ended} by {label.proposed} yes {sorted(label.agreed)}"
        wrong += [f"! {part} {item.messages} {item.text}: {said} for {told}" for part, ok in parts.items() if not ok]
    return counts, wrong


def shares(counts: Counter[str], kind: str) -> tuple[float, float, float]:
    """Precision, recall and F of a kind, 0 to 1."""
    hits = counts[f"{kind} matched"]
    precision, recall = hits / max(1, counts[f"{kind} found"]), hits / max(1, counts[f"{kind} labelled"])
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=TALKS)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    told = [*worlds.load(), *accounts.load()]
    for language in LANGUAGES:
        if not (args.folder / f"{language}.txt").exists():
            continue
        counts: Counter[str] = Counter()
        talks = load(language, args.folder) + (of_worlds(language, told) if args.folder == TALKS else [])
        for talk in talks:
            own, wrong = count(talk)
            counts += own
            if args.verbose and wrong:
                print(f"== {language} {talk.name}", *wrong, sep="\n   ")
        for kind, parts in (("task", ("owner", "due", "end")), ("decision", ("people",))):
            precision, recall, f = (100 * share for share in shares(counts, kind))
            hits = max(1, counts[f"{kind} matched"])
            rest = ", ".join(f"{part} {100 * counts[f'{kind} {part}'] / hits:.0f}" for part in parts)
            size = f"{counts[f'{kind} found']}/{counts[f'{kind} labelled']}"
            print(f"{language} {kind}: P {precision:.0f} R {recall:.0f} F {f:.0f} ({size}); {rest}")


if __name__ == "__main__":
    main()
