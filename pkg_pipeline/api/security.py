"""Who may ask: bearer tokens with scopes, and the check that a browser page elsewhere is not using our loopback port.

Tokens come as ``name:scope:hash``, the hash being sha256 of the secret: the setting holds nothing that opens anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hmac import compare_digest
from typing import Annotated, Literal, get_args

from fastapi import Depends, Header, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

from pkg_pipeline.adapters.http_guard import is_loopback
from pkg_pipeline.api.problems import problem

TokenScope = Literal["read", "write", "admin"]
RANK: dict[TokenScope, int] = {"read": 0, "write": 1, "admin": 2}
"""A wider scope may do what a narrower one may."""

_HASH = re.compile(r"[0-9a-f]{64}")
_BEARER = HTTPBearer(auto_error=False, description="Needed where PKG_API_TOKENS is set: `Authorization: Bearer SECRET`")
_Given = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


class TokensWrong(ValueError):
    """PKG_API_TOKENS cannot be read; the message says which entry and what it should be."""


@dataclass(frozen=True, slots=True)
class ApiToken:
    """One caller. ``digest`` is the sha256 of the secret in hexadecimal."""

    name: str
    scope: TokenScope
    digest: str


def parse_tokens(text: str) -> tuple[ApiToken, ...]:
    """The tokens of ``PKG_API_TOKENS``, separated by commas. Raises TokensWrong."""
    tokens: list[ApiToken] = []
    for number, entry in enumerate(filter(None, (part.strip() for part in text.split(","))), start=1):
        match entry.split(":"):
            case [name, scope, digest] if name and scope in get_args(TokenScope) and _HASH.fullmatch(digest.lower()):
                tokens.append(ApiToken(name, scope, digest.lower()))  # type: ignore[arg-type]
            case _:
                raise TokensWrong(
                    f"PKG_API_TOKENS: entry {number} is not name:scope:hash with a scope of read, write or admin"
                    " and the sha256 of the secret in 64 hexadecimal digits"
                )
    return tuple(tokens)


def require(scope: TokenScope, tokens: tuple[ApiToken, ...]) -> Callable[..., Awaitable[None]]:
    """A dependency that lets callers with ``scope`` pass; without any tokens, everybody (loopback only)."""

    async def check(given: _Given) -> None:
        if not tokens:
            return
        if given is None:
            raise HTTPException(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        digest = hashlib.sha256(given.credentials.encode()).hexdigest()
        # every token is compared, so that the time tells nothing about which one was near
        known = [token for token in tokens if compare_digest(token.digest, digest)]
        if not known:
            headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise HTTPException(401, "the bearer token is not known", headers=headers)
        if max(RANK[token.scope] for token in known) < RANK[scope]:
            headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'}
            raise HTTPException(403, f"the token {known[0].name!r} lacks the scope {scope}", headers=headers)

    return check


async def json_only(content_type: Annotated[str, Header()] = "") -> None:
    """A dependency of every route that writes: a page elsewhere can make a browser send anything but JSON unasked."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be JSON: send Content-Type: application/json")


class LoopbackHosts:
    """Refuses requests that name another host than this machine, as a page does that rebinds its DNS name to us.

    Only without tokens: with them the token decides, under whatever name a proxy calls us.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http" and not is_loopback(_host(scope)):
            detail = "this server answers to localhost only; set PKG_API_TOKENS to serve other names"
            await problem(421, detail, kind="wrong-host")(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _host(scope: Scope) -> str:
    value = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    if value.startswith("["):
        return value.partition("]")[0]
    return value.rpartition(":")[0] if ":" in value else value
