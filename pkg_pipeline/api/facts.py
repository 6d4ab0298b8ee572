"""``/v1/facts``: what is known about people, and a person's review of it (B2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Path, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.problems import BadPart, answers
from pkg_pipeline.api.security import json_only
from pkg_pipeline.stages.items.fact_deciding import FactEdit, NewFact
from pkg_pipeline.stages.items.fact_entry import MOST_CHARS, MOST_TYPE_CHARS
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.stages.reads.facts import FactFilter, ListedStatus, fact_id_of, list_facts, one_fact
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import BadRequest

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.fact_listing import PostgresFactReads
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

FACT = "8c1d2e3f-4a5b-5c6d-9e7f-0a1b2c3d4e5f"
NO_FACT = "No such fact, or it rests on a deleted message"


class Fact(Answer):
    """Something known about somebody. Message ids are `source:chat/message`, each part percent-encoded."""

    id: UUID
    entity_id: UUID | None
    entity_name: str | None
    about: str | None = Field(description="What somebody who took no part in any chat is called")
    type: str
    value: str
    display: str = Field(description="The value as people read it")
    read_value: str | None = Field(description="As it was read, where a person corrected it")
    status: ListedStatus = Field(
        description="Only `confirmed` is served; `closed`: confirmed, and held until `true_to`"
    )
    probability: float = Field(ge=0, le=1)
    message_ids: list[str]
    chat: str | None
    quote: str
    true_from: datetime | None
    true_to: datetime | None
    known_from: datetime = Field(description="Since when the memory knows it")
    known_to: datetime | None = Field(description="When it was rejected")
    decided_by: Literal["memory", "person"]
    stale: bool = Field(description="A message behind it was edited and not read again yet")


class FactList(Answer):
    items: list[Fact]
    next: str | None


class FactChanges(BaseModel):
    """What a person decides. It is kept for ever, and no run changes it."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["confirmed", "rejected"] | None = None
    value: str | None = Field(default=None, max_length=MOST_CHARS, description="Another value confirms it, too")


class FactBody(BaseModel):
    """What no conversation says."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    entity: str = Field(max_length=500, description="Id or name of whom it is about")
    type: str = Field(max_length=MOST_TYPE_CHARS)
    value: str = Field(max_length=MOST_CHARS)
    since: AwareDatetime | None = Field(default=None, alias="from", description="Since when it holds; now by default")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPorts:
    """Ports of these routes. ``decide`` raises FactUnknown, BadRequest; ``add`` BadRequest."""

    reads: PostgresFactReads
    decide: Callable[[UUID, FactEdit], None]
    add: Callable[[NewFact], UUID]


_FactPath = Annotated[str, Path(description="Id, or at least its first eight digits", examples=[FACT])]


def _json(body: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(body), status_code=status, media_type="application/json")


def fact_routes(ports: FactPorts, *, entities: PostgresReadStore) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"], responses=answers(503))
    writing: dict[str, Any] = {"response_model": Fact, "dependencies": [Depends(json_only)]}

    @router.get(
        "/facts", summary="What is known, the newest first", response_model=FactList, responses=answers(404, 409)
    )
    def facts(
        entity: Annotated[str | None, Query(max_length=500, description="Id or name of whom they are about")] = None,
        status: Annotated[list[ListedStatus] | None, Query(description="By default all")] = None,
        type: Annotated[str | None, Query(max_length=200)] = None,  # noqa: A002 - the parameter's name
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")] = DEFAULT_ROWS,
        cursor: Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)] = None,
    ) -> Response:
        """With candidates, which wait for a person's word, and what was rejected or ended."""
        wanted = FactFilter(
            entity_id=None if entity is None else find_entity(entities, entity).id,
            fact_type=type,
            statuses=tuple(status or ()),
        )
        return _json(list_facts(ports.reads, wanted, limit=limit, cursor=cursor).to_json())

    @router.get("/facts/{fact}", summary="One fact", response_model=Fact, responses=answers(404, s404=NO_FACT))
    def fact(fact: _FactPath) -> Response:
        """With the quote and the messages that it rests on."""
        return _json(one_fact(ports.reads, fact_id_of(ports.reads, fact)))

    @router.post("/facts", summary="Add a fact", status_code=201, responses=answers(404, 409, 415), **writing)
    def add(body: FactBody) -> Response:
        """Of a type of which a person has one value at a time it ends the older one. The same again is one fact."""
        found = find_entity(entities, body.entity)
        try:
            made = ports.add(NewFact(found.id, body.type, body.value, body.since))
        except BadRequest as wrong:
            raise BadPart("body", wrong.field, str(wrong)) from None
        return _json(one_fact(ports.reads, made), 201)

    @router.patch(
        "/facts/{fact}",
        summary="Confirm, reject or correct a fact",
        responses=answers(404, 415, s404=NO_FACT),
        **writing,
    )
    def change(fact: _FactPath, body: FactChanges) -> Response:
        """The person's word: it holds for every conversation that says the same, and outlives a rebuild. The same again
        changes nothing.
        """
        return decided(fact, FactEdit(**body.model_dump()))

    @router.post(
        "/facts/{fact}/confirm", summary="Confirm a fact", responses=answers(404, 415, s404=NO_FACT), **writing
    )
    def confirm(fact: _FactPath) -> Response:
        """As `PATCH` with the status `confirmed`."""
        return decided(fact, FactEdit(status="confirmed"))

    @router.post("/facts/{fact}/reject", summary="Reject a fact", responses=answers(404, 415, s404=NO_FACT), **writing)
    def reject(fact: _FactPath) -> Response:
        """As `PATCH` with the status `rejected`."""
        return decided(fact, FactEdit(status="rejected"))

    def decided(asked: str, wanted: FactEdit) -> Response:
        found = fact_id_of(ports.reads, asked)
        try:
            ports.decide(found, wanted)
        except BadRequest as wrong:
            raise BadPart("body", wrong.field, str(wrong)) from None
        return _json(one_fact(ports.reads, found))

    return router
