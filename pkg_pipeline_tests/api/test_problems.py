"""Errors are problem documents that say what to do and nothing of the inside; who may ask; what is bound."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi.testclient import TestClient

from pkg_pipeline.api.models import Problem
from pkg_pipeline.api.security import OPEN_PATHS, RANK, ApiToken, TokensWrong, parse_tokens
from pkg_pipeline.api.server import CannotServe, check_address, serve
from pkg_pipeline.stages.reads.stores import StoreUnavailable
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder

NOBODY = UUID(int=7)


def refused(client: TestClient, path: str, status: int, *, method: str = "GET", **more: Any) -> dict[str, Any]:
    answer = client.request(method, path, **more)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    Problem.model_validate(body)
    assert body["status"] == status
    return body


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/entities/boris/context?max_tokens=0", "max_tokens"),
        ("/v1/entities/boris/context?max_tokens=many", "max_tokens"),
        ("/v1/entities/boris/context?as_of=then", "as_of"),
        ("/v1/entities/boris/context?as_of=2999-01-01", "as_of"),
        ("/v1/entities?limit=0", "limit"),
        ("/v1/entities?limit=201", "limit"),
        ("/v1/entities?cursor=rubbish", "cursor"),
        ("/v1/entities?cursor=WyIxIl0", "cursor"),
        ("/v1/summaries?cursor=WyJ4IiwieSJd", "cursor"),
        ("/v1/summaries?chat=nocolon", "chat"),
        ("/v1/summaries?from=yesterday", "from"),
        ("/v1/summaries?from=20250101", "from"),
        ("/v1/summaries?status=gone", "status.0"),
    ],
)
def test_a_wrong_parameter_is_named(client: TestClient, path: str, field: str) -> None:
    body = refused(client, path, 422)
    assert [one["field"] for one in body["errors"]] == [field]
    assert body["detail"]


@pytest.mark.parametrize(
    ("path", "field", "said"),
    [
        ("/v1/entities?qurey=anna", "qurey", "this route has no parameter 'qurey' (did you mean query?)"),
        ("/v1/entities?Limit=5", "Limit", "did you mean limit?"),
        ("/v1/summaries?form=2026-01-01", "form", "did you mean from?"),
        ("/v1/entities/boris?limit=5", "limit", "this route has no parameter 'limit'"),
        ("/health?verbose=1", "verbose", "this route has no parameter 'verbose'"),
        ("/v1/entities?limit=5&limit=6", "limit", "limit is given 2 times"),
        ("/v1/entities?%FF%00=1", "\ufffd\0", "this route has no parameter"),
        ("/v1/entities?" + "x" * 5_000, "x" * 100, "this route has no parameter"),
    ],
)
def test_what_no_route_knows_is_refused_and_the_near_one_named(
    client: TestClient, path: str, field: str, said: str
) -> None:
    """A misspelt filter that is left out silently answers another question."""
    body = refused(client, path, 422)
    assert [one["field"] for one in body["errors"]] == [field]
    assert said in body["errors"][0]["message"]
    assert body["errors"][0]["in"] == "query"


def test_every_unknown_parameter_is_named_on_every_route(client_of: Callable[..., TestClient]) -> None:
    client = client_of(reads=Broken(AssertionError("asked")))
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method in operations:
            body = refused(client, f"{path}?nonsense=1&other=2", 422, method=method.upper())
            assert [one["field"] for one in body["errors"]] == ["nonsense", "other"], path


def test_a_parameter_that_takes_several_is_given_several_times(client: TestClient) -> None:
    assert client.get("/v1/summaries?status=completed&status=dirty").status_code == 200


def test_an_unknown_entity_is_404_with_the_nearest_names(client: TestClient) -> None:
    body = refused(client, "/v1/entities/Borys/context", 404)
    assert body["nearest"] == ["Boris"]
    assert body["detail"].startswith("nobody here is called 'Borys'; did you mean Boris (telegram:")
    for path in ("", "/context", "/timeline"):
        refused(client, f"/v1/entities/{NOBODY}{path}", 404)


def test_a_name_that_fits_several_is_409_and_lists_them(client: TestClient) -> None:
    body = refused(client, "/v1/entities/anna/timeline", 409)
    assert [one["name"] for one in body["candidates"]] == ["Anna Petrova", "Anna Smirnova"]
    assert "last contact 2026-03-14" in body["detail"]
    assert body["is_complete"] is True


def test_unknown_routes_and_methods_are_problems_too(client: TestClient) -> None:
    refused(client, "/v1/nothing", 404)
    refused(client, "/v1/entities", 405, method="POST")
    assert client.delete("/v1/entities").headers["allow"] == "GET"
    assert client.post("/docs").headers["allow"] == "GET"


class Broken:
    """A store whose every read fails in one way."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise self._error

        return fail


