"""Rejects requests of other origins (HTTP, WebSocket) by Host, Origin and Sec-Fetch-Site: a browser lets any page send
requests to loopback, and DNS rebinding lets it read the answers. Authentication is up to each server.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

Headers = Sequence[tuple[bytes, bytes]]
"""ASGI headers: lower-case names, repeated ones kept."""

OwnHost = Callable[[str], bool]
"""Whether a lower-case host name, without port and brackets, is this server's."""

POLICY_VIOLATION: Final = 1008
"""Close code of refused WebSockets; before accepting, servers answer 403."""

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\s:/?#@\[\]]+))(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
_DEFAULT_PORTS: Final[Mapping[str, str]] = {"http": "80", "https": "443"}
_OWN_PAGES: Final = frozenset({"same-origin", "none"})
"""``none``: typed address; ``same-site`` is rejected, as other ports of this machine are that."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """``detail`` repeats nothing of the request."""

    status: Literal[403, 421]
    kind: Literal["cross-origin", "wrong-host"]
    detail: str


def refusal(headers: Headers, *, is_own_host: OwnHost) -> Refusal | None:
    """Why a request with these ``headers`` is refused, or None. Programs other than browsers send neither Origin nor
    Sec-Fetch-Site; every one sent must be of our pages.
    """
    hosts = _values(headers, b"host")
    host = _parsed(hosts[0]) if len(hosts) == 1 else None
    if host is None or not is_own_host(host[0]):
        return Refusal(421, "wrong-host", "this server does not answer under that host name")
    if any(not _is_origin(origin, host) for origin in _values(headers, b"origin")) or any(
        site.strip().lower() not in _OWN_PAGES for site in _values(headers, b"sec-fetch-site")
    ):
        return Refusal(403, "cross-origin", "a page of another origin may not send requests here")
    return None


def own_hosts(bound: str, names: Iterable[str] = ()) -> OwnHost:
    """Hosts of a server on ``bound``: loopback names and ``names``; also IP addresses if others can reach it, as these
    cannot be rebound.
    """
    known = {name.strip().lower() for name in names} - {""}
    if not is_loopback(bound):
        known.add(bound.strip("[]").lower())
    takes_addresses = not is_loopback(bound)

    def is_own(host: str) -> bool:
        return host in known or is_loopback(host) or (takes_addresses and _is_address(host))

    return is_own


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class HttpGuard:
    """Outermost ASGI middleware. ``answer`` makes the response to a refused request (default: one line of text)."""

    def __init__(
        self, app: ASGIApp, *, is_own_host: OwnHost, answer: Callable[[Refusal], ASGIApp] | None = None
    ) -> None:
        self._app = app
        self._is_own_host = is_own_host
        self._answer = answer or (lambda refused: PlainTextResponse(f"{refused.detail}\n", refused.status))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = refusal(scope["headers"], is_own_host=self._is_own_host)
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refused.detail})
        else:
            await self._answer(refused)(scope, receive, send)


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for found, value in headers if found.lower() == name]


def _parsed(authority: str) -> tuple[str, str] | None:
    """Lower-case host and port (may be empty); None if invalid."""
    found = _AUTHORITY.fullmatch(authority.strip())
    return None if found is None else ((found["v6"] or found["name"]).lower(), found["port"] or "")


def _is_origin(origin: str, host: tuple[str, str]) -> bool:
    """Whether ``origin`` is of pages that ``host`` serves; either scheme, as a proxy may add TLS."""
    scheme, separator, authority = origin.strip().lower().partition("://")
    default = _DEFAULT_PORTS.get(scheme)
    found = _parsed(authority)
    if not separator or default is None or found is None:
        return False
    return (found[0], found[1] or default) == (host[0], host[1] or default)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
