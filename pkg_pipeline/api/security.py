"""Bearer tokens with scopes, checked before a body is read. ``PKG_API_TOKENS`` holds ``name:scope:hash`` with the
sha256 of the secret, so that the setting does not reveal it, and ``name:scope:hash:memory`` for a memory of that name.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from hmac import compare_digest
from typing import Annotated, Literal, get_args

from fastapi import Header, HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pkg_pipeline.adapters.http.guard import Refusal
from pkg_pipeline.api.pages import ASSETS
from pkg_pipeline.api.problems import problem
from pkg_pipeline.place_settings import MEMORY_NAME

TokenScope = Literal["read", "write", "admin"]
RANK: dict[TokenScope, int] = {"read": 0, "write": 1, "admin": 2}
"""A scope includes those of lower rank."""

OPEN_PATHS = frozenset({"/", "/docs", "/openapi.json", "/health", *ASSETS})
"""Read without a token; they show no data of the memory."""

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_WRITING = frozenset({"POST", "PUT", "PATCH"})
_HASH = re.compile(r"[0-9a-f]{64}")


class TokensWrong(ValueError):
    """PKG_API_TOKENS is invalid; the message names the entry and the right form."""


@dataclass(frozen=True, slots=True)
class ApiToken:
    """One caller. ``digest`` is the sha256 of the secret in hexadecimal. ``memory``: the named one that it opens; None:
    that of the server's settings.
    """

    name: str
    scope: TokenScope
    digest: str
    memory: str | None = None


def parse_tokens(text: str) -> tuple[ApiToken, ...]:
    """The comma-separated tokens of ``PKG_API_TOKENS``. Raises TokensWrong."""
    tokens: list[ApiToken] = []
    for number, entry in enumerate(filter(None, (part.strip() for part in text.split(","))), start=1):
        match entry.split(":"):
            case [name, scope, digest, *memory] if (
                name
                and scope in get_args(TokenScope)
                and _HASH.fullmatch(digest.lower())
                and (not memory or (len(memory) == 1 and MEMORY_NAME.fullmatch(memory[0])))
            ):
                tokens.append(ApiToken(name, scope, digest.lower(), *memory))  # type: ignore[arg-type]
            case _:
                raise TokensWrong(
                    f"PKG_API_TOKENS: entry {number} is not name:scope:hash with a scope of read, write or admin"
                    " and the sha256 of the secret in 64 hexadecimal digits, nor name:scope:hash:memory"
                )
    return tuple(tokens)


def scope_needed(method: str, path: str) -> TokenScope | None:
    """The scope a request needs; None for pages without data. Unknown routes need one too."""
    if method in _READING:
        return None if path in OPEN_PATHS else "read"
    return "write" if method in _WRITING else "admin"


class Admission:
    """Refuses requests without a sufficient token before their body is read; without ``tokens`` everybody passes.

    A token of another memory than ``memory`` is as unknown as any.
    """

    def __init__(self, app: ASGIApp, *, tokens: tuple[ApiToken, ...], memory: str | None = None) -> None:
        self._app = app
        self._tokens = tokens
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope) if scope["type"] == "http" and self._tokens else None
        await (refused or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        needed = scope_needed(scope["method"], scope["path"])
        if needed is None:
            return None
        digest = digest_of(scope)
        if digest is None:
            return problem(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        # all tokens are compared, so that timing reveals none
        known = [token for token in self._tokens if compare_digest(token.digest, digest)]
        known = [token for token in known if token.memory == self._memory]
        if not known:
            headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            return problem(401, "the bearer token is not known", headers=headers)
        if max(RANK[token.scope] for token in known) < RANK[needed]:
            headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{needed}"'}
            return problem(403, f"the token {known[0].name!r} lacks the scope {needed}", headers=headers)
        return None


async def json_only(content_type: Annotated[str, Header(include_in_schema=False)] = "") -> None:
    """Dependency of every writing route: other sites can make a browser send anything but JSON without a preflight."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be JSON: send Content-Type: application/json")


def refused_by_guard(refused: Refusal) -> Response:
    """The problem document for a request refused by the origin guard."""
    return problem(refused.status, refused.detail, kind=refused.kind)


def digest_of(scope: Scope) -> str | None:
    """The sha256 of the request's secret; None if it brings none."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        return None
    kind, _, secret = given[0].partition(b" ")
    secret = secret.strip() if kind.lower() == b"bearer" else b""
    return hashlib.sha256(secret).hexdigest() if secret else None
