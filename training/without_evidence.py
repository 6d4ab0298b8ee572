"""Labelled worlds without what shows that promises were kept: what is closed there all the same, is closed by nothing.

Of every second kept promise (``PARTS``) the messages that keep it are taken out, with what echoes them: what the same
speaker says with them, the answers to them, and later words of the thing that tell of it as done. Questions and what
opens, renews or closes other items stay. ``python -m training.without_evidence [-v]``: how many of a hundred such
promises that the reader found are told as done, or as perhaps done, in accounts left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.offline.evidence import claims
from pkg_pipeline.offline.matters import things_of_text
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from pkg_pipeline.offline.talk_items import items_as_written
from pkg_pipeline.prompts import conversation_reading as prompt
from training import accounts, closing_trees, left_out
from training.open_lists import matched, moments, shown_at, true_at
from training.standing import Read, as_read
from training.vectors import embed
from training.whole_accounts import read_account
from training.worlds import Label, World

PARTS = 2
"""A promise loses its evidence in one of so many copies of its world; in the others its neighbours do."""
ECHO = 3
"""Lines after the evidence that may answer it."""
TELLS = frozenset({"finished", "received", "thanks", "praise", "there"})


@dataclass(frozen=True)
class Cut:
    """A world without some evidence. ``wanting``: the promises, by reference, that were kept, and nothing shows it;
    ``places``: by talk, which of its messages are left.
    """

    world: World
    wanting: frozenset[str]
    places: Mapping[UUID, tuple[int, ...]]


def cuts(world: World) -> tuple[Cut, ...]:
    """The copies of a world, each without the evidence of others of its promises."""
    kept = [one for one in world.items if one.kind == "action_item" and one.closed_by - {*one.messages}]
    parts = (kept[part::PARTS] for part in range(PARTS))
    return tuple(_cut(world, part) for part in parts if part)


def _cut(world: World, promises: list[Label]) -> Cut:
    refs = {one.ref for one in promises}
    others = {
        key
        for one in world.items
        for key in (*one.messages, *one.cancelled_by, *(key for keys, _ in one.renewed for key in keys))
    } | {key for one in world.items if one.ref not in refs for key in one.closed_by}
    gone = {key for one in promises for key in one.closed_by}
    gone |= _echoes(world, promises, gone, others)
    talks: list[SummaryInput] = []
    places: dict[UUID, tuple[int, ...]] = {}
    for talk in world.talks:
        left = tuple(n for n, one in enumerate(talk.messages) if one.external_id not in gone)
        if left:
            messages = tuple(replace(talk.messages[n], number=at) for at, n in enumerate(left, 1))
            times = {"started_at": messages[0].sent_at, "ended_at": messages[-1].sent_at}
            talks.append(replace(talk, messages=messages, **times))
            places[talk.interaction_id] = left
    items = tuple(replace(one, closed_by=one.closed_by - gone) for one in world.items if not gone & {*one.messages})
    wanting = frozenset(one.ref for one in items if one.ref in refs)
    return Cut(replace(world, talks=tuple(talks), items=items), wanting, places)


def _echoes(world: World, promises: list[Label], gone: set[str], others: set[str]) -> set[str]:
    found: set[str] = set()
    for talk in world.talks:
        said = talk.messages
        for at in (n for n, one in enumerate(said) if one.external_id in gone):
            near = [*_turn(said, at, -1), *_turn(said, at, 1), *range(at + 1, min(len(said), at + 1 + ECHO))]
            found |= {said[n].external_id for n in near}
    for one in promises:
        things = things_of_text("\n".join((one.text, *(world.text_of[key] for key in one.messages))))
        for message in _after(world, one):
            if claims(message.text) & TELLS and things & things_of_text(message.text):
                found.add(message.external_id)
    return found - others


def _turn(said: tuple[SourceMessage, ...], at: int, step: int) -> Iterable[int]:
    """What the same speaker says with a message, before or after it."""
    place = at + step
    while 0 <= place < len(said) and said[place].sender == said[at].sender:
        yield place
        place += step


def _after(world: World, label: Label) -> Iterable[SourceMessage]:
    said = [one for talk in world.talks for one in talk.messages]
    start = min(one.sent_at for one in said if one.external_id in label.closed_by)
    return (one for one in said if one.sent_at >= start)


def reading_of(cut: Cut, talk: SummaryInput) -> Reading:
    """A talk of a cut world, its lines judged as in the whole one."""
    chances = left_out.prepared()[talk.interaction_id].reading.chances
    left = [chances[n] for n in cut.places[talk.interaction_id]] if chances else chances
    return replace(read(plain_talk(talk)), chances=left)


def read_cut(cut: Cut, talk: SummaryInput) -> Read:
    """What is found in it, by heads that did not see it."""
    with left_out.without(left_out.prepared()[talk.interaction_id].fold):
        return as_read(reading_of(cut, talk))


@dataclass
class Count:
    """Promises whose evidence is gone: in all, found, told as done, as perhaps done."""

    promises: int = 0
    found: int = 0
    done: int = 0
    perhaps: int = 0

    def __str__(self) -> str:
        of = max(1, self.found) / 100
        share = f"done {self.done / of:.0f}, perhaps done {self.perhaps / of:.0f} of 100 found"
        return f"{share} ({self.done} and {self.perhaps} of {self.found}; {self.promises} promises)"


def judge(cut: Cut, counts: Mapping[str, Count], wrong: list[str]) -> None:
    def reader(source: ReadingInput) -> prompt.Answer:
        talk = source.talks[0]
        fold = left_out.prepared()[talk.interaction_id].fold
        with left_out.without(fold), closing_trees.left_out(fold):
            return items_as_written(talk, plain_talk(talk), reading_of(cut, talk), source.shown, embed)

    account = read_account(cut.world, reader)
    now = moments(account)[0]
    shown, true = shown_at(account, now), list(true_at(account, now))
    of_label = {j: shown[i] for i, j in matched(shown, true).items()}
    for j, one in enumerate(true):
        if one.label.ref not in cut.wanting or one.label.is_optional:
            continue
        found = of_label.get(j)
        status = None if found is None else found.status
        for key in (cut.world.language, "all"):
            counts[key].promises += 1
            counts[key].found += found is not None
            counts[key].done += status == "done"
            counts[key].perhaps += status == "perhaps_done"
        if found is not None and status in ("done", "perhaps_done"):
            wrong.append(f"{status} | {cut.world.name} | {found.item.states[0].text} <- {found.item.now.quote}")


def judged(of: Iterable[World]) -> tuple[Mapping[str, Count], list[str]]:
    counts = {key: Count() for key in ("all", "en", "ru", "zh")}
    wrong: list[str] = []
    for world in of:
        for cut in cuts(world):
            judge(cut, counts, wrong)
    return counts, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    counts, wrong = judged(accounts.load())
    for key, one in counts.items():
        print(f"without evidence, {key}: {one}")
    if given.verbose:
        print(*sorted(wrong), sep="\n")


if __name__ == "__main__":
    main()