def test_a_database_that_is_down_is_503_and_says_when_to_try_again(client_of: Callable[..., TestClient]) -> None:
    broken = Broken(StoreUnavailable("the database does not answer"))
    client = client_of(reads=broken)
    for path in ("/health", "/v1/entities", f"/v1/entities/{NOBODY}/context", "/v1/summaries"):
        refused(client, path, 503)
    assert client.get("/health").headers["retry-after"] == "5"


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.UndefinedTable('relation "secret" does not exist'),
        psycopg.errors.UndefinedColumn("secret"),
        psycopg.errors.FeatureNotSupported("cached plan must not change result type"),
        psycopg.errors.InvalidSqlStatementName("secret"),
        psycopg.errors.LockNotAvailable("secret"),
        psycopg.errors.AdminShutdown("secret"),
        psycopg.errors.QueryCanceled("secret"),
        psycopg.OperationalError("connection refused: secret"),
    ],
)
def test_a_schema_that_changes_is_503_and_says_when_to_try_again(
    client_of: Callable[..., TestClient], error: Exception
) -> None:
    client = client_of(reads=Broken(error))
    body = refused(client, "/v1/entities", 503)
    assert "secret" not in str(body)
    assert client.get("/v1/entities").headers["retry-after"] == "5"


def test_another_error_of_the_database_stays_a_fault(client_of: Callable[..., TestClient]) -> None:
    refused(client_of(reads=Broken(psycopg.errors.DivisionByZero("secret"))), "/v1/entities", 500)


def test_an_old_schema_is_503(client_of: Callable[..., TestClient]) -> None:
    body = refused(client_of(expected_revision="9999"), "/health", 503)
    assert "pkg-pipeline db upgrade" in body["detail"]


