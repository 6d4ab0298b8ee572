"""Which talks one question reads together, and how a long talk is read in windows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.items.records import ItemChange, ReadingInput, ReadItem, ShownItem, TalkReading
from pkg_pipeline.memory.items.shown import shown_hash
from pkg_pipeline.memory.records import SummaryInput


class Sized(Protocol):
    """A talk to read: ``circle`` are the people whom its items concern."""

    @property
    def circle(self) -> frozenset[UUID]: ...
    @property
    def token_count(self) -> int: ...
    @property
    def message_count(self) -> int: ...


MOST_PEOPLE = 12
"""Of the talks of one question."""

Talk = TypeVar("Talk", bound=Sized)


def batches(
    talks: Iterable[Talk],
    *,
    most_tokens: int,
    most_talks: int,
    line_tokens: int = 0,
    alone: Callable[[Talk], bool],
    kind: Callable[[Talk], Hashable],
) -> list[tuple[Talk, ...]]:
    """Talks in time order, those with people in common together: the talks of each person keep their order over the
    batches, and a batch of several talks has at most ``MOST_PEOPLE``. What waits at the end stands together
    also where the people never meet, if its first talks are of one ``kind``.

    ``line_tokens``: around each message. A talk that is ``alone``, or larger than ``most_tokens``, is its own batch.
    """
    done: list[tuple[Talk, ...]] = []
    waiting: list[list[tuple[int, Talk]]] = []

    def size(some: Sequence[Talk]) -> int:
        return sum(talk.token_count + line_tokens * talk.message_count for talk in some)

    def fit(some: Sequence[Talk]) -> bool:
        return (
            not any(map(alone, some))
            and len(some) <= most_talks
            and size(some) <= most_tokens
            and len(circle_of(some)) <= MOST_PEOPLE
        )

    def told(batch: Sequence[tuple[int, Talk]]) -> tuple[Talk, ...]:
        return tuple(talk for _, talk in batch)

    for place, talk in enumerate(talks):
        met = [batch for batch in waiting if circle_of(told(batch)) & talk.circle]
        waiting = [batch for batch in waiting if batch not in met]
        together = sorted((one for batch in met for one in batch), key=lambda one: one[0])
        if fit([*told(together), talk]):
            waiting.append([*together, (place, talk)])
        else:
            done += map(told, met)
            waiting.append([(place, talk)])
    # nobody is in two that still wait, and nothing comes after them
    packed: list[list[tuple[int, Talk]]] = []
    for batch in waiting:
        room = next((one for one in packed if kind(one[0][1]) == kind(batch[0][1]) and fit(told([*one, *batch]))), None)
        if room is None:
            packed.append(batch)
        else:
            room[:] = sorted([*room, *batch], key=lambda one: one[0])
    return [*done, *map(told, packed)]


def circle_of(talks: Sequence[Sized]) -> frozenset[UUID]:
    return frozenset[UUID]().union(*(talk.circle for talk in talks))


def reading_input(talks: Sequence[SummaryInput], shown: Sequence[ShownItem]) -> ReadingInput:
    """The talks of one question, their messages numbered on over all of them."""
    said = hashing.input_hash([(str(talk.interaction_id), talk.input_hash) for talk in talks], shown_hash(shown))
    return ReadingInput(numbered_on(talks), tuple(shown), talks[0].language, talks[0].timezone, said)


def numbered_on(talks: Iterable[SummaryInput]) -> tuple[SummaryInput, ...]:
    """The talks of one question, their messages numbered on over all of them."""
    numbered: list[SummaryInput] = []
    before = 0
    for talk in talks:
        messages = tuple(replace(message, number=before + at) for at, message in enumerate(talk.messages, 1))
        numbered.append(replace(talk, messages=messages))
        before += len(messages)
    return tuple(numbered)


def joined(parts: Sequence[TalkReading]) -> TalkReading:
    """The reading of a talk that was read in windows."""
    return replace(
        parts[0],
        items=_once(item for part in parts for item in part.items),
        silent=_once(item for part in parts for item in part.silent),
        changes=tuple(change for part in parts for change in part.changes),
        facts=tuple({fact.id: fact for part in parts for fact in part.facts}.values()),
    )


def _once(items: Iterable[ReadItem]) -> tuple[ReadItem, ...]:
    """Each id once, the first of it."""
    found: dict[UUID, ReadItem] = {}
    for item in items:
        found.setdefault(item.id, item)
    return tuple(found.values())


def carried_on(
    shown: Sequence[ShownItem], reading: TalkReading, people: tuple[UUID, ...] = ()
) -> tuple[ShownItem, ...]:
    """What the next window of a talk is shown: ``shown`` as this one left it, with its new items."""
    last: dict[UUID, ItemChange] = {change.item_id: change for change in reading.changes}
    replaced = {item.replaces for item in reading.items}
    known = list(shown)
    for item in reading.items:
        letter = "a" if item.kind == "action_item" else "d"
        place = 1 + sum(one.kind == item.kind for one in known)
        known.append(opened(item, f"{letter}{place}", people))
    return tuple(
        replace(one, status="superseded") if one.id in replaced else _changed(one, last.get(one.id)) for one in known
    )


def opened(item: ReadItem, ref: str = "", people: tuple[UUID, ...] = ()) -> ShownItem:
    """An item as a later talk is shown it that knows no more of it than what opened it."""
    return ShownItem(
        ref=ref,
        id=item.id,
        kind=item.kind,
        status="open",
        text=item.text,
        owner=item.owner,
        owner_name=item.owner_name,
        due_date=item.due_date,
        said_at=item.at,
        quote=item.quote,
        person_ids=people,
        owner_entity_id=item.owner_entity_id,
    )


def _changed(one: ShownItem, change: ItemChange | None) -> ShownItem:
    if change is None:
        return one
    if change.to != "renewed":
        return replace(one, status=change.to)
    return replace(
        one, status="open", due_date=change.due_date or one.due_date, text=change.text or one.text, said_at=change.at
    )


def as_one(source: ReadingInput) -> SummaryInput:
    """All talks as one, for what is checked over all of them."""
    people = tuple(dict.fromkeys(person for talk in source.talks for person in talk.participants))
    return replace(
        source.talks[0],
        started_at=min(talk.started_at for talk in source.talks),
        ended_at=max(talk.ended_at for talk in source.talks),
        participants=people,
        messages=source.messages,
        input_hash=source.input_hash,
    )
