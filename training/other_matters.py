"""Counterexamples made of the labelled ones: the same people, deed and words, another matter.

Where a message keeps or renews an item and names its thing ("ordered the chairs"), an item of another world with the
same deed ("I'll order the cake") takes the item's place: that one the message neither keeps nor renews.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.judging import Met, meet
from pkg_pipeline.offline.matters import Open
from training.standing import Walk


@dataclass(frozen=True)
class Told:
    """A walk with its messages met, and the world that it is of."""

    world: str
    language: Language
    fold: int
    walk: Walk
    talk: Sequence[Met]


def swapped(told: Sequence[Told]) -> Iterator[tuple[Told, Sequence[Open], Sequence[Met], int]]:
    """For each message that keeps or renews an item by name its talk met with another item in the place of that one,
    and the place of the pair among all. Items come from worlds of the same part.
    """
    items = {(one.fold, one.language): list(_items(told, one.fold, one.language)) for one in told}
    for one in told:
        ids = [said.line.message.external_id for said in one.walk.talk]
        places = {said.line.index: place for place, said in enumerate(one.walk.talk)}
        for met in one.talk:
            key = ids[places[met.said.line.index]]
            for i, given in met.pairs:
                standing = one.walk.standing[i]
                if key not in standing.closed_by | standing.again or standing.label is None or not given["things"]:
                    continue
                other = _other(one, one.walk.items[i], met, items[one.fold, one.language], key)
                if other is not None:
                    listed = [other if n == i else item for n, item in enumerate(one.walk.items)]
                    talk = meet(listed, one.walk.since, one.walk.talk)
                    pairs = [(again.said is met.said, n) for again in talk for n, _ in again.pairs]
                    yield one, listed, talk, pairs.index((True, i))


def _items(told: Sequence[Told], fold: int, language: Language) -> Iterator[tuple[str, Open]]:
    for one in told:
        if (one.fold, one.language) == (fold, language):
            for standing, item, since in zip(one.walk.standing, one.walk.items, one.walk.since, strict=True):
                if standing.label is not None and since >= 0 and item.matter.things:
                    yield one.world, item


def _other(told: Told, mine: Open, met: Met, known: Sequence[tuple[str, Open]], key: str) -> Open | None:
    said = met.said.matter
    able = [
        item
        for world, item in known
        if world != told.world
        and item.matter.deeds & (mine.matter.deeds | said.deeds)
        and not (item.matter.things | item.around) & said.things
        and not item.matter.sums & said.sums
    ]
    other = min(able, key=lambda item: zlib.crc32(f"{key} {item.text}".encode()), default=None)
    return other and replace(other, owner=mine.owner, said_at=mine.said_at, due=mine.due)
