"""What becomes of items: all readings that name them, in time order, then what a person decided (B16, B17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from pkg_pipeline.memory.items.records import (
    ChangeTo,
    Item,
    ItemChange,
    ItemEvent,
    ItemState,
    PersonDecision,
    ReadItem,
    TalkReading,
)

CERTAIN_FROM = 0.75
"""What is less probable than this was perhaps kept, and is not shown as settled."""

SURE_FROM = 0.85
"""What was found with less is told with a "perhaps", and is never overdue in a context."""
UNSETTLED = frozenset({"open", "perhaps_done"})

TalkKey = tuple[datetime, UUID]
"""(ended_at, interaction id): the order in which talks are read and folded."""


@dataclass(frozen=True, slots=True)
class ReadTalk:
    """A reading with the end of its talk."""

    reading: TalkReading
    ended_at: datetime

    @property
    def key(self) -> TalkKey:
        return self.ended_at, self.reading.interaction_id


@dataclass(frozen=True, slots=True)
class _Said:
    """What a talk says of an item. ``later``: the decision that takes its place."""

    talk: ReadTalk
    change: ItemChange | None = None
    later: ReadItem | None = None

    @property
    def at(self) -> datetime:
        said = self.change or self.later
        assert said is not None, "one of the two is given"
        return said.at

    @property
    def keeps(self) -> bool:
        """Whether it certainly tells that an action item was done."""
        return self.change is not None and self.change.to == "done" and self.change.probability >= CERTAIN_FROM


def resolve(
    talks: Iterable[ReadTalk], decided: Mapping[UUID, Sequence[PersonDecision]] | None = None
) -> dict[UUID, Item]:
    """All items that ``talks`` open, with their histories; ``person_ids`` are left empty. Any order of ``talks``.

    A silent item is one from the talk on that keeps it; before, nothing is said of it.
    """
    ordered = sorted(talks, key=lambda talk: talk.key)
    opened: dict[UUID, tuple[ReadItem, ReadTalk]] = {}
    silent: dict[UUID, tuple[ReadItem, ReadTalk]] = {}
    said: dict[UUID, list[_Said]] = defaultdict(list)
    for talk in ordered:
        for item in talk.reading.items:
            opened.setdefault(item.id, (item, talk))
        for item in talk.reading.silent:
            silent.setdefault(item.id, (item, talk))
        for item_id, one in _named(talk):
            if item_id in silent and one.keeps:
                opened.setdefault(item_id, silent[item_id])
            if item_id in opened:
                said[item_id].append(one)
    decided = decided or {}
    return {
        item_id: Item(
            id=item_id,
            kind=item.kind,
            interaction_id=talk.reading.interaction_id,
            person_ids=(),
            owner_entity_id=item.owner_entity_id,
            owner_name=item.owner_name,
            importance=item.importance,
            proposed_by=item.proposed_by,
            agreed_by=item.agreed_by,
            states=fold(item, talk, said.get(item_id, ()), decided.get(item_id, ())),
            holds_until=item.holds_until,
        )
        for item_id, (item, talk) in opened.items()
    }


def _named(talk: ReadTalk) -> list[tuple[UUID, _Said]]:
    """What a talk says of items that were there before, in the order of its messages."""
    named = [(change.item_id, _Said(talk, change=change)) for change in talk.reading.changes]
    named += [
        (item.replaces, _Said(talk, later=item))
        for item in talk.reading.items
        if item.replaces is not None and item.replaces != item.id
    ]
    return sorted(named, key=lambda one: one[1].at)


def fold(
    item: ReadItem, where: ReadTalk, said: Iterable[_Said], decided: Iterable[PersonDecision] = ()
) -> tuple[ItemState, ...]:
    """The states of an item from its opening on. ``said`` in the order of talks; a person's decisions in any order."""
    history = _History(item, where)
    waiting = sorted(decided, key=lambda one: one.at)[::-1]
    for one in said:
        while waiting and waiting[-1].at < one.talk.ended_at:
            history.decide(waiting.pop())
        if one.change is not None:
            history.change(one.change, one.talk)
        elif one.later is not None:
            history.supersede(one.later, one.talk)
    while waiting:
        history.decide(waiting.pop())
    return tuple(history.states)


