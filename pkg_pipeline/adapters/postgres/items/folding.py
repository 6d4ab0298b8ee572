"""Items, histories and people made anew from all readings that name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.json_rows import record_of, rows_of
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.items.matching import Verdict, decisions_of
from pkg_pipeline.memory.items.records import Item, ItemState, PersonDecision, TalkReading
from pkg_pipeline.memory.items.states import ReadTalk, resolve

SQL = Statements("items")
OF_ITEM = (
    "id",
    "kind",
    "interaction_id",
    "owner_entity_id",
    "owner_name",
    "importance",
    "proposed_by",
    "agreed_by",
    "person_ids",
    "holds_until",
)
OF_STATE = ("status", "text", "owner", "due_date", "probability", "superseded_by", "decided_by")
SETTLED = frozenset({"done", "cancelled", "superseded"})


@dataclass(frozen=True, slots=True)
class Folded:
    """What became of items. ``people`` and ``chats``: whom and, where nobody, where the changed ones concern, before
    and after; ``first_at``: when the earliest changed one was said first.
    """

    new: int = 0
    changed: int = 0
    people: frozenset[UUID] = frozenset()
    chats: frozenset[UUID] = frozenset()
    interactions: frozenset[UUID] = frozenset()
    first_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    item: Item
    chat_id: UUID
    is_withheld: bool


def refold(connection: Connection, ids: Collection[UUID]) -> Folded:
    """Make these items as their readings and a person's decisions say, in the caller's transaction; those that no
    reading opens go.
    """
    if not ids:
        return Folded()
    before = {one.item.id: one for one in SQL.rows(connection, "standing", _stored, ids=list(ids))}
    now, chats = _resolved(connection, {*ids, *before})
    gone = before.keys() - now.keys()
    changed = {
        item_id: item
        for item_id, item in now.items()
        if (stored := before.get(item_id)) is None or stored.is_withheld or stored.item != _plain(item)
    }
    if gone:
        SQL.run(connection, "delete_items", ids=list(gone))
    if changed:
        _write(connection, changed, chats)
    earlier = [before[key] for key in (*gone, *(changed.keys() & before.keys()))]
    touched = [*(one.item for one in earlier), *changed.values()]
    return Folded(
        new=len(changed.keys() - before.keys()),
        changed=len(earlier),
        people=frozenset(person for item in touched for person in item.person_ids),
        chats=frozenset({one.chat_id for one in earlier} | {chats[item.interaction_id] for item in changed.values()}),
        interactions=frozenset(item.interaction_id for item in touched),
        first_at=min((item.states[0].at for item in touched), default=None),
    )


def _resolved(connection: Connection, wanted: Collection[UUID]) -> tuple[dict[UUID, Item], dict[UUID, UUID]]:
    """Those of ``wanted`` that their readings open, and the chats of these readings' conversations."""
    talks: list[ReadTalk] = []
    chats: dict[UUID, UUID] = {}
    has_verdicts = False
    for row in SQL.rows(connection, "naming", ids=list(wanted)):
        has_verdicts = row.has_verdicts
        talks.append(ReadTalk(record_of(TalkReading, row.content), row.ended_at))
        chats[row.interaction_id] = row.chat_id
    decided = _decided(connection, wanted, talks, chats) if has_verdicts else None
    items = {item_id: item for item_id, item in resolve(talks, decided).items() if item_id in wanted}
    if not items:
        return {}, chats
    people: dict[UUID, list[UUID]] = defaultdict(list)
    for row in SQL.rows(connection, "people", items=Jsonb([_item_row(item, chats) for item in items.values()])):
        people[row.item_id].append(row.entity_id)
    return {item_id: replace(item, person_ids=tuple(people[item_id])) for item_id, item in items.items()}, chats


def _decided(
    connection: Connection, wanted: Collection[UUID], talks: Sequence[ReadTalk], chats: Mapping[UUID, UUID]
) -> dict[UUID, list[PersonDecision]]:
    alive = resolve(talks).keys()
    read = [(item, talk) for talk in talks for item in (*talk.reading.items, *talk.reading.silent) if item.id in alive]
    opened = {item.id: item for item, _ in read if item.id in wanted}
    where = {item.id: chats[talk.reading.interaction_id] for item, talk in read}
    rows = SQL.rows(connection, "verdicts", ids=list(wanted), chats=list(set(chats.values())))
    known = {row.item_id for row in rows if row.is_known and row.item_id not in wanted} | opened.keys()
    return decisions_of(opened, [_verdict(row) for row in rows], chats=where, known=frozenset(known))


def _verdict(row: Any) -> Verdict:
    decision = PersonDecision(
        item_id=row.item_id,
        at=row.decided_at,
        **{name: getattr(row, name) for name in ("action", "status", "text", "owner", "due_date", "clear_due_date")},
    )
    return Verdict(decision, row.kind, row.chat_id, row.message_ids, row.item_text)


def _stored(*, chat_id: UUID, is_withheld: bool, states: Sequence[Any] | None, **columns: Any) -> _Stored:
    history = tuple(record_of(ItemState, state) for state in states or ())
    return _Stored(_plain(Item(states=history, **{name: columns[name] for name in OF_ITEM})), chat_id, is_withheld)


def _plain(item: Item) -> Item:
    """Comparable with what the columns hold."""
    states = tuple(replace(state, probability=round(state.probability, 3)) for state in item.states)
    return replace(item, states=states)


def _write(connection: Connection, items: Mapping[UUID, Item], chats: Mapping[UUID, UUID]) -> None:
    SQL.run(connection, "upsert_items", items=Jsonb([_item_row(item, chats) for item in items.values()]))
    pairs = [(item.id, person) for item in items.values() for person in item.person_ids]
    SQL.run(
        connection,
        "write_histories",
        ids=list(items),
        states=Jsonb(list(_state_rows(items.values(), chats))),
        item_id=[item for item, _ in pairs],
        entity_id=[person for _, person in pairs],
    )


def _item_row(item: Item, chats: Mapping[UUID, UUID]) -> dict[str, Any]:
    first, now = item.states[0], item.now
    own: dict[str, Any] = {name: getattr(item, name) for name in OF_ITEM}
    own |= {name: getattr(now, name) for name in OF_STATE}
    own |= {
        "quote": first.quote,
        "message_ids": first.message_ids,
        "first_at": first.at,
        "last_at": now.at,
        "settled_at": _settled_at(item),
        "chat_id": chats[item.interaction_id],
        "said_in": None if now.interaction_id is None else chats[now.interaction_id],
        "said_by": now.message_ids,
    }
    (row,) = rows_of([own])
    return row


def _settled_at(item: Item) -> datetime | None:
    """When the present settled status began."""
    since = None
    for state in reversed(item.states):
        if state.status not in SETTLED or state.status != item.now.status:
            break
        since = state.at
    return since


def _state_rows(items: Iterable[Item], chats: Mapping[UUID, UUID]) -> Iterable[dict[str, Any]]:
    for item in items:
        for place, row in enumerate(rows_of(item.states)):
            where = item.states[place].interaction_id
            yield {
                **row,
                "item_id": str(item.id),
                "place": place,
                "chat_id": None if where is None else str(chats[where]),
            }
