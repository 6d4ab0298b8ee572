"""How right the rules are that renew, give up, merge and supersede: ``python -m training.links [-v]``.

Every talk of the worlds is read with the items shown that are open by the labels; what the reader then says of them is
compared with the labels by messages. Nothing is fitted here; renewals are told by weights that know these worlds
(``training.closing`` says how right they are on worlds left out).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.offline.linking import Linked, link
from pkg_pipeline.offline.reading import Reading, read
from pkg_pipeline.offline.talk_items import found as found_in
from pkg_pipeline.offline.talk_items import prepared
from training.closing import Score
from training.vectors import embed
from training.worlds import Label, World, load

MEASURES = ("cancelled", "renewed", "day", "merged", "superseded")
"""``day``: renewals with the right day; ``merged``: new tasks that only repeat an open one."""


@dataclass
class Links:
    """Scores by measure, and what is wrong."""

    scores: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in MEASURES})
    wrong: list[str] = field(default_factory=list)

    def count(self, measure: str, *, said: set[str], true: set[str], words: str) -> None:
        self.scores[measure].add(Score(len(said & true), len(said), len(true)))
        self.wrong += [f"{measure} + {one}: {words}" for one in sorted(said - true)]
        self.wrong += [f"{measure} - {one}: {words}" for one in sorted(true - said)]


@dataclass
class Held:
    label: Label
    quoted: SourceMessage
    due: date | None


def judge(worlds: Sequence[World]) -> Links:
    links = Links()
    for world in worlds:
        held: list[Held] = []
        for source in world.talks:
            shown = [world.shown(one.label, due=one.due, quoted=one.quoted) for one in held]
            _judge_talk(world, source, held, shown, links)
            held = _after(world, source, held)
    return links


def _judge_talk(world: World, source: SummaryInput, held: list[Held], shown: list[ShownItem], links: Links) -> None:
    reading = prepared(read(source), embed)
    decided, found = found_in(reading)
    linked = link(reading, shown, found, decided, embed)
    here = {message.external_id for message in source.messages}
    words = " / ".join(message.text for message in source.messages)[:160]
    renewed = {one.ref: one for one in linked.changes if one.to == "renewed"}
    truly = {one.label.ref: day for one in held for ids, day in one.label.renewed if ids & here}
    given_up = {one.label.ref for one in held if one.label.cancelled_by & here}
    kept = {one.label.ref for one in held if one.label.closed_by & here}
    names = {one.label.ref: one.label.text for one in held}

    def told(refs: set[str]) -> set[str]:
        return {f"{world.name}/{ref} {names[ref]}" for ref in refs}

    links.count(
        "cancelled",
        said=told({one.ref for one in linked.changes if one.to == "cancelled"}),
        true=told(given_up),
        words=words,
    )
    links.count("renewed", said=told(set(renewed) - kept), true=told(set(truly) - kept), words=words)
    right = {ref for ref in set(renewed) & set(truly) if truly[ref]}
    links.scores["day"].add(Score(sum(renewed[r].due_date == str(truly[r]) for r in right), len(right), len(right)))
    merged, repeated = _merged(world, reading, held, found, linked)
    links.count("merged", said=merged, true=repeated, words=words)
    said = {
        f"{world.name}/{linked.replaces[i]} by {decided[i].sentence.text}"
        for i in linked.replaces
        if not (world.is_of_tasks and _unlabelled(world, reading, decided[i].lines))
    }
    true = {
        f"{world.name}/{old.label.ref} by {decided[i].sentence.text}"
        for i in range(len(decided))
        for new in world.items
        for old in held
        if old.label.superseded_by == new.ref and _ids(reading, decided[i].lines) & set(new.messages)
    }
    links.count("superseded", said=said, true=true, words=words)


def _merged(
    world: World, reading: Reading, held: list[Held], found: Sequence, linked: Linked
) -> tuple[set[str], set[str]]:
    """New tasks said to repeat an open one, and those that truly do; only those that a label speaks of."""
    again = {key for one in held for ids, _ in one.label.renewed for key in ids}
    again |= {key for one in held for key in one.label.messages}
    opening = {label.messages[0] for label in world.items if label.kind == "action_item"} - again
    said: set[str] = set()
    true: set[str] = set()
    for place, one in enumerate(found):
        ids = _ids(reading, (one.sentence.line,))
        if ids & (again | opening):
            name = f"{world.name} {one.sentence.text}"
            said |= {name} if place in linked.repeats else set()
            true |= {name} if ids & again else set()
    return said, true


def _ids(reading: Reading, lines: Sequence[int]) -> set[str]:
    return {reading.lines[line].message.external_id for line in lines}


def _unlabelled(world: World, reading: Reading, lines: Sequence[int]) -> bool:
    return not _ids(reading, lines) & {key for label in world.items for key in label.messages}


def _after(world: World, source: SummaryInput, held: list[Held]) -> list[Held]:
    """What is open, or holds, after a talk."""
    by_id = {message.external_id: message for message in source.messages}
    begun = {label.ref for label in world.items if set(label.messages) & by_id.keys()}
    standing: list[Held] = []
    for one in held:
        ended = one.label.cancelled_by | one.label.closed_by
        if ended & by_id.keys() or one.label.superseded_by in begun:
            continue
        days = [day for ids, day in one.label.renewed if ids & by_id.keys()]
        standing.append(Held(one.label, one.quoted, days[-1] if days and days[-1] else one.due))
    known = {one.label.ref for one in held}
    for label in world.items:
        ended = (label.cancelled_by | label.closed_by) & by_id.keys()
        if label.ref not in known and label.messages[0] in by_id and not ended:
            standing.append(Held(label, by_id[label.messages[0]], label.due))
    return standing


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    links = judge(load())
    for name, one in links.scores.items():
        print(f"{name}: P {100 * one.precision:.0f} R {100 * one.recall:.0f} ({one.right} of {one.closed}, {one.kept})")
    if given.verbose:
        print(*links.wrong, sep="\n")


if __name__ == "__main__":
    main()