class _History:
    """The states so far, and the fields that a person decided: those stay (B17)."""

    def __init__(self, item: ReadItem, where: ReadTalk) -> None:
        self._kind = item.kind
        self._held: set[str] = set()
        self.states = [
            ItemState(
                event="opened",
                at=item.at,
                status="open",
                text=item.text,
                owner=item.owner,
                due_date=item.due_date,
                quote=item.quote,
                message_ids=item.message_ids,
                interaction_id=where.reading.interaction_id,
                probability=item.probability,
            )
        ]

    @property
    def _now(self) -> ItemState:
        return self.states[-1]

    def change(self, change: ItemChange, talk: ReadTalk) -> None:
        to = self._meant(change)
        if to == "renewed":
            self._renew(change, talk)
        elif to is not None and "status" not in self._held:
            self._say(to, change, talk, status=to)

    def _meant(self, change: ItemChange) -> ChangeTo | None:
        """What a change comes to in the present state; None: nothing new."""
        now, to = self._now.status, change.to
        if to == "renewed":
            return to if now in UNSETTLED or (now != "superseded" and change.probability >= CERTAIN_FROM) else None
        if self._kind == "decision":
            return to if to == "cancelled" and now == "open" and change.probability >= CERTAIN_FROM else None
        if change.probability < CERTAIN_FROM:
            to = "perhaps_done"
        may_come = now == "open" if to == "perhaps_done" else now in UNSETTLED
        return to if may_come else None

    def _renew(self, change: ItemChange, talk: ReadTalk) -> None:
        if "status" in self._held and self._now.status not in UNSETTLED:
            return  # a person settled it
        new: dict[str, object] = {} if "status" in self._held else {"status": "open"}
        if change.due_date is not None and "due_date" not in self._held:
            new["due_date"] = change.due_date
        if change.text is not None and "text" not in self._held:
            new["text"] = change.text
        self._say("renewed", change, talk, **new)

    def supersede(self, later: ReadItem, talk: ReadTalk) -> None:
        if self._kind == later.kind == "decision" and self._now.status == "open" and "status" not in self._held:
            self._say("superseded", later, talk, status="superseded", superseded_by=later.id)

    def _say(self, event: ItemEvent, said: ItemChange | ReadItem, talk: ReadTalk, **new: object) -> None:
        self._add(
            event=event,
            at=said.at,
            quote=said.quote,
            message_ids=said.message_ids,
            interaction_id=talk.reading.interaction_id,
            probability=said.probability,
            decided_by="memory",
            **new,
        )

    def decide(self, decision: PersonDecision) -> None:
        """A person's word; from then on only a person changes what it set."""
        new: dict[str, object] = {}
        event: ItemEvent = "edited"
        if decision.action == "close":
            event, new["status"] = "closed", decision.status or "done"
        elif decision.action == "reopen":
            event, new["status"], new["superseded_by"] = "reopened", "open", None
        new |= {name: value for name in ("text", "owner", "due_date") if (value := getattr(decision, name)) is not None}
        if decision.clear_due_date:
            new["due_date"] = None
        self._held |= new.keys()
        self._add(
            event=event,
            at=decision.at,
            quote="",
            message_ids=(),
            interaction_id=None,
            probability=1.0,
            decided_by="person",
            **new,
        )

    def _add(self, **new: object) -> None:
        """Times never go back: of two talks at once the one that ended first may have said it later."""
        state = replace(self._now, **new)  # pyright: ignore[reportArgumentType]
        self.states.append(replace(state, at=max(state.at, self._now.at)))
