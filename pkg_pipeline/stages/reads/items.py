"""Action items and decisions as they stand: lists by filter, one with its history (B16, B17)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key, message_key
from pkg_pipeline.memory.items.records import Importance, ItemKind, ItemOwner, ItemStatus
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.paging import BadCursor, Page, cursor_of, text_position
from pkg_pipeline.stages.reads.short_ids import id_of
from pkg_pipeline.stages.reads.stores import BadRequest, ListedEntity

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads

_PLACE = re.compile(r"([0-4]) (\d{4,}-\d\d-\d\d|infinity) (-?\d{1,12}(?:\.\d{1,6})?)")


class ItemUnknown(Exception):
    """No item of this id, or it rests on a deleted message."""


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """``owners``: of these alone; ``statuses``: empty for all; ``overdue``: open and due before today."""

    kind: ItemKind = "action_item"
    person_id: UUID | None = None
    owners: tuple[ItemOwner, ...] = ()
    statuses: tuple[ItemStatus, ...] = ()
    overdue: bool = False


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """Where a row stands in the order of the list."""

    rank: int
    due: str
    age: str
    id: UUID


@dataclass(frozen=True, slots=True)
class PlacedItem:
    id: UUID
    status: ItemStatus
    place: str


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A row of ``items`` with its history and the decisions it took the place of; external message ids. ``is_stale``: a
    message behind it was edited since it was read (P29).
    """

    id: UUID
    kind: ItemKind
    status: ItemStatus
    text: str
    owner: ItemOwner
    owner_entity_id: UUID | None
    owner_name: str | None
    due_date: date | None
    importance: Importance
    probability: float
    proposed_by: UUID | None
    agreed_by: Sequence[UUID]
    superseded_by: UUID | None
    decided_by: str
    source: str
    chat_external_id: str
    interaction_id: UUID
    quote: str
    message_ids: Sequence[str]
    first_at: datetime
    last_at: datetime
    settled_at: datetime | None
    person_ids: Sequence[UUID]
    person_names: Sequence[str]
    is_stale: bool
    states: Sequence[Mapping[str, Any]]
    replaced: Sequence[Mapping[str, Any]]


def item_filter(
    *, kind: ItemKind, person: ListedEntity | None, statuses: tuple[ItemStatus, ...], is_open: bool, overdue: bool
) -> ItemFilter:
    """Of oneself: what oneself has to do. Raises BadRequest for what is open and of another status."""
    own = person is not None and person.is_self
    if is_open:
        if statuses and "open" not in statuses:
            raise BadRequest("status", "what is open has the status open: ask for one of both")
        statuses = ("open",)
    return ItemFilter(
        kind=kind,
        person_id=None if person is None or own else person.id,
        owners=("self", "both") if own else (),
        statuses=statuses,
        overdue=overdue,
    )


def list_items(store: PostgresItemReads, wanted: ItemFilter, *, now: datetime, limit: int, cursor: str | None) -> Page:
    """Overdue first, then by due date, then the newest; what is settled last. Raises BadCursor."""
    found = store.page(wanted, now=now, after=_place(cursor), limit=limit + 1)
    shown = found[:limit]
    today = store.today(now)
    rows = tuple(item_json(one, today=today) for one in store.items([one.id for one in shown], now=now))
    return Page(rows, cursor_of(shown[-1].place, shown[-1].id) if len(found) > limit else None)


def one_item(store: PostgresItemReads, item_id: UUID, *, now: datetime) -> dict[str, Any]:
    """With its history. Raises ItemUnknown."""
    found = store.items([item_id], now=now)
    if not found:
        raise ItemUnknown(f"there is no item {item_id}")
    return {**item_json(found[0], today=store.today(now)), "history": [_state_json(one) for one in found[0].states]}


def item_id_of(store: PostgresItemReads, asked: str) -> UUID:
    """The id given in full, or by its first digits. Raises ItemUnknown."""
    return id_of(asked, store.ids_between, what="item", unknown=ItemUnknown)


def item_json(one: StoredItem, *, today: date) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "kind": one.kind,
        "status": one.status,
        "text": one.text,
        "owner": one.owner,
        "owner_name": None if one.owner_name is None else clean_name(one.owner_name),
        "owner_id": None if one.owner_entity_id is None else str(one.owner_entity_id),
        "due_date": _day(one.due_date),
        "overdue": is_overdue(one.kind, one.status, one.due_date, today),
        "importance": one.importance,
        "probability": round(one.probability, 3),
        "decided_by": one.decided_by,
        "message_ids": [message_key(one.source, one.chat_external_id, key) for key in one.message_ids],
        "closed_by": _settled_in(one.states),
        "renewed_in": _renewed(one.states),
        "person_ids": [str(person) for person in one.person_ids],
        "person_names": [clean_name(name) for name in one.person_names],
        "chat": chat_key(one.source, one.chat_external_id),
        "interaction_id": str(one.interaction_id),
        "first_at": iso(one.first_at),
        "last_at": iso(one.last_at),
        "settled_at": None if one.settled_at is None else iso(one.settled_at),
        "quote": one.quote,
        "stale": one.is_stale,
        "proposed_by": None if one.proposed_by is None else str(one.proposed_by),
        "agreed_by": [str(person) for person in one.agreed_by],
        "superseded_by": None if one.superseded_by is None else str(one.superseded_by),
        "formerly": formerly(one),
    }


def is_overdue(kind: str, status: str, due_date: date | None, today: date) -> bool:
    return kind == "action_item" and status == "open" and due_date is not None and due_date < today


def formerly(one: StoredItem) -> list[dict[str, Any]]:
    """What held before, oldest first: decisions that this one superseded, and its own earlier words and due dates."""
    earlier = [
        {**_said(state), "id": None}
        for state, following in zip(one.states, one.states[1:], strict=False)
        if (state["text"], state["due_date"]) != (following["text"], following["due_date"])
    ]
    return sorted([*({**_said(row), "id": row["id"]} for row in one.replaced), *earlier], key=lambda row: row["at"])


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": row["text"], "due_date": row["due_date"], "at": _moment(row["at"]), "message_ids": _keys(row)}


def _state_json(state: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: state[name] for name in ("event", "status", "text", "owner", "due_date", "decided_by", "quote")}
    return {
        "at": _moment(state["at"]),
        **kept,
        "probability": round(state["probability"], 3),
        "message_ids": _keys(state),
    }


def _renewed(states: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for state in states if state["event"] == "renewed" for key in _keys(state)))


def _settled_in(states: Sequence[Mapping[str, Any]]) -> list[str]:
    """Messages that gave it its present status; none of an open one, nor where a person decided."""
    settling: Mapping[str, Any] | None = None
    for state, before in zip(states, [None, *states], strict=False):
        if before is None or state["status"] != before["status"]:
            settling = state
    return [] if settling is None or settling["status"] == "open" else _keys(settling)


def _keys(row: Mapping[str, Any]) -> list[str]:
    if row["source"] is None:  # a person's own
        return []
    return [message_key(row["source"], row["chat"], key) for key in row["message_ids"]]


def _moment(text: str) -> str:
    return iso(datetime.fromisoformat(text))


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _place(cursor: str | None) -> ItemPlace | None:
    if (position := text_position(cursor)) is None:
        return None
    place, identity = _PLACE.fullmatch(position[0]), position[1]
    try:
        if place is None or not _is_day(place[2]):
            raise BadCursor
        return ItemPlace(int(place[1]), place[2], place[3], UUID(identity))
    except ValueError:
        raise BadCursor from None


def _is_day(text: str) -> bool:
    return text == "infinity" or bool(date.fromisoformat(text))
