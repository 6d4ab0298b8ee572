"""The reading routes; plain functions, which the server runs on its threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from pkg_pipeline.adapters.http.guard import OwnHost, is_loopback
from pkg_pipeline.api import models
from pkg_pipeline.api.chats import SetCategory
from pkg_pipeline.api.facts import FactPorts
from pkg_pipeline.api.items import ItemPorts
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.parameters import Day, KnownAsOf, MaxTokens, as_of_moment, chat_of_key
from pkg_pipeline.api.problems import answers, problem
from pkg_pipeline.api.security import ApiToken
from pkg_pipeline.api.summarization import BackfillDesk
from pkg_pipeline.stages.ports import Clock, TokenCounter
from pkg_pipeline.stages.reads.brief import MakeBrief, by_rule
from pkg_pipeline.stages.reads.context import ContextRequest, ContextSettings, Relevant, entity_context
from pkg_pipeline.stages.reads.entities import entity_id, entity_json, find_entity, list_entities
from pkg_pipeline.stages.reads.history import list_summaries, timeline
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import ReceiptSink, SummaryFilter, SummaryStatus
from pkg_pipeline.stages.recall.stage import RecallParts
from pkg_pipeline.wiring.forgetting import ForgettingWork
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline.wiring.process import Space
from pkg_pipeline.wiring.sessions import SessionWork

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDependencies:
    """Ports of the routes. ``receipts`` None switches them off; empty ``tokens`` allow loopback only, and only those of
    ``memory`` are known; ``is_own_host`` knows this server's names. Optional parts that are None leave out their
    routes, and without ``relevant`` a context's hint changes nothing.
    """

    reads: PostgresReadStore
    counter: TokenCounter
    clock: Clock
    settings: ContextSettings
    expected_revision: str
    receipts: ReceiptSink | None = None
    tokens: tuple[ApiToken, ...] = ()
    memory: str | None = None
    is_own_host: OwnHost = is_loopback
    monitoring: MonitoringPorts | None = None
    recall: RecallParts | None = None
    relevant: Relevant | None = None
    brief: MakeBrief = by_rule
    backfills: BackfillDesk | None = None
    items: ItemPorts | None = None
    facts: FactPorts | None = None
    people: PeopleWork | None = None
    why: PostgresWhyReads | None = None
    forgetting: ForgettingWork | None = None
    set_category: SetCategory | None = None
    sessions: SessionWork | None = None
    disk: Callable[[], Space | None] = lambda: None


_EntityPath = Annotated[str, Path(description="Id, or a name that fits exactly one", examples=[models.ANNA])]
_Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")]
_Cursor = Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)]
_Text = Annotated[str | None, Query(max_length=500)]


def _json(body: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def reading_routes(deps: ApiDependencies) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"], responses=answers(503))

    @router.get("/entities", summary="List entities by name", response_model=models.EntityList)
    def entities(query: _Text = None, limit: _Limit = DEFAULT_ROWS, cursor: _Cursor = None) -> Response:
        """Persons and organisations; `query` keeps names that contain it, letter case ignored."""
        page = list_entities(deps.reads, query=_clean(query), limit=limit, cursor=cursor)
        return _json(page.to_json())

    @router.get("/entities/{entity}", summary="One entity", response_model=models.Entity, responses=answers(404, 409))
    def entity(entity: _EntityPath) -> Response:
        """By id, or by a name that fits exactly one."""
        return _json(entity_json(find_entity(deps.reads, entity)))

    @router.get(
        "/entities/{entity}/context",
        summary="What matters about an entity, within a token budget",
        response_model=models.Context,
        responses=answers(404, 409),
    )
    def context(
        entity: _EntityPath,
        hint: Annotated[
            str | None, Query(min_length=1, max_length=2_000, description="The task at hand: what bears on it comes in")
        ] = None,
        max_tokens: MaxTokens = None,
        as_of: Annotated[
            str | None,
            Query(
                max_length=40,
                description="The context as it was then: an ISO time, or a day, which means its end; by default now",
                examples=["2026-01-31T18:00:00+01:00"],
            ),
        ] = None,
        brief: Annotated[
            bool, Query(description="Beside the block in four short parts, worded by the model if one is set")
        ] = False,
        known_as_of: KnownAsOf = None,
    ) -> Response:
        """Recent messages, summaries, decisions and open items, facts: `text` is ready for a model's prompt.

        With `brief` the model is asked once for a block and day; where it cannot be, the brief is chosen by rule.
        """
        now = deps.clock.now()
        request = ContextRequest(
            entity_id=entity_id(deps.reads, entity),
            now=now,
            as_of=as_of_moment(as_of, deps.settings.zone, now),
            known_as_of=as_of_moment(known_as_of, deps.settings.zone, now, "known_as_of"),
            max_tokens=max_tokens,
            hint=_clean(hint),
        )
        answer = entity_context(
            deps.reads,
            deps.counter,
            request,
            settings=deps.settings,
            receipts=deps.receipts,
            relevant=deps.relevant,
            brief=deps.brief if brief else None,
        )
        return _json(answer.to_json())

    @router.get(
        "/entities/{entity}/timeline",
        summary="Interactions of an entity, newest first",
        response_model=models.Timeline,
        responses=answers(404, 409),
    )
    def entity_timeline(entity: _EntityPath, limit: _Limit = DEFAULT_ROWS, cursor: _Cursor = None) -> Response:
        """Each interaction with one line of its summary, where it has one."""
        found = find_entity(deps.reads, entity)
        return _json(timeline(deps.reads, found.id, limit=limit, cursor=cursor).to_json())

    @router.get(
        "/summaries",
        summary="Summaries, newest interaction first",
        response_model=models.SummaryList,
        responses=answers(404, 409),
    )
    def summaries(
        entity: Annotated[str | None, Query(max_length=500, description="Id or name")] = None,
        chat: Annotated[str | None, Query(max_length=1_000, description="`source:external-id`")] = None,
        day_from: Annotated[Day | None, Query(alias="from", description="First day, by start of interaction")] = None,
        day_to: Annotated[Day | None, Query(alias="to", description="Last day, included")] = None,
        status: Annotated[list[SummaryStatus] | None, Query(description="By default what is served")] = None,
        limit: _Limit = DEFAULT_ROWS,
        cursor: _Cursor = None,
    ) -> Response:
        """With decisions, action items, facts and important messages, each with the messages it rests on.

        A page may hold fewer than `limit` rows before the end: follow `next` until it is null.
        """
        wanted = SummaryFilter(
            entity_id=None if entity is None else find_entity(deps.reads, entity).id,
            chat=None if chat is None else chat_of_key(chat),
            day_from=day_from,
            day_to=day_to,
            statuses=tuple(status) if status else ("completed", "dirty"),
        )
        return _json(list_summaries(deps.reads, wanted, now=deps.clock.now(), limit=limit, cursor=cursor).to_json())

    return router


def health_routes(deps: ApiDependencies) -> APIRouter:
    """For monitoring: needs no token and shows no data."""
    router = APIRouter(tags=["server"])

    @router.get("/health", summary="Whether reads work", response_model=models.Health, responses=answers(503))
    def health() -> Response:
        """The database answers and its schema is at the revision that this program needs."""
        revision = deps.reads.revision()
        if revision != deps.expected_revision:
            detail = (
                f"the database is at revision {revision or 'none'} and this program needs {deps.expected_revision};"
                " run pkg-pipeline db upgrade"
            )
            return problem(503, detail, kind="wrong-revision")
        room = deps.disk()
        return _json(
            {
                "status": "ok",
                "revision": revision,
                "expected_revision": deps.expected_revision,
                "disk": None if room is None else room.to_json(),
            }
        )

    return router


def _clean(text: str | None) -> str | None:
    return None if text is None else text.replace("\0", "")
