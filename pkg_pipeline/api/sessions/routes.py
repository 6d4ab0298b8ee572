"""``/v1/sessions``; plain functions on the server's threads. Messages get no pydantic model each, for speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from pkg_pipeline.api.problems import BadPart, answers, problem
from pkg_pipeline.api.security import json_only
from pkg_pipeline.api.sessions import models as models
from pkg_pipeline.api.sessions.input import MOST_MESSAGES, message_list, raw_body, session_named
from pkg_pipeline.memory.session.records import Strategy
from pkg_pipeline.memory.window.records import LiveTurnTooLong
from pkg_pipeline.memory.window.rendering import Form
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline.stages.sessions.parsing import NothingRead, listed

if TYPE_CHECKING:
    from pkg_pipeline.wiring.sessions import SessionWork


_Session = Annotated[
    str,
    Path(description="Id, or `source:external-id` percent-encoded (`agent%3Athread-1`)", examples=[models.SESSION_ID]),
]
_Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")]
_Cursor = Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)]
_MOST_TOKENS = 100_000_000
_NO_SESSION = "No such session"


def _json(body: Mapping[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(body), status_code=status, media_type="application/json")


def session_routes(sessions: SessionWork) -> APIRouter:
    router = APIRouter(tags=["sessions"])
    router.include_router(_reading(sessions))
    router.include_router(_writing(sessions))
    return router


def _reading(sessions: SessionWork) -> APIRouter:
    router = APIRouter(prefix="/v1/sessions", responses=answers(404, 503, s404=_NO_SESSION))

    @router.get("", summary="Live sessions, latest activity first", response_model=models.SessionList)
    def listed_sessions(limit: _Limit = DEFAULT_ROWS, cursor: _Cursor = None) -> Response:
        """Chats that are followed while they run, each with what is folded of it and when it is looked at next."""
        return _json(sessions.list(limit=limit, cursor=cursor).to_json())

    @router.get("/{session}", summary="One session", response_model=models.ShownSession)
    def session(session: _Session) -> Response:
        """Its counters and its last messages, read without its history."""
        return _json(sessions.show(session_named(session)))

    @router.get("/{session}/messages", summary="Messages of a session", response_model=models.SessionMessageList)
    def messages(session: _Session, limit: _Limit = DEFAULT_ROWS, cursor: _Cursor = None) -> Response:
        """Newest first, folded or not; archived texts too."""
        return _json(sessions.messages(session_named(session), limit=limit, cursor=cursor).to_json())

    @router.get("/{session}/window", summary="The messages to give to a model next", response_model=models.Window)
    def window(
        session: _Session,
        model_window: Annotated[
            int | None, Query(ge=1, le=_MOST_TOKENS, description="Tokens that the model takes; else the setting")
        ] = None,
        system_tokens: Annotated[int, Query(ge=0, le=_MOST_TOKENS, description="Of your own system prompt")] = 0,
        strategy: Annotated[Strategy | None, Query(description="By default the session's")] = None,
        form: Annotated[Form, Query(alias="as", description="Form of `messages`")] = "anthropic",
        model: Annotated[str | None, Query(max_length=200, description="Which model is asked")] = None,
        query: Annotated[
            str | None, Query(max_length=2_000, description="What to recall by; else the live turn")
        ] = None,
    ) -> Response:
        """Summaries of what is folded, what is recalled, and every message that is not folded yet, within the budget.

        While all of it fits nothing is cut. No language model is asked. A live turn that does not fit alone is a
        problem with its `tokens` and what is `available`.
        """
        try:
            answer = sessions.window(
                session_named(session),
                model_window=model_window,
                system_tokens=system_tokens,
                strategy=strategy,
                form=form,
                model=model,
                query=None if query is None else query.replace("\0", " "),
            )
        except LiveTurnTooLong as error:
            return problem(422, str(error), kind="live-turn-too-long", tokens=error.tokens, available=error.available)
        return _json(answer)

    return router


def _writing(sessions: SessionWork) -> APIRouter:
    router = APIRouter(
        prefix="/v1/sessions",
        dependencies=[Depends(json_only)],
        responses=answers(404, 415, 422, 503, s404=_NO_SESSION, s422="The body is wrong; `errors` says where"),
    )

    @router.post(
        "/{session}/messages",
        summary="Add messages to a session",
        response_model=models.Appended,
        openapi_extra={"requestBody": _APPEND_BODY},
    )
    def append(session: _Session, body: Annotated[bytes, Depends(raw_body)]) -> Response:
        """In their order, each once by its `id`: sent again it changes nothing, with other words it is an edit.

        A message that cannot be read is in `rejected`, everything around it goes in. An unknown key makes the session.
        """
        try:
            return _json(sessions.append(session_named(session), listed(message_list(body))).to_json())
        except NothingRead as error:
            wrong = [{"in": "body", "field": one.where, "message": one.reason} for one in error.rejected]
            return problem(422, str(error), kind="invalid-request", errors=wrong)

    @router.post(
        "/{session}/events", summary="Say what happened in a session", status_code=202, response_model=models.Session
    )
    def event(session: _Session, body: models.EventBody) -> Response:
        """`manual`, `scheduled`, `handoff` between agents, `tool_done` after a large result: the fold is due at once.
        The pipeline's sensor makes it.
        """
        return _json(sessions.event(session_named(session), body.event), 202)

    @router.patch("/{session}", summary="Change a session", response_model=models.Session)
    def change(session: _Session, body: models.SessionChanges) -> Response:
        """Policy, strategy, interval, label. An unknown key makes the session."""
        try:
            return _json(sessions.set(session_named(session), **body.model_dump()))
        except BadRequest as error:
            raise BadPart("body", error.field, str(error)) from None

    @router.post("/{session}/fold", summary="Fold a session now", response_model=models.Folded)
    def fold(session: _Session) -> Response:
        """Waits for the model, which may take minutes. What is not complete yet, such as an open tool call, stays."""
        try:
            return _json(sessions.fold(session_named(session)))
        except LlmMisconfigured as wrong:
            return problem(503, str(wrong), kind="model-misconfigured")

    return router


_MESSAGES = {"type": "array", "maxItems": MOST_MESSAGES, "items": models.NewMessage.model_json_schema()}
_APPEND_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "title": "AppendBody",
                "description": "Messages in order; a bare list of them will do as well.",
                "anyOf": [
                    {"type": "object", "required": ["messages"], "properties": {"messages": _MESSAGES}},
                    _MESSAGES,
                ],
            }
        }
    },
}
