"""Bearer tokens with scopes, checked before a body is read. ``PKG_API_TOKENS`` holds ``name:scope:hash`` with the
sha256 of the secret, so that the setting does not reveal it.
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
    """One caller. ``digest`` is the sha256 of the secret in hexadecimal."""

    name: str
    scope: TokenScope
    digest: str


def parse_tokens(text: str) -> tuple[ApiToken, ...]:
    """The comma-separated tokens of ``PKG_API_TOKENS``. Raises TokensWrong."""
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


def scope_needed(method: str, path: str) -> TokenScope | None:
    """The scope a request needs; None for pages without data. Unknown routes need one too."""
    if method in _READING:
        return None if path in OPEN_PATHS else "read"
    return "write" if method in _WRITING else "admin"


class Admission:
    """Refuses requests without a sufficient token before their body is read; without ``tokens`` everybody passes."""

    def __init__(self, app: ASGIApp, *, tokens: tuple[ApiToken, ...]) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope) if scope["type"] == "http" and self._tokens else None
        await (refused or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        needed = scope_needed(scope["method"], scope["path"])
        if needed is None:
            return None
        secret = _secret(scope)
        if secret is None:
            return problem(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        digest = hashlib.sha256(secret).hexdigest()
        # all tokens are compared, so that timing reveals none
        known = [token for token in self._tokens if compare_digest(token.digest, digest)]
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


def _secret(scope: Scope) -> bytes | None:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        return None
    kind, _, secret = given[0].partition(b" ")
    return secret.strip() or None if kind.lower() == b"bearer" else None
