"""Limits on request bodies: by route while one is read, and over all bodies held at once."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pkg_pipeline.api.problems import RETRY_SECONDS, problem

MOST_BYTES = 64 * 1024
"""For a body of options."""

MOST_APPENDED_BYTES = 16 * 1024 * 1024
"""For messages of a session."""

MOST_HELD_BYTES = 64 * 1024 * 1024
"""For all bodies being read or processed; above it the answer is 503."""


def most_bytes(method: str, path: str) -> int:
    takes_messages = method == "POST" and path.startswith("/v1/sessions/") and path.endswith("/messages")
    return MOST_APPENDED_BYTES if takes_messages else MOST_BYTES


class BodyLimits:
    """Answers 413 as soon as a body is known to be too long, and 503 above the limit over all bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = most_bytes(scope["method"], scope["path"])
        too_long = f"the body is longer than {limit:,} bytes; send less, or in several requests"
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        if told.isdigit() and int(told) > limit:
            await problem(413, too_long)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            size = len(message.get("body", b""))
            read += size
            self._held += size
            if read > limit:
                raise HTTPException(413, too_long)
            if self._held > MOST_HELD_BYTES and read > MOST_BYTES:
                said = "other long bodies are being worked on; try again in a moment"
                raise HTTPException(503, said, headers={"Retry-After": RETRY_SECONDS})
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            self._held -= read
