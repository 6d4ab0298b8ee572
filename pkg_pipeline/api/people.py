"""``/v1/entities/…``: who is who, decided by a person and undone (B20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from pkg_pipeline.api import models
from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.problems import BadPart, answers
from pkg_pipeline.api.security import json_only
from pkg_pipeline.stages.people.deciding import LONGEST_NAME
from pkg_pipeline.stages.people.records import Kept
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import BadRequest

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.wiring.people import PeopleWork

DECISION = "3d6f1c2a-7b8e-4c1d-9a2b-5e4f3a2b1c0d"
NO_DECISION = "No such decision"
MOST_AT_ONCE = 100
"""Accounts or names in one request."""


class KnownAccount(Answer):
    id: UUID
    name: str = Field(description="The name last in use on this account")
    identities: list[str]


class Person(models.Entity):
    """Somebody with all their accounts."""

    aliases: list[str] = Field(description="Further names that a person added")
    accounts: list[KnownAccount]


class About(Answer):
    entity_id: UUID
    name: str
    account: str | None = Field(description="`source:external-id`")


class Decision(Answer):
    """What was decided about who is who, at once."""

    id: UUID
    kind: Literal["merge", "split", "alias", "unalias", "rename", "dismiss"]
    about: list[About]
    name: str | None
    decided_at: datetime
    undone_at: datetime | None = Field(description="Since when it counts no more")


class DecisionList(Answer):
    items: list[Decision]


class Decided(Answer):
    decision: Decision | None = Field(description="Null where it stood already")
    entity: Person


class Undone(Answer):
    decision: Decision | None = Field(description="Null where it was undone before")


class Shared(Answer):
    kind: Literal["phone", "email", "handle", "name", "name_sound"]
    value: str


class SuggestedPair(Answer):
    people: list[models.Entity]
    evidence: list[Shared]
    score: float = Field(ge=0, le=1, description="How much the evidence says; a name alone is 0.5 at most")


class SuggestionList(Answer):
    items: list[SuggestedPair]


class OtherBody(BaseModel):
    """Whom the entity of the path is compared with."""

    model_config = ConfigDict(extra="forbid")
    other: str = Field(max_length=500, description="Id, key or name that fits exactly one")


class SplitBody(BaseModel):
    """Accounts that are another person, one and the same."""

    model_config = ConfigDict(extra="forbid")
    identities: list[Annotated[str, Field(max_length=3_000)]] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="Keys (`source:external-id`) or ids of accounts"
    )


class AliasBody(BaseModel):
    """Further names, by which questions and messages of a group may call somebody."""

    model_config = ConfigDict(extra="forbid")
    names: list[Annotated[str, Field(max_length=LONGEST_NAME)]] = Field(min_length=1, max_length=MOST_AT_ONCE)
    remove: bool = Field(default=False, description="They are not called so")


class NameBody(BaseModel):
    """What somebody is called, whatever later imports call their accounts."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=LONGEST_NAME)


_Who = Annotated[str, Path(description="Id, key, or a name that fits exactly one", examples=[models.ANNA])]
_Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows at most")]


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def people_routes(work: PeopleWork, *, entities: PostgresReadStore) -> APIRouter:
    """To be included before the routes that take any word after ``/entities/`` for a name."""
    router = APIRouter(prefix="/v1/entities", tags=["memory"], responses=answers(503))
    deciding: dict[str, Any] = {
        "response_model": Decided,
        "dependencies": [Depends(json_only)],
        "responses": answers(404, 409, 415),
    }

    @router.get("/suggestions", summary="Who may be one person, and why", response_model=SuggestionList)
    def suggestions(limit: _Limit = DEFAULT_ROWS) -> Response:
        """By the same phone, mail, account name or name, the surest first. Nothing is merged unasked."""
        return _json({"items": [one.to_json() for one in work.suggested(limit=limit)]})

    @router.get(
        "/decisions",
        summary="What was decided about who is who",
        response_model=DecisionList,
        responses=answers(404, 409),
    )
    def decisions(
        entity: Annotated[str | None, Query(max_length=500, description="Only those about them: id or name")] = None,
        limit: _Limit = DEFAULT_ROWS,
    ) -> Response:
        """The newest first, with those that were undone."""
        person = None if entity is None else find_entity(entities, entity).id
        return _json({"items": [one.to_json() for one in work.store.decisions(person=person, limit=limit)]})

    @router.post(
        "/decisions/{decision}/undo",
        summary="Undo a decision",
        response_model=Undone,
        responses=answers(404, s404=NO_DECISION),
    )
    def undo(
        decision: Annotated[str, Path(description="Id, or at least its first eight digits", examples=[DECISION])],
    ) -> Response:
        """As if it had never been decided. The same again changes nothing."""
        kept = work.undo(decision)
        return _json({"decision": None if kept.id is None else work.store.decision(kept.id).to_json()})

    @router.post("/{entity}/merge", summary="Two are one person", **deciding)
    def merge(entity: _Who, body: OtherBody) -> Response:
        """The entity of the path stays, with the other's accounts, in every read at once. An import, before or after,
        changes nothing about that.
        """
        return decided(entity, lambda person: work.merge(person, find_entity(entities, body.other).id))

    @router.post("/{entity}/split", summary="Accounts are somebody else's", **deciding)
    def split(entity: _Who, body: SplitBody) -> Response:
        """They become one person of their own."""
        return decided(entity, lambda person: work.split(person, body.identities))

    @router.post("/{entity}/aliases", summary="Further names", **deciding)
    def aliases(entity: _Who, body: AliasBody) -> Response:
        """They name somebody in questions, commands and messages of groups."""
        change = work.remove_alias if body.remove else work.add_alias
        return decided(entity, lambda person: change(person, body.names))

    @router.patch("/{entity}", summary="Another name", **deciding)
    def rename(entity: _Who, body: NameBody) -> Response:
        """It stands over what imports call the person's accounts."""
        return decided(entity, lambda person: work.rename(person, body.name))

    @router.post("/{entity}/dismiss", summary="Two are not one person", **deciding)
    def dismiss(entity: _Who, body: OtherBody) -> Response:
        """They are not suggested again."""
        return decided(entity, lambda person: work.dismiss(person, find_entity(entities, body.other).id))

    def decided(asked: str, decide: Callable[[UUID], Kept]) -> Response:
        person = find_entity(entities, asked).id
        with _in_body():
            kept = decide(person)
        decision = None if kept.id is None else work.store.decision(kept.id).to_json()
        return _json({"decision": decision, "entity": work.person_json(person)})

    return router


@contextmanager
def _in_body() -> Iterator[None]:
    try:
        yield
    except BadRequest as wrong:
        raise BadPart("body", wrong.field, str(wrong)) from None
