"""How much of a body is read: a limit by route while it comes, and one on all bodies held at the same time."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pkg_pipeline.api.problems import RETRY_SECONDS, problem

MOST_BYTES = 64 * 1024
"""Of a body of options."""

MOST_APPENDED_BYTES = 16 * 1024 * 1024
"""Of one with the messages of a session."""

MOST_HELD_BYTES = 64 * 1024 * 1024
"""Of all bodies that are being read or worked on; beyond it callers are asked to come back."""


def most_bytes(method: str, path: str) -> int:
    """The longest body that is read for a request."""
    takes_messages = method == "POST" and path.startswith("/v1/sessions/") and path.endswith("/messages")
    return MOST_APPENDED_BYTES if takes_messages else MOST_BYTES


class BodyLimits:
    """Ends a request with 413 as soon as its body is known to be too long, told or not, and with 503 beyond what all
    may hold together.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
