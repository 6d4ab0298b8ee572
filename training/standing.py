"""Every talk of a world with the items that stand open at it: what ``closing`` weighs and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from uuid import UUID

from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.offline import linking
from pkg_pipeline.offline.evidence import Heard, heard
from pkg_pipeline.offline.found import FoundAction
from pkg_pipeline.offline.judging import Head
from pkg_pipeline.offline.matters import Open, matter_of, roots_of_names, roots_of_text
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from pkg_pipeline.offline.retelling import described
from pkg_pipeline.offline.same_matter import same_tasks
from pkg_pipeline.offline.talk_items import found, prepared
from training.vectors import embed
from training.worlds import Label, World


@dataclass
class Standing:
    """An open item while a world is read: a labelled one, one that the reader found, or both.

    ``twin_of``: the label that an unlabelled one says again.
    """

    label: Label | None
    quoted: SourceMessage
    text: str
    said: str
    owner: Person | None
    people: frozenset[UUID]
    due: date | None
    is_closed: bool = False
    twin_of: Label | None = None

    @property
    def closed_by(self) -> frozenset[str]:
        known = self.label or self.twin_of
        return frozenset() if known is None else known.closed_by

    @property
    def again(self) -> frozenset[str]:
        """The messages that promise it again, beside those that open it."""
        known = self.label or self.twin_of
        if known is None:
            return frozenset()
        return frozenset(key for ids, _ in known.renewed for key in ids).union(known.messages)

    @property
    def ended(self) -> dict[Head, frozenset[str]]:
        """The messages that close or cancel it."""
        if self.label is None:
            return {"kept": frozenset(), "cancelled": frozenset()}
        return {"kept": self.label.closed_by, "cancelled": self.label.cancelled_by}


@dataclass
class Walk:
    """A talk with the items that stand at it. ``since``: the line after which each counts, -1 before the talk."""

    reading: Reading
    talk: tuple[Heard, ...]
    source: SummaryInput
    standing: list[Standing]
    items: list[Open]
    since: list[int]


@dataclass(frozen=True)
class Read:
    """A talk as the reader has it: what it takes for tasks, and every message as evidence."""

    reading: Reading
    tasks: tuple[FoundAction, ...]
    talk: tuple[Heard, ...]
    names: frozenset[str]


@cache
def read_once(source: SummaryInput) -> Read:
    """By the packaged heads."""
    return as_read(prepared(read(plain_talk(source)), embed))


def as_read(reading: Reading) -> Read:
    names = roots_of_names(reading.source.participants)
    return Read(reading, tuple(found(reading)[1]), heard(reading, names), names)


def walks(world: World, *, settle_by_label: bool, read: Callable[[SummaryInput], Read] = read_once) -> Iterator[Walk]:
    """Every talk in order with the items open at it: the labelled tasks, in the reader's words where it found them,
    and what else it took for a task. The caller may close them, or the labels do.
    """
    standing: list[Standing] = []
    tasks = [label for label in world.items if label.kind == "action_item"]
    for source in world.talks:
        told = read(source)
        names = told.names
        by_id = {message.external_id: message for message in source.messages}
        around = frozenset(person.entity_id for person in source.participants)
        before = [one for one in standing if one.people & around and not one.is_closed]
        items = [_open(one, names) for one in before]
        begun = [label for label in tasks if label.messages[0] in by_id]
        again = {key: one.label for one in before if one.label is not None for key in one.again & by_id.keys()}
        new = list(_new(told, begun, items, again))
        listed = [*before, *(one for one, _, _ in new)]
        items += [item for _, item, _ in new]
        since = [*([-1] * len(before)), *(place for _, _, place in new)]
        yield Walk(told.reading, told.talk, source, listed, items, since)
        standing += [one for one, _, _ in new]
        for one in standing:
            if one.label is None:
                continue
            for ids, day in one.label.renewed:
                if ids & by_id.keys():
                    one.due = day or one.due
            ended = one.label.cancelled_by | (one.closed_by if settle_by_label else frozenset())
            one.is_closed |= bool(ended & by_id.keys())
        standing = [one for one in standing if not one.is_closed]


def _open(one: Standing, names: frozenset[str]) -> Open:
    owner = one.owner.entity_id if one.owner else None
    text = f"{one.text}\n{one.quoted.text}"
    around = roots_of_text(one.said) - names
    told = one.text or one.quoted.text
    return Open(matter_of(text, names=names), owner, one.quoted.sent_at, one.due, told, one.said, around)


def _new(
    told: Read, labels: Sequence[Label], shown: Sequence[Open], again: Mapping[str, Label]
) -> Iterator[tuple[Standing, Open, int]]:
    """What becomes open in a talk, with the line after which it counts. ``again``: labels by what renews them."""
    reading, actions, names = told.reading, told.tasks, told.names
    by_id = {line.message.external_id: line for line in reading.lines}
    opened = [linking.found_open(reading, one, names) for one in actions]
    repeated = same_tasks(shown, opened, actions)
    wanted = list(labels)
    people = frozenset(person.entity_id for person in reading.source.others)
    for place, (action, item) in enumerate(zip(actions, opened, strict=True)):
        ids = {reading.lines[line].message.external_id for line in action.lines}
        label = next((one for one in wanted if ids & set(one.messages)), None)
        if label is None and place in repeated:
            continue
        if label is not None:
            wanted.remove(label)
        line = reading.lines[action.sentence.line]
        owner = action.owner_person if label is None else label.owner
        text = described(action.sentence, reading, action.before)
        about = people | ({label.owner.entity_id} if label is not None and label.owner else frozenset())
        said = "\n".join(reading.lines[at].message.text for at in action.lines)
        made = Standing(label, line.message, text, said, owner, about, action.due)
        made.twin_of = again.get(line.message.external_id) if label is None else None
        yield made, replace(item, owner=owner.entity_id if owner else None), max(action.lines[:1] or (line.index,))
    for label in wanted:
        line = by_id[label.messages[0]]
        about = people | ({label.owner.entity_id} if label.owner else frozenset())
        said = [by_id[key].message.text for key in label.messages if key in by_id]
        asked = [one.message.text for one in reading.lines[max(0, line.index - 1) : line.index]]
        made = Standing(label, line.message, "", "\n".join((*asked, *said)), label.owner, about, label.due)
        yield made, _open(made, names), line.index
