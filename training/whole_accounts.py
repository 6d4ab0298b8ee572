"""Whole accounts read as a user's are, talk after talk, by heads that did not see them (or as packaged): what every
item came to.

Nothing is stored: readings pass the gate and are folded in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from uuid import UUID

from pkg_pipeline.memory.items.batches import opened, reading_input
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.matching import settle
from pkg_pipeline.memory.items.records import Item, ItemStatus, ReadingInput, ReadItem, ShownItem
from pkg_pipeline.memory.items.shown import Known, choose
from pkg_pipeline.memory.items.states import ReadTalk, resolve
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.talk_items import items_as_written
from pkg_pipeline.prompts import conversation_reading as prompt
from training import closing_trees
from training.left_out import prepared, without
from training.vectors import embed
from training.worlds import World

SPOKEN = frozenset({"opened", "renewed"})
LAPSED = timedelta(days=21), timedelta(days=42)
"""As ``item_status()`` of the database has it: what was due, or (undated) said, longer ago is lapsed."""


@dataclass(frozen=True)
class Account:
    """A world with the readings of all its talks, in order."""

    world: World
    readings: tuple[ReadTalk, ...]

    @cached_property
    def said_at(self) -> dict[str, datetime]:
        """When each message was sent."""
        return {one.external_id: one.sent_at for talk in self.world.talks for one in talk.messages}

    def items_at(self, moment: datetime) -> dict[UUID, Item]:
        """Every item with its history up to a moment."""
        return resolve(one for one in self.readings if one.ended_at <= moment)


def status_of(item: Item, now: datetime) -> ItemStatus:
    state = item.now
    if item.kind == "decision" and state.status == "open" and item.holds_until is not None:
        return "lapsed" if max(item.holds_until, state.due_date or item.holds_until) < now.date() else "open"
    is_gone = (
        item.kind == "action_item"
        and state.status == "open"
        and is_past(state.due_date, state.at, now, since_due=LAPSED[0], since_said=LAPSED[1])
    )
    return "lapsed" if is_gone else state.status


def is_past(due: date | None, said_at: datetime, now: datetime, *, since_due: timedelta, since_said: timedelta) -> bool:
    """Whether a task was due, or without a day said, longer ago than given."""
    if due is None:
        return said_at < now - since_said
    return due < now.date() - since_due and said_at < now - since_due


def spoken_of(item: Item) -> frozenset[str]:
    """The messages that make it an item, or renew it."""
    return frozenset(key for state in item.states if state.event in SPOKEN for key in state.message_ids)


Reader = Callable[[ReadingInput], prompt.Answer]


def read_left_out(source: ReadingInput) -> prompt.Answer:
    """One talk of the training data by heads that did not see it."""
    talk = source.talks[0]
    known = prepared()[talk.interaction_id]
    with without(known.fold), closing_trees.left_out(known.fold):
        return items_as_written(talk, plain_talk(talk), known.reading, source.shown, embed)


def read_account(world: World, reader: Reader = read_left_out) -> Account:
    readings: list[ReadTalk] = []
    people: dict[UUID, frozenset[UUID]] = {}
    items: dict[UUID, Item] = {}
    silent: dict[str, list[ReadItem]] = {}
    for talk in sorted(world.talks, key=lambda one: (one.ended_at, one.interaction_id)):
        others = frozenset(one.entity_id for one in talk.others)
        near = [item for item in items.values() if people[item.id] & others]
        waiting = (_silent(world, one) for one in silent.get(talk.chat_key, ()))
        shown = choose((_known(world, item, people[item.id]) for item in near), talk.ended_at, waiting)
        reading = _read(talk, shown, reader)
        readings.append(reading)
        silent.setdefault(talk.chat_key, []).extend(reading.reading.silent)
        for item in reading.reading.items:
            owner = frozenset({item.owner_entity_id} if item.owner_entity_id else ())
            people.setdefault(item.id, others | owner)
        items = resolve(readings)
        for item in items.values():
            people.setdefault(item.id, others)
    return Account(world, tuple(readings))


def _read(talk: SummaryInput, shown: tuple[ShownItem, ...], reader: Reader) -> ReadTalk:
    source = reading_input([talk], shown)
    answer = reader(source)
    gated = check_reading(prompt.to_candidate(prompt.parse(answer.model_dump_json())), source, is_measured=True)
    reading, _ = settle(gated.readings[0], shown)
    return ReadTalk(reading, talk.ended_at)


def _silent(world: World, one: ReadItem) -> ShownItem:
    return replace(opened(one), said="\n".join(world.text_of[key] for key in one.message_ids))


def _known(world: World, item: Item, people: frozenset[UUID]) -> Known:
    now, first = item.now, item.states[0]
    shown = ShownItem(
        ref="",
        id=item.id,
        kind=item.kind,
        status=now.status,
        text=now.text,
        owner=now.owner,
        owner_name=item.owner_name,
        due_date=now.due_date,
        said_at=max(state.at for state in item.states if state.event in SPOKEN),
        quote=first.quote,
        person_ids=tuple(sorted(people)),
        owner_entity_id=item.owner_entity_id,
        said="\n".join(world.text_of[key] for key in first.message_ids),
    )
    return Known(shown, now.at, item.importance)
