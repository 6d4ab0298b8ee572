"""Parsing of session requests: the key in the path, a body as a list of objects, which
``stages/sessions`` validates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, unquote_to_bytes

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pkg_pipeline.adapters.exports import lenient_json
from pkg_pipeline.api.problems import BadPart
from pkg_pipeline.memory.hashing import chat_id_of

PREFIX = "/v1/sessions/"
MOST_MESSAGES = 1_000
MOST_CONTAINERS = 250_000
"""Brackets in one body; each becomes an object of a hundred bytes or more."""


class EncodedKeys:
    """Keeps a session's key percent-encoded in the path, because a decoded ``/`` would split it: ``a/window`` would be
    the window of ``a``. ``session_named`` decodes it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            sent: bytes | None = scope.get("raw_path")
            path = quote(scope["path"]) if sent is None else sent.decode("latin-1").partition("?")[0]
            scope["path"] = path  # in place: the route found is read from it further out
        await self._app(scope, receive, send)


def session_named(encoded: str) -> str:
    """The id or key in a path. Raises ``BadPart``."""
    try:
        found = unquote_to_bytes(encoded).decode()
    except UnicodeDecodeError:
        raise BadPart("path", "session", "session must be percent-encoded UTF-8") from None
    try:
        chat_id_of(found)
    except ValueError:
        raise BadPart("path", "session", "session must be an id or source:external-id") from None
    return found


async def raw_body(request: Request) -> bytes:
    """The body as sent; ``BodyLimits`` checks its length."""
    return await request.body()


def message_list(body: bytes) -> list[Any]:
    """The messages of ``{"messages": […]}`` or of a bare list, not validated. Raises ``BadPart``."""
    if body.count(b"{") + body.count(b"[") > MOST_CONTAINERS:
        raise BadPart("body", "", f"the body has more than {MOST_CONTAINERS:,} brackets; send it in several requests")
    try:
        found = lenient_json.loads(body)
    except lenient_json.NotJson as error:
        raise BadPart("body", "", f"the body is {error}") from None
    if isinstance(found, Mapping):
        found = cast("Mapping[str, Any]", found).get("messages")
    if not isinstance(found, list):
        raise BadPart("body", "messages", 'the body must be {"messages": [...]} or a list of messages')
    messages = cast("list[Any]", found)
    if len(messages) > MOST_MESSAGES:
        raise BadPart(
            "body",
            "messages",
            f"{len(messages):,} messages are more than the {MOST_MESSAGES:,} that one request may bring",
        )
    return messages