def test_the_unexpected_is_500_without_a_word_of_the_inside(
    client_of: Callable[..., TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    """A database quotes the row it refuses: neither the caller nor the log may read it."""
    client = client_of(reads=Broken(RuntimeError("DETAIL: (content)=(what Anna said)")))
    with caplog.at_level(logging.ERROR):
        body = refused(client, f"/v1/entities/{NOBODY}/context", 500)
    assert "Anna" not in str(body)
    assert "RuntimeError" in caplog.text
    assert "read_context" in caplog.text
    assert "Anna" not in caplog.text


# ── who may ask ──────────────────────────────────────────────────────────────────────────────

SECRETS = {"reader": "read", "writer": "write", "boss": "admin"}
TOKENS = parse_tokens(
    ",".join(f"{name}:{scope}:{hashlib.sha256(name.encode()).hexdigest()}" for name, scope in SECRETS.items())
)


def test_with_tokens_every_read_needs_one(client_of: Callable[..., TestClient], build: MemoryBuilder) -> None:
    client = client_of(tokens=TOKENS)
    assert refused(client, "/v1/entities", 401)["detail"] == "a bearer token is needed"
    assert client.get("/v1/entities").headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer nobody", "Basic cmVhZGVy", "Bearer"):
        refused(client, "/v1/entities", 401, headers={"Authorization": wrong})
    for name in SECRETS:
        assert client.get("/v1/entities", headers={"Authorization": f"Bearer {name}"}).status_code == 200
    assert client.get("/health").status_code == 200, "who watches the server needs no token"


@pytest.mark.parametrize(
    ("method", "needed"),
    [("GET", "read"), ("POST", "write"), ("PATCH", "write"), ("PUT", "write"), ("DELETE", "admin")],
)
def test_each_method_needs_its_scope_on_whatever_path(
    client_of: Callable[..., TestClient], build: MemoryBuilder, method: str, needed: str
) -> None:
    """Also where there is no route yet, so that none can be forgotten."""
    client = client_of(tokens=TOKENS)
    for name, scope in SECRETS.items():
        answer = client.request(method, "/v1/nothing", headers={"Authorization": f"Bearer {name}"})
        if RANK[scope] < RANK[needed]:
            body = refused(client, "/v1/nothing", 403, method=method, headers={"Authorization": f"Bearer {name}"})
            assert body["detail"].endswith(f"scope {needed}")
            assert f'scope="{needed}"' in answer.headers["www-authenticate"]
        else:
            assert answer.status_code == 404


@pytest.mark.parametrize(
    "given",
    [
        [],
        [("Authorization", "reader")],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer ")],
        [("Authorization", "Basic reader")],
        [("Authorization", "Bearer Reader")],
        [("Authorization", "Bearer reader x")],
        [("Authorization", "Bearer reader"), ("Authorization", "Bearer nobody")],
    ],
)
def test_no_route_tells_anything_without_a_token(
    client_of: Callable[..., TestClient], build: MemoryBuilder, given: list[tuple[str, str]]
) -> None:
    client = client_of(tokens=TOKENS)
    for path in [*client.get("/openapi.json").json()["paths"], "/v1/nothing", "/health/", "/HEALTH"]:
        if path not in OPEN_PATHS:
            assert client.request("GET", path, headers=given).status_code == 401, path


def test_a_secret_of_any_letters_is_known(client_of: Callable[..., TestClient], build: MemoryBuilder) -> None:
    secret = "sésame, ouvre-toi".encode()
    client = client_of(tokens=parse_tokens(f"a:read:{hashlib.sha256(secret).hexdigest()}"))
    assert client.get("/v1/entities", headers={b"Authorization": b"bearer  " + secret}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/entities", "/v1/sessions/a%3Ab/messages", "/v1/summarization/backfill"])
def test_the_token_is_asked_for_before_a_body_is_read(
    client_of: Callable[..., TestClient], build: MemoryBuilder, path: str
) -> None:
    refused_early: list[int] = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        refused_early.append(message.get("status", 0))

    head = [(b"host", b"127.0.0.1"), (b"content-length", b"200000000"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": head}
    scope |= {"query_string": b"", "http_version": "1.1", "root_path": "", "scheme": "http", "client": None}
    asyncio.run(client_of(tokens=TOKENS).app(scope, receive, send))
    assert refused_early[0] == 401


# ── pages of other origins ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tokens", [(), TOKENS])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "192.168.1.5"}, 421),
        ({"Host": ""}, 421),
    ],
)
def test_every_route_is_closed_to_pages_of_other_origins(
    client_of: Callable[..., TestClient], tokens: Any, headers: dict[str, str], status: int
) -> None:
    """Before anything is done: the stores behind fail when they are asked, and a valid token changes nothing."""
    broken = Broken(AssertionError("asked"))
    client = client_of(tokens=tokens, reads=broken)
    for path in [*client.get("/openapi.json").json()["paths"], "/", "/docs", "/openapi.json", "/v1/nothing"]:
        for method in ("GET", "POST", "PATCH", "DELETE", "OPTIONS"):
            given = {**headers, "Authorization": "Bearer boss"}
            refused(client, path, status, method=method, headers=given)


@pytest.mark.parametrize(
    "text", ["swordfish", "a:read:short", "a:all:" + "0" * 64, ":read:" + "0" * 64, "a:read:" + "g" * 64]
)
def test_a_wrong_token_setting_is_said_without_repeating_it(text: str) -> None:
    with pytest.raises(TokensWrong, match="entry 2") as error:
        parse_tokens(f"good:read:{'0' * 64},{text}")
    assert text not in str(error.value)


def test_tokens_are_read_with_blanks_and_capitals() -> None:
    assert parse_tokens(f" a:read:{'AB' * 32} , ") == (ApiToken("a", "read", "ab" * 32),)
    assert parse_tokens("") == ()


@pytest.mark.parametrize("host", ["localhost", "localhost:8321", "127.0.0.1", "127.0.0.2:9", "[::1]:8321", "LOCALHOST"])
def test_this_machine_is_served_under_its_own_names(client: TestClient, host: str) -> None:
    assert client.get("/v1/entities", headers={"host": host}).status_code == 200


def test_an_open_address_needs_tokens() -> None:
    with pytest.raises(CannotServe, match="set PKG_API_TOKENS"):
        check_address("0.0.0.0", has_tokens=False)
    check_address("0.0.0.0", has_tokens=True)
    check_address("127.0.0.1", has_tokens=False)


def test_a_taken_port_is_a_sentence(client_of: Callable[..., TestClient]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CannotServe, match="choose another --port"):
        serve(client_of().app, host="127.0.0.1", port=taken.getsockname()[1])  # type: ignore[arg-type]


def test_an_unknown_address_is_a_sentence(client_of: Callable[..., TestClient]) -> None:
    with pytest.raises(CannotServe, match="is not an address"):
        serve(client_of().app, host="nowhere.invalid", port=0)  # type: ignore[arg-type]


def test_the_application_is_made_without_touching_its_ports(client_of: Callable[..., TestClient]) -> None:
    broken = Broken(RuntimeError("must not be asked"))
    client_of(reads=broken)
