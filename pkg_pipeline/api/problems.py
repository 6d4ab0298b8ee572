"""Errors as RFC 9457 problem documents: what happened and what to do, without internals or conversation text."""

from __future__ import annotations

import logging
import traceback
from http import HTTPStatus
from typing import Any

import orjson
import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from psycopg_pool import PoolTimeout
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pkg_pipeline.adapters.postgres.engine import SCHEMA_CHANGES
from pkg_pipeline.stages.people.records import DecisionUnknown
from pkg_pipeline.stages.reads.entities import EntityAmbiguous, EntityNotFound, entity_json
from pkg_pipeline.stages.reads.facts import FactUnknown
from pkg_pipeline.stages.reads.items import ItemUnknown
from pkg_pipeline.stages.reads.paging import BadCursor
from pkg_pipeline.stages.reads.stores import BadRequest, ChatUnknown, EntityUnknown, StoreUnavailable
from pkg_pipeline.stages.reads.why import LineUnknown
from pkg_pipeline.stages.sessions.records import SessionUnknown

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "5"

MEANINGS = {
    401: "No token, or an unknown one",
    403: "The token's scope is too narrow, or a page of another origin asks",
    404: "No such entity; `nearest` has names that look alike",
    409: "Several entities fit; `candidates` lists them",
    413: "The body is too long",
    415: "The body is no JSON",
    421: "Asked under a host name that is not this server's",
    422: "A parameter is wrong; `errors` says which",
    503: "The database does not answer",
}


class BadPart(BadRequest):
    """An error in the ``path`` or ``body`` (``place``) of a request."""

    def __init__(self, place: str, field: str, message: str) -> None:
        super().__init__(field, message)
        self.place = place


def problem(
    status: int,
    detail: str,
    *,
    kind: str | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    """The answer with a problem document. ``kind`` lets programs tell problems apart."""
    body = document(status, detail, kind=kind, **more)
    return Response(orjson.dumps(body), status_code=status, media_type=MEDIA_TYPE, headers=headers)


def document(status: int, detail: str, *, kind: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "about:blank" if kind is None else f"urn:pkg-pipeline:problem:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **more,
    }


def answers(*statuses: int, **said: str) -> dict[int | str, dict[str, Any]]:
    """The problems a route documents; ``said`` (``s503="…"``) replaces the text of one."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    words = {**MEANINGS, **{int(key[1:]): value for key, value in said.items()}}
    return {status: {"description": words[status], "content": content} for status in statuses}


def install(app: FastAPI) -> None:
    """Makes every error of ``app`` a problem document."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(BadRequest, _bad_request)
    app.add_exception_handler(BadCursor, _bad_cursor)
    app.add_exception_handler(EntityUnknown, _unknown)
    app.add_exception_handler(EntityAmbiguous, _ambiguous)
    app.add_exception_handler(ChatUnknown, _no_chat)
    app.add_exception_handler(ItemUnknown, _no_item)
    app.add_exception_handler(FactUnknown, _no_fact)
    app.add_exception_handler(LineUnknown, _no_line)
    app.add_exception_handler(DecisionUnknown, _no_decision)
    app.add_exception_handler(StoreUnavailable, _unavailable)
    app.add_exception_handler(PoolTimeout, _unreachable)
    app.add_exception_handler(psycopg.Error, _database)
    app.add_exception_handler(SessionUnknown, _no_session)


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [
        {"in": str(found["loc"][0]), "field": ".".join(map(str, found["loc"][1:])), "message": found["msg"]}
        for found in error.errors()
    ]
    said = "; ".join(f"{one['field']}: {one['message']}" for one in errors)
    return problem(422, said or "the request is not valid", kind="invalid-request", errors=errors)


def _bad_request(_: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    place = error.place if isinstance(error, BadPart) else "query"
    errors = [{"in": place, "field": error.field, "message": str(error)}]
    return problem(422, str(error), kind="invalid-request", errors=errors)


def _bad_cursor(_: Request, error: Exception) -> Response:
    errors = [{"in": "query", "field": "cursor", "message": str(error)}]
    return problem(422, str(error), kind="invalid-request", errors=errors)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem(404, f"there is no {request.url.path}; the routes are in /openapi.json")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.url.path} does not take {request.method}"
        return problem(405, detail, headers={"Allow": ", ".join(_methods(request))})
    if error.status_code == HTTPStatus.BAD_REQUEST:  # the framework's error for JSON that is nested too deep
        return problem(422, "the body cannot be read as JSON", kind="invalid-request", errors=[])
    return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def _methods(request: Request) -> list[str]:
    """Methods over all routes of the path; the framework gives only the first. A path of its own has its own."""
    described, asked = request.app.openapi()["paths"], request.scope["path"]
    paths = [asked] if asked in described else [path for path in described if compile_path(path)[0].match(asked)]
    found = {method.upper() for path in paths for method in described[path]}
    return sorted(found) or ["GET"]  # pages are not in OpenAPI


def _unknown(_: Request, error: Exception) -> Response:
    if isinstance(error, EntityNotFound):
        return problem(404, str(error), kind="entity-not-found", nearest=list(error.nearest))
    return problem(404, f"there is no entity {error}", kind="entity-not-found", nearest=[])


def _no_chat(_: Request, error: Exception) -> Response:
    return problem(404, f"there is no chat {error}", kind="chat-not-found")


def _no_item(_: Request, error: Exception) -> Response:
    return problem(404, str(error), kind="item-not-found")


def _no_fact(_: Request, error: Exception) -> Response:
    return problem(404, str(error), kind="fact-not-found")


def _no_line(_: Request, error: Exception) -> Response:
    return problem(404, str(error), kind="line-not-found")


def _no_decision(_: Request, error: Exception) -> Response:
    return problem(404, str(error), kind="decision-not-found")


def _ambiguous(_: Request, error: Exception) -> Response:
    assert isinstance(error, EntityAmbiguous)
    candidates = [entity_json(one) for one in error.candidates]
    return problem(409, str(error), kind="entity-ambiguous", candidates=candidates, is_complete=error.is_complete)


def _unavailable(_: Request, error: Exception) -> Response:
    return problem(503, str(error), kind="database-unavailable", headers={"Retry-After": RETRY_SECONDS})


def _unreachable(_: Request, error: Exception) -> Response:
    del error  # database errors may quote what was sent
    detail = "the database does not answer; nothing was written"
    return problem(503, detail, kind="database-unavailable", headers={"Retry-After": RETRY_SECONDS})


def _database(request: Request, error: Exception) -> Response:
    """503 if the database is away, ending or being migrated; else a 500."""
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return _unreachable(request, error)
    assert isinstance(error, psycopg.Error)
    if not isinstance(error, SCHEMA_CHANGES):
        raise error
    log.warning("%s %s found another schema: %s", request.method, request.url.path, error.sqlstate)
    detail = "the tables are being changed, or are not those that this program needs: pkg-pipeline doctor says which"
    return problem(503, detail, kind="schema-changing", headers={"Retry-After": RETRY_SECONDS})


def _no_session(_: Request, error: Exception) -> Response:
    return problem(404, str(error), kind="session-not-found")


class Failures:
    """Outermost layer: an unexpected exception becomes a bare 500; its message, which may quote rows, is not logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_started = False

        async def watched(message: Message) -> None:
            nonlocal is_started
            is_started = is_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            place = "".join(traceback.format_tb(error.__traceback__)[-4:])
            log.error("%s %s failed with %s\n%s", scope["method"], scope["path"], type(error).__name__, place)
            if is_started:
                raise
            await problem(500, "the server failed; its log says where")(scope, receive, send)
