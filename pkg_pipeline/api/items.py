"""``/v1/items``: action items and decisions as they stand (B16, B17)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.parameters import Day
from pkg_pipeline.api.problems import BadPart, answers
from pkg_pipeline.api.security import json_only
from pkg_pipeline.memory.items.records import Importance, ItemEvent, ItemKind, ItemOwner, ItemStatus
from pkg_pipeline.stages.items.deciding import MOST_CHARS, ItemEdit
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.stages.reads.items import item_filter, item_id_of, list_items, one_item
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import BadRequest

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

ITEM = "5e1f0c57-6a0e-5d0c-9b1a-7b1f2c3d4e5f"
NO_ITEM = "No such item, or it rests on a deleted message"


class FormerItem(Answer):
    """What held before: a decision that this one superseded (`id`), or its own earlier words or due date."""

    id: UUID | None
    text: str
    due_date: date | None
    at: datetime
    message_ids: list[str]


class ListedItem(Answer):
    """An action item or a decision. Message ids are `source:chat/message`, each part percent-encoded."""

    id: UUID
    kind: ItemKind
    status: ItemStatus = Field(description="`open`: to be done, or a decision in force")
    text: str
    owner: ItemOwner
    owner_name: str | None
    owner_id: UUID | None
    due_date: date | None
    overdue: bool
    importance: Importance
    probability: float = Field(ge=0, le=1, description="That the status holds")
    decided_by: Literal["memory", "person"] = Field(description="Who settled the present state")
    message_ids: list[str]
    closed_by: list[str] = Field(description="Messages that gave it its status, where it is not open")
    renewed_in: list[str] = Field(description="Messages that said it again, with another day or other words")
    person_ids: list[UUID] = Field(description="Whom it concerns besides me")
    person_names: list[str] = Field(description="Theirs, in the same order")
    chat: str
    interaction_id: UUID
    first_at: datetime
    last_at: datetime
    settled_at: datetime | None
    quote: str
    stale: bool = Field(description="A message behind it was edited and not read again yet")
    proposed_by: UUID | None
    agreed_by: list[UUID]
    superseded_by: UUID | None
    formerly: list[FormerItem]


class ItemHistory(Answer):
    """What an item was from a moment on."""

    at: datetime
    event: ItemEvent
    status: ItemStatus
    text: str
    owner: ItemOwner
    due_date: date | None
    decided_by: Literal["memory", "person"]
    quote: str
    probability: float
    message_ids: list[str]


class Item(ListedItem):
    """An item with its whole history, oldest first."""

    history: list[ItemHistory]


class ItemList(Answer):
    items: list[ListedItem]
    next: str | None


class ItemChanges(BaseModel):
    """What a person decides; what is left out stays. It is kept for ever, and no run changes it."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["open", "done", "cancelled"] | None = Field(
        default=None, description="`done` or `cancelled` closes it (a decision is cancelled), `open` opens it again"
    )
    text: str | None = Field(default=None, max_length=MOST_CHARS)
    owner: ItemOwner | None = None
    due_date: Day | None = Field(default=None, description="`null` takes the due date away")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPorts:
    """Ports of these routes. ``decide``: writes a person's verdict; raises ItemUnknown, BadRequest."""

    reads: PostgresItemReads
    decide: Callable[[UUID, ItemEdit], None]


_ItemPath = Annotated[str, Path(description="Id, or at least its first eight digits", examples=[ITEM])]


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def item_routes(ports: ItemPorts, *, entities: PostgresReadStore, clock: Clock) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"], responses=answers(503))

    @router.get(
        "/items",
        summary="Action items or decisions: overdue first, then by due date",
        response_model=ItemList,
        responses=answers(404, 409),
    )
    def items(
        person: Annotated[str | None, Query(max_length=500, description="Id or name of whom they concern")] = None,
        kind: ItemKind = "action_item",
        status: Annotated[list[ItemStatus] | None, Query(description="By default all")] = None,
        open: Annotated[bool, Query(description="Only open ones")] = False,  # noqa: A002 - the parameter's name
        overdue: Annotated[bool, Query(description="Only open ones that were due before today")] = False,
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")] = DEFAULT_ROWS,
        cursor: Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)] = None,
    ) -> Response:
        """As they stand now over all conversations. What lapsed was due long ago, or said long ago, and nothing was
        heard of it since: it is never overdue. Of oneself as `person`: what I have to do.
        """
        wanted = item_filter(
            kind=kind,
            person=None if person is None else find_entity(entities, person),
            statuses=tuple(status or ()),
            is_open=open,
            overdue=overdue,
        )
        return _json(list_items(ports.reads, wanted, now=clock.now(), limit=limit, cursor=cursor).to_json())

    @router.get(
        "/items/{item}",
        summary="One item with its history",
        response_model=Item,
        responses=answers(404, s404=NO_ITEM),
    )
    def item(item: _ItemPath) -> Response:
        """Each state with the messages and the quote that say so."""
        found = item_id_of(ports.reads, item)
        return _json(one_item(ports.reads, found, now=clock.now()))

    @router.patch(
        "/items/{item}",
        summary="Close, reopen or edit an item",
        response_model=Item,
        responses=answers(404, 415, s404=NO_ITEM),
        dependencies=[Depends(json_only)],
    )
    def change(item: _ItemPath, body: ItemChanges) -> Response:
        """The person's word: messages and runs change nothing of what it set, and it outlives a rebuild. The same again
        changes nothing.
        """
        found = item_id_of(ports.reads, item)
        clears = "due_date" in body.model_fields_set and body.due_date is None
        try:
            ports.decide(found, ItemEdit(**body.model_dump(), clear_due_date=clears))
        except BadRequest as wrong:
            raise BadPart("body", wrong.field, str(wrong)) from None
        return _json(one_item(ports.reads, found, now=clock.now()))

    return router
