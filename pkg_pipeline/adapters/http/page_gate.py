"""Authentication in front of Dagster's pages, which have none.

The token of ``/?token=…`` is exchanged for an HttpOnly, SameSite cookie; programs send ``Authorization: Bearer``.
Cookies ignore ports, so requests of other local ports are rejected by the guard.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from html import escape
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pkg_pipeline.adapters.http.guard import POLICY_VIOLATION, OwnHost, refusal

GRAPHQL: Final = "/graphql"
HOW_TO_OPEN: Final = (
    "Open the address that pkg-pipeline dev printed when it started: it ends in /?token=… and each start prints a new"
    " one. Where PKG_DAGSTER_TOKEN is set, the token is that."
)

_PORT: Final = re.compile(r":(\d+)\s*$")
_OWN_PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_ISOLATION: Final[Mapping[str, str]] = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>pkg-pipeline: Dagster's pages</title>
<style>body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em }}</style>
<h1>{title}</h1><p>{detail}</p>{more}
</html>
"""
_GO_ON: Final = '<p>Opened in this browser before? <a href="{path}">Go on to the pages</a>.</p>'


class PageGate:
    """Outermost ASGI middleware. ``is_own_host`` knows the names the pages are served under."""

    def __init__(self, app: ASGIApp, *, token: str, is_own_host: OwnHost) -> None:
        self._app = app
        self._is_own_host = is_own_host
        self._token = token.encode()
        self._cookie = sha256(self._token).hexdigest()  # any token as a valid cookie value

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            if refusal(scope["headers"], is_own_host=self._is_own_host) or not self._knows(scope):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            else:
                await self._app(scope, receive, send)
        elif (answer := self._answer(scope)) is not None:
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, _isolated(send, Headers(scope=scope)["host"]))

    def _answer(self, scope: Scope) -> Response | None:
        """The response instead of the pages, or None if the request may pass."""
        connection = HTTPConnection(scope)
        refused = refusal(scope["headers"], is_own_host=self._is_own_host)
        if refused is not None and (refused.kind == "wrong-host" or not _opens_a_page(scope, connection.headers)):
            return _said(connection, refused.status, "Refused", refused.detail)
        if scope["path"] == "/" and scope["method"] == "GET" and "token" in connection.query_params:
            if compare_digest(connection.query_params["token"].encode(), self._token):
                return self._exchanged(connection)
            return _said(connection, 401, "This token is not known", HOW_TO_OPEN)
        if refused is not None:
            detail = "A link of another site led here, and those open nothing by themselves."
            return _said(connection, refused.status, "Nothing was opened", detail, go_on=True)
        if not self._knows(scope):
            # a link from elsewhere does not carry the cookie, a link on this page does
            return _said(connection, 401, "These are somebody's own pages", HOW_TO_OPEN, go_on=True)
        if scope["path"].rstrip("/") == GRAPHQL and _would_run_by_reading(scope, connection.headers):
            return PlainTextResponse("GraphQL is asked by POST with JSON\n", 405, headers={"Allow": "POST"})
        return None

    def _knows(self, scope: Scope) -> bool:
        connection = HTTPConnection(scope)
        kind, _, given = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and compare_digest(given.strip().encode(), self._token):
            return True
        cookie = connection.cookies.get(_cookie_name(connection), "")
        return compare_digest(cookie.encode(), self._cookie.encode())

    def _exchanged(self, connection: HTTPConnection) -> Response:
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", **_ISOLATION}
        answer = RedirectResponse("/", 303, headers=headers)
        answer.set_cookie(
            _cookie_name(connection),
            self._cookie,
            httponly=True,
            samesite="strict",
            secure=connection.scope["scheme"] == "https",
        )
        return answer


def _cookie_name(connection: HTTPConnection) -> str:
    """Per port: browsers share cookies between ports."""
    port = _PORT.search(connection.headers["host"])
    return f"pkg_dagster_{port[1]}" if port else "pkg_dagster"


def _opens_a_page(scope: Scope, headers: Headers) -> bool:
    """Whether it is a top-level navigation, whose answer no other page can read."""
    return (
        scope["method"] == "GET"
        and "origin" not in headers
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _would_run_by_reading(scope: Scope, headers: Headers) -> bool:
    """Dagster executes GET and form requests, mutations too; its own pages send JSON."""
    if scope["method"] == "POST":
        return headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json"
    return "text/html" not in headers.get("accept", "")


def _said(connection: HTTPConnection, status: int, title: str, detail: str, *, go_on: bool = False) -> Response:
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": _OWN_PAGE_POLICY, **_ISOLATION}
    if "text/html" in connection.headers.get("accept", ""):
        # only a path of ours: no open redirect
        path = "/" + quote(connection.scope["path"].lstrip("/\\"))
        more = _GO_ON.format(path=escape(path)) if go_on else ""
        page = _PAGE.format(title=escape(title), detail=escape(detail), more=more)
        return HTMLResponse(page, status, headers=headers)
    return PlainTextResponse(f"{detail}\n", status, headers=headers)


def _isolated(send: Send, host: str) -> Send:
    """Adds headers against framing and outgoing requests."""
    policy = (
        f"frame-ancestors 'none'; frame-src 'none'; form-action 'self'; connect-src 'self' ws://{host} wss://{host};"
        " img-src 'self' data: blob:; font-src 'self' data:; media-src 'self'"
    )

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_ISOLATION)
            headers.append("Content-Security-Policy", policy)
        await send(message)

    return sending
