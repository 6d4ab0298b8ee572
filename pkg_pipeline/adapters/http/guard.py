"""Keeps pages of other origins away from a port of ours, HTTP and WebSocket alike: Host, Origin and Sec-Fetch-Site.

Loopback is no protection from a browser: every page can send requests there, and one whose name resolves to 127.0.0.1
can read the answers. Decided from the head alone, before anything else is done. Who may ask (tokens, cookies) is the
business of each server.
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
"""As ASGI has them: names in lower case, one entry for each time a header was sent."""

OwnHost = Callable[[str], bool]
"""Whether a host name, without port and brackets, in lower case, is one of this server's."""

POLICY_VIOLATION: Final = 1008
"""The code with which a WebSocket is refused; before it is accepted, servers answer 403."""

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\s:/?#@\[\]]+))(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
_DEFAULT_PORTS: Final[Mapping[str, str]] = {"http": "80", "https": "443"}
_OWN_PAGES: Final = frozenset({"same-origin", "none"})
"""``none`` is an address that a person typed; ``same-site`` is not enough: another port of this machine is that."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered. ``detail`` repeats nothing that was sent."""

    status: Literal[403, 421]
    kind: Literal["cross-origin", "wrong-host"]
    detail: str


def refusal(headers: Headers, *, is_own_host: OwnHost) -> Refusal | None:
    """Why the request with these ``headers`` is refused, or None.

    Programs that are no browsers send neither Origin nor Sec-Fetch-Site; what is there must speak for our own pages,
    each time it is there.
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
    """The hosts of a server that listens on ``bound``: this machine's loopback names and the further ``names``.

    One that others can reach also answers to IP addresses: no page can make its own name be one.
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
    """ASGI layer that lets nothing through that ``refusal`` refuses; to be the outermost.

    ``answer`` makes the response to a refused HTTP request; by default one line of plain text.
    """

    def __init__(
        self, app: ASGIApp, *, is_own_host: OwnHost, answer: Callable[[Refusal], ASGIApp] | None = None
    ) -> None:
        self._app = app
        self._is_own_host = is_own_host
        self._answer = answer or (lambda refused: PlainTextResponse(f"{refused.detail}\n", refused.status))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or WebSocket."""
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
    """Host in lower case and port, which may be empty; None for what is no authority."""
    found = _AUTHORITY.fullmatch(authority.strip())
    return None if found is None else ((found["v6"] or found["name"]).lower(), found["port"] or "")


def _is_origin(origin: str, host: tuple[str, str]) -> bool:
    """Whether ``origin`` is that of pages which ``host`` serves. A proxy may add TLS: either scheme will do."""
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
