"""Who gets to Dagster's pages, by the heads of requests: with and without cookie, from here and from elsewhere."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from pkg_pipeline.adapters.http.guard import own_hosts
from pkg_pipeline.adapters.http.page_gate import PageGate

TOKEN = "a token; of seventeen"
HOST = "127.0.0.1:3000"
PATHS = ("/", "/graphql", "/runs/1", "/server_info", "/_next/main.js", "/favicon.png", "/logs/a/out", "/notebook")
REPORTS = ("/report_asset_materialization/a", "/report_asset_check/a", "/report_asset_observation/a")
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "accept": "text/html"}


@dataclass(slots=True)
class Answer:
    """``reached``: the application behind was asked."""

    reached: bool = False
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""

    def all(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found == name]


def asked(
    path: str = "/", *, method: str = "GET", kind: str = "http", query: str = "", scheme: str = "http", **heads: str
) -> Answer:
    """One request from a client that names ``host`` unless told otherwise; ``_`` in names of headers is ``-``."""
    answer = Answer()

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        answer.reached = True
        if scope["type"] == "http":
            headers = [(b"content-security-policy", b"base-uri 'none'"), (b"x-frame-options", b"SAMEORIGIN")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"pages"})

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body is not read")

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
        elif message["type"] == "websocket.close":
            answer.status = message["code"]
        else:
            answer.body += message["body"].decode()

    told = {"host": HOST, **{name.replace("_", "-"): value for name, value in heads.items()}}
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "scheme": scheme,
        "headers": [(name.encode(), value.encode()) for name, value in told.items()],
    }
    asyncio.run(
        PageGate(behind, token=TOKEN, is_own_host=own_hosts("127.0.0.1", ["pages.example"]))(scope, receive, send)
    )
    return answer


def exchanged(query: str = "token=a+token%3B+of+seventeen", **more: str) -> Answer:
    return asked(query=query, **more)


@pytest.fixture(scope="module")
def cookie() -> str:
    (given,) = exchanged().all("set-cookie")
    return given.partition(";")[0]


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    answer = exchanged()
    assert (answer.status, answer.reached, answer.all("location")) == (303, False, ["/"])
    (given,) = answer.all("set-cookie")
    name, _, rest = given.partition("=")
    value, *attributes = rest.split("; ")
    assert name == "pkg_dagster_3000"
    assert TOKEN not in value
    assert {one.lower() for one in attributes} == {"httponly", "path=/", "samesite=strict"}
    assert answer.all("cache-control") == ["no-store"]
    assert answer.all("referrer-policy") == ["no-referrer"]


def test_a_cookie_is_secure_where_the_proxy_speaks_tls_and_its_own_at_each_port() -> None:
    (given,) = exchanged(scheme="https", host="pages.example").all("set-cookie")
    assert given.startswith("pkg_dagster=")
    assert given.endswith("; Secure")


@pytest.mark.parametrize("query", ["token=", "token=wrong", "token=a+token%3B+of+seventeen+", "token=%C3%A9"])
def test_a_wrong_token_opens_nothing(query: str) -> None:
    answer = exchanged(query)
    assert (answer.status, answer.reached, answer.all("set-cookie")) == (401, False, [])


def test_the_token_is_taken_at_one_address_only() -> None:
    for path in ("//evil.example", "/graphql", "/runs"):
        answer = asked(path, query="token=a+token%3B+of+seventeen")
        assert (answer.status, answer.all("location")) == (401, [])


@pytest.mark.parametrize("path", [*PATHS, *REPORTS])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
def test_nothing_is_told_without_the_cookie(path: str, method: str) -> None:
    answer = asked(path, method=method, content_type="application/json")
    assert (answer.status, answer.reached) == (401, False)


@pytest.mark.parametrize("given", ["", "pkg_dagster_3000=", "pkg_dagster_3000=x", "pkg_dagster_3000=é", ";;=;", "a=b"])
def test_a_wrong_cookie_is_none(given: str) -> None:
    assert asked("/runs", cookie=given).status == 401


def test_the_cookie_of_another_port_is_none(cookie: str) -> None:
    assert asked("/runs", cookie=cookie.replace("3000", "3001")).status == 401


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"sec_fetch_site": "none", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"},
        {"sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "same-origin", "origin": f"http://{HOST}"},
    ],
)
@pytest.mark.parametrize("path", [*PATHS[2:], "/"])
def test_the_persons_own_pages_are_served(cookie: str, path: str, more: dict[str, str]) -> None:
    answer = asked(path, cookie=cookie, **more)
    assert (answer.status, answer.reached, answer.body) == (200, True, "pages")


def test_a_program_shows_the_token_itself() -> None:
    for path, method in (("/graphql", "POST"), ("/server_info", "GET")):
        answer = asked(path, method=method, content_type="application/json", authorization=f"Bearer {TOKEN}")
        assert answer.status == 200
    for wrong in ("Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN, "Bearer é"):
        assert asked("/server_info", authorization=wrong).status == 401


@pytest.mark.parametrize(
    "more",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "http://localhost:3000"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"},
        {"origin": "https://evil.example", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"},
    ],
)
@pytest.mark.parametrize("path", [*PATHS, *REPORTS])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_origins_are_refused_with_the_cookie_too(
    cookie: str, path: str, method: str, more: dict[str, str]
) -> None:
    answer = asked(path, method=method, cookie=cookie, authorization=f"Bearer {TOKEN}", **more)
    assert (answer.status, answer.reached) == (403, False)
    assert "access-control-allow-origin" not in dict(answer.headers)


@pytest.mark.parametrize(
    "host", ["evil.example:3000", "127.0.0.1.evil.example:3000", "192.168.1.9:3000", "pages.example.evil"]
)
@pytest.mark.parametrize("path", [*PATHS, *REPORTS])
def test_other_host_names_are_refused_with_the_token_too(cookie: str, host: str, path: str) -> None:
    for query in ("", "token=a+token%3B+of+seventeen"):
        rebound = {"host": host, "origin": f"http://{host}", "sec_fetch_site": "same-origin"}
        answer = asked(path, query=query, cookie=cookie, authorization=f"Bearer {TOKEN}", **rebound)
        assert (answer.status, answer.reached, answer.all("set-cookie")) == (421, False, [])


def test_a_proxy_may_have_names_of_its_own(cookie: str) -> None:
    cookie = cookie.replace("_3000", "")
    own = {"host": "pages.example", "origin": "https://pages.example"}
    assert asked("/runs", cookie=cookie, scheme="https", **own).status == 200
    assert asked("/graphql", kind="websocket", cookie=cookie, scheme="wss", **own).reached
    assert asked("/runs", cookie=cookie, **{**own, "origin": "https://other.example"}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_elsewhere_opens_the_pages_by_the_token_and_by_nothing_else(cookie: str, site: str) -> None:
    followed = {"sec_fetch_site": site, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert exchanged(**followed).status == 303
    assert exchanged("token=wrong", **followed).status == 401
    for embedded in ({"sec_fetch_dest": "iframe"}, {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}):
        assert exchanged(**{**followed, **embedded}).status == 403
    answer = asked("/runs/1", cookie=cookie, accept="text/html", **followed)
    assert answer.status == 403
    assert '<a href="/runs/1">' in answer.body


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/", "/"),
        ("//evil.example/a", "/evil.example/a"),
        ("/\\evil.example", "/evil.example"),
        ('/"><script>x</script>', "/%22%3E%3Cscript%3Ex%3C/script%3E"),
        ("/runs/é", "/runs/%C3%A9"),
    ],
)
def test_the_way_on_leads_to_our_own_pages(path: str, link: str) -> None:
    answer = asked(path, query="query=mutation", accept="text/html")
    assert (answer.status, re.findall('href="(.*?)"', answer.body)) == (401, [link])


def test_who_opens_the_bare_address_reads_what_to_do() -> None:
    answer = asked("/runs/1", sec_fetch_site="none", **{name.replace("-", "_"): of for name, of in NAVIGATION.items()})
    assert answer.status == 401
    assert answer.all("content-type") == ["text/html; charset=utf-8"]
    assert "pkg-pipeline dev printed" in answer.body
    assert answer.all("x-frame-options") == ["DENY"]


@pytest.mark.parametrize(
    ("method", "more", "status"),
    [
        ("POST", {"content_type": "application/json"}, 200),
        ("POST", {"content_type": "application/json; charset=utf-8"}, 200),
        ("POST", {"content_type": "text/plain"}, 405),
        ("POST", {"content_type": "application/x-www-form-urlencoded"}, 405),
        ("POST", {}, 405),
        ("GET", {}, 405),
        ("GET", {"accept": "*/*"}, 405),
        ("GET", {"accept": "text/html"}, 200),  # the console: it shows the query and runs nothing
        ("HEAD", {}, 405),
    ],
)
def test_graphql_runs_nothing_by_reading_or_by_form(
    cookie: str, method: str, more: dict[str, str], status: int
) -> None:
    for path in ("/graphql", "/graphql/"):
        assert asked(path, method=method, cookie=cookie, query="query={version}", **more).status == status


@pytest.mark.parametrize(
    ("more", "reached"),
    [
        ({"origin": f"http://{HOST}"}, True),
        ({"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}, True),
        ({"origin": "http://127.0.0.1:8000"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": f"http://{HOST}", "sec_fetch_site": "cross-site"}, False),
        ({"origin": "http://evil.example:3000", "host": "evil.example:3000"}, False),
    ],
)
def test_websockets_come_from_our_own_pages_with_the_cookie(cookie: str, more: dict[str, str], reached: bool) -> None:
    answer = asked("/graphql", kind="websocket", cookie=cookie, **more)
    assert (answer.reached, answer.status) == (reached, 0 if reached else 1008)
    assert not asked("/graphql", kind="websocket", **more).reached


def test_the_pages_are_held_by_no_other_page_and_ask_nobody_else(cookie: str) -> None:
    answer = asked("/runs", cookie=cookie)
    assert answer.all("x-frame-options") == ["DENY"]
    assert answer.all("cross-origin-opener-policy") == answer.all("cross-origin-resource-policy") == ["same-origin"]
    theirs, ours = answer.all("content-security-policy")
    assert theirs == "base-uri 'none'"
    rules = dict(rule.strip().split(" ", 1) for rule in ours.split(";"))
    assert rules["frame-ancestors"] == rules["frame-src"] == "'none'"
    assert rules["connect-src"] == f"'self' ws://{HOST} wss://{HOST}"
