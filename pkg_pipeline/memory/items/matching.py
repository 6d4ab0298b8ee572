"""Which items are one matter: what is said again, what a later decision replaces, whom a person's word is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from pkg_pipeline.memory.items.records import (
    ItemChange,
    ItemKind,
    PersonDecision,
    ReadItem,
    ShownItem,
    TalkReading,
)
from pkg_pipeline.memory.items.states import UNSETTLED
from pkg_pipeline.memory.text.content_words import content

SHARED = 0.75
"""Of the content words of the shorter text, how many the longer one has, for one matter."""

ALIKE = 0.5
"""Of all their content words, how many they share."""

LEAST_WORDS = 2
"""A Chinese character is half a word."""


def settle(
    reading: TalkReading, shown: Iterable[ShownItem], same: Mapping[UUID, UUID] | None = None
) -> tuple[TalkReading, dict[UUID, UUID]]:
    """``reading`` without twins of ``shown``: an action item said again renews the shown one, a decision on the matter
    of a standing one replaces it, or renews it where nothing changed. Silent ones have no twins.

    With the ids that became others' by that; ``same``: those of earlier talks in the same answer.
    """
    shown = [one for one in shown if not one.is_silent]
    items: list[ReadItem] = []
    now = dict(same or {})
    changes = [replace(change, item_id=now.get(change.item_id, change.item_id)) for change in reading.changes]
    for item in reading.items:
        twin = _twin(item, shown, changes) if item.replaces is None else None
        if twin is None:
            items.append(item)
        elif item.kind == "decision" and not _says_the_same(item, twin):
            # a text names who said it, the quoted words do not
            is_newer = are_alike(item.quote, twin.quote)
            items.append(replace(item, replaces=twin.id) if is_newer else item)
        else:
            now[item.id] = twin.id
            if not _is_told(twin, item, changes):
                changes.append(_renewal(item, twin))
    changes = [replace(change, item_id=now.get(change.item_id, change.item_id)) for change in changes]
    items = [
        item if item.replaces is None else replace(item, replaces=now.get(item.replaces, item.replaces))
        for item in items
    ]
    settled = replace(reading, items=tuple(items), changes=tuple(sorted(changes, key=lambda change: change.at)))
    return settled, now


def _twin(item: ReadItem, shown: Sequence[ShownItem], changes: Sequence[ItemChange]) -> ShownItem | None:
    """The newest shown item that is the same matter, if any stands."""
    ended = {change.item_id for change in changes if change.to in ("done", "cancelled")}
    same = [
        one
        for one in shown
        if one.kind == item.kind and one.status in UNSETTLED and one.id not in ended and _is_one_matter(item, one)
    ]
    return max(same, key=lambda one: (one.said_at, one.id), default=None)


def _is_one_matter(item: ReadItem, shown: ShownItem) -> bool:
    if item.kind == "action_item":
        if (item.owner, item.owner_entity_id, item.owner_name) != (
            shown.owner,
            shown.owner_entity_id,
            shown.owner_name,
        ):
            return False
        if _numbers(item.text, item.due_date) != _numbers(shown.text, shown.due_date):
            return False
    return are_alike(item.text, shown.text)


def are_alike(first: str, second: str) -> bool:
    """Whether two texts speak of one matter, by their content words; numbers do not count."""
    one, other = _words(first), _words(second)
    if min(_size(one), _size(other)) < LEAST_WORDS:
        return one == other and bool(one)
    both = len(one & other)
    return both >= SHARED * min(len(one), len(other)) and both >= ALIKE * len(one | other)


def _size(words: frozenset[str]) -> float:
    return sum(0.5 if len(word) == 1 else 1 for word in words)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content(text) if not word.startswith("#"))


def _numbers(text: str, due: date | None) -> frozenset[str]:
    """Numbers of a text but those of its due date."""
    said = frozenset(word for word in content(text) if word.startswith("#"))
    if due is None:
        return said
    return said - {f"#{due.day}", f"#{due.day:02}", f"#{due.month}", f"#{due.month:02}", f"#{due.year}"}


def _says_the_same(item: ReadItem, shown: ShownItem) -> bool:
    return content(item.text) == content(shown.text) and item.due_date in (None, shown.due_date)


def _is_told(twin: ShownItem, item: ReadItem, changes: Iterable[ItemChange]) -> bool:
    """Whether the reading says of the shown item already what its twin says, by the same messages."""
    return any(change.item_id == twin.id and {*change.message_ids} & {*item.message_ids} for change in changes)


def _renewal(item: ReadItem, twin: ShownItem) -> ItemChange:
    due = item.due_date if item.due_date != twin.due_date else None
    return ItemChange(
        item_id=twin.id,
        to="renewed",
        at=item.at,
        quote=item.quote,
        message_ids=item.message_ids,
        due_date=due,
        probability=item.probability,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A person's decision with what it was about, should the item's id have changed since."""

    decision: PersonDecision
    kind: ItemKind
    chat_id: UUID
    message_ids: tuple[str, ...]
    item_text: str


def decisions_of(
    items: Mapping[UUID, ReadItem], verdicts: Iterable[Verdict], *, chats: Mapping[UUID, UUID], known: frozenset[UUID]
) -> dict[UUID, list[PersonDecision]]:
    """What a person decided about each of ``items``. ``chats``: of items; ``known``: ids of items that exist.

    A verdict whose item exists no more goes to the item of that chat and kind that rests on one of its messages, the
    one with the most of its words; to none where several have as many.
    """
    found: dict[UUID, list[PersonDecision]] = defaultdict(list)
    for verdict in verdicts:
        wanted = verdict.decision.item_id
        if wanted not in known:
            heir = _heir(verdict, items, chats)
            if heir is None:
                continue
            wanted = heir
        if wanted in items:
            found[wanted].append(replace(verdict.decision, item_id=wanted))
    return found


def _heir(verdict: Verdict, items: Mapping[UUID, ReadItem], chats: Mapping[UUID, UUID]) -> UUID | None:
    said = content(verdict.item_text)
    ranked = sorted(
        (
            (len(said & content(item.text)), item_id)
            for item_id, item in items.items()
            if item.kind == verdict.kind
            and chats[item_id] == verdict.chat_id
            and {*item.message_ids} & {*verdict.message_ids}
        ),
        reverse=True,
    )
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]
