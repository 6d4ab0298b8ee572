"""``DELETE`` of people, chats, sessions and messages, and the receipts of it (B3). Needs the scope ``admin``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from pkg_pipeline.api import models
from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.parameters import chat_named
from pkg_pipeline.api.problems import BadPart, answers, problem
from pkg_pipeline.api.sessions.input import session_named
from pkg_pipeline.memory.hashing import chat_id, chat_id_of, parse_typed_message_key
from pkg_pipeline.stages.archive.forgetting import ErasureKind, ErasureUnknown, ImportRuns, NotForgotten, Surveyed
from pkg_pipeline.stages.reads.entities import find_entity

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.wiring.forgetting import ForgettingWork

BY = "HTTP"
NOTHING = "There is nothing of it in the memory"


class Erasure(Answer):
    """The receipt: counts and a digest, no content."""

    id: UUID
    kind: ErasureKind
    state: Literal["running", "done"]
    counts: dict[str, int] = Field(description="Rows erased, by what they were; `files` of the inbox")
    digest: str = Field(description="sha256 over the salted hashes of the messages")
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None


class ErasureList(Answer):
    items: list[Erasure]
    next: str | None


class Survey(Answer):
    """What would be erased."""

    dry_run: Literal[True]
    counts: dict[str, int]


_DryRun = Annotated[bool, Query(description="Only say what would go")]
_Rewrite = Annotated[
    bool, Query(description="Rewrite the tables, so that no byte of it stays on the disk; others wait meanwhile")
]


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def forgetting_routes(work: ForgettingWork, *, entities: PostgresReadStore) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["forgetting"], responses=answers(503))
    deleting: dict[str, Any] = {"response_model": Erasure | Survey, "responses": answers(404, s404=NOTHING)}

    def done(survey: Callable[[], Surveyed], *, dry_run: bool, rewrite: bool) -> Response:
        try:
            found = survey()
            if dry_run:
                return _json({"dry_run": True, "counts": dict(found.counts)})
            return _json(work.forget(found, by=BY, rewrite=rewrite).to_json())
        except NotForgotten as error:
            return problem(409 if isinstance(error, ImportRuns) else 404, str(error))

    @router.delete("/entities/{entity}", summary="Forget a person", **deleting)
    def entity(
        entity: Annotated[str, Path(description="Id, or a name that fits exactly one", examples=[models.ANNA])],
        mentions: Annotated[bool, Query(description="Also messages of others that say the name")] = False,
        dry_run: _DryRun = False,
        rewrite: _Rewrite = False,
    ) -> Response:
        """Chats with them alone, what they wrote elsewhere, all that is known of them. Later imports leave it out."""
        person = find_entity(entities, entity)
        return done(lambda: work.person(person.id, with_mentions=mentions), dry_run=dry_run, rewrite=rewrite)

    @router.delete("/sessions/{session}", summary="Forget a session", **deleting)
    def session(session: str, dry_run: _DryRun = False, rewrite: _Rewrite = False) -> Response:
        """With its chat, folds and windows. Appending to it is refused from then on."""
        found = chat_id_of(session_named(session))
        return done(lambda: work.session(found), dry_run=dry_run, rewrite=rewrite)

    @router.delete("/chats/{chat}", summary="Forget a chat", **deleting)
    def chat(chat: str, dry_run: _DryRun = False, rewrite: _Rewrite = False) -> Response:
        """With everything made of it."""
        found = chat_named(session_named(chat), "chat")
        assert found is not None
        return done(lambda: work.chat(found), dry_run=dry_run, rewrite=rewrite)

    @router.delete("/messages", summary="Forget a message", **deleting)
    def message(
        message: Annotated[str, Query(max_length=2_000, description="`source:chat/message`, as answers name it")],
        dry_run: _DryRun = False,
        rewrite: _Rewrite = False,
    ) -> Response:
        """What was made of its conversation is made anew without it."""
        try:
            key = parse_typed_message_key(message)
        except ValueError as error:
            raise BadPart("query", "message", str(error)) from None
        place = chat_id(key.source, key.chat_external_id)
        return done(lambda: work.message(place, key.message_external_id), dry_run=dry_run, rewrite=rewrite)

    @router.get("/erasures", summary="What was forgotten", response_model=ErasureList)
    def erasures() -> Response:
        """Receipts, newest first."""
        return _json({"items": [one.to_json() for one in work.store.receipts()], "next": None})

    @router.get("/erasures/{receipt}", summary="One receipt", response_model=Erasure, responses=answers(404))
    def erasure(receipt: UUID) -> Response:
        try:
            return _json(work.store.receipt(receipt).to_json())
        except ErasureUnknown as error:
            return problem(404, str(error))

    return router
