"""Labelled worlds without what shows that promises were kept: what is closed there all the same, is closed by nothing.

Of every second kept promise (``PARTS``) the messages that keep it are taken out, with what echoes them: what the same
speaker says with them, the answers to them, and later words of the thing that tell of it as done. Questions and what
opens, renews or closes other items stay. Closings are learned from them as counterexamples, and
``closed_by_nothing`` counts what is closed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

import numpy as np

from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.offline.claims import claims
from pkg_pipeline.offline.closing_context import DAYS, LATE, NO_DUE_DAY
from pkg_pipeline.offline.judging import Met, meet
from pkg_pipeline.offline.line_context import Floats
from pkg_pipeline.offline.matters import things_of_text
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from training import left_out
from training.standing import Read, Walk, as_read, walks
from training.worlds import Label, World

PARTS = 2
"""A promise loses its evidence in one of so many copies of its world; in the others its neighbours do."""
ECHO = 3
"""Lines after the evidence that may answer it."""
FORGOTTEN = 35, 60
"""Days since it was due, or without a day since it was said, after which nobody waits for a promise."""
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
    items = tuple(_without(one, gone) for one in world.items if not gone & {*one.messages})
    wanting = frozenset(one.ref for one in items if one.ref in refs)
    return Cut(replace(world, talks=tuple(talks), items=items), wanting, places)


def _without(label: Label, gone: set[str]) -> Label:
    renewed = tuple((keys - gone, day) for keys, day in label.renewed if keys - gone)
    return replace(label, closed_by=label.closed_by - gone, cancelled_by=label.cancelled_by - gone, renewed=renewed)


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


def without_evidence(
    of: Iterable[World], rows: Callable[[World, Walk, Sequence[Met]], Floats]
) -> Iterator[tuple[World, Floats]]:
    """Pairs of kept promises, where nothing shows it, with all messages of a talk, by ``rows`` of all pairs."""
    for world in of:
        for cut in cuts(world):
            for walk in walks(cut.world, settle_by_label=True, read=partial(read_cut, cut)):
                known = [one.label or one.twin_of for one in walk.standing]
                talk = meet(walk.items, walk.since, walk.talk)
                refs = [one and one.ref for one in (known[i] for met in talk for i, _ in met.pairs)]
                told = np.array([ref in cut.wanting for ref in refs], dtype=np.bool_)
                if told.any():
                    found = rows(world, walk, talk)[told]
                    said, late = found[:, DAYS], found[:, LATE]
                    is_forgotten = np.where(late == NO_DUE_DAY, said > FORGOTTEN[1], late > FORGOTTEN[0])
                    yield world, found[~is_forgotten]
