"""Tokens open memories: what is answered where there is none, and which applications are kept open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from pydantic import SecretStr
from starlette.types import Receive, Scope, Send

from pkg_pipeline.adapters.home_files import read_machine_token
from pkg_pipeline.api import by_memory
from pkg_pipeline.api.by_memory import OpenMemories, OpenMemory
from pkg_pipeline.api.security import TokensWrong, parse_tokens
from pkg_pipeline.cli.programs import callers as callers_module
from pkg_pipeline.cli.programs.callers import callers_of
from pkg_pipeline.cli.programs.serving import Opened, application
from pkg_pipeline.settings import Settings, SettingsError, load
from pkg_pipeline.wiring import memories, open_memory
from pkg_pipeline_tests.cli.serving_many import OWN, Caller, serving, settings_over, token_of
from pkg_pipeline_tests.stages.many_memories import named_deployment

HASH = "ab" * 32


@pytest.fixture
def settings(server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setattr(by_memory, "LOOK_SECONDS", -1.0)
    monkeypatch.setattr(callers_module, "LOOK_SECONDS", -1.0)
    with named_deployment(server_url) as url:
        yield settings_over(url, tmp_path, monkeypatch)


def said(answer: Response) -> tuple[int, dict[str, str], str]:
    return answer.status_code, {key: value for key, value in answer.headers.items() if key != "date"}, answer.text


@pytest.mark.parametrize(
    ("text", "memory"),
    [(f"bob:read:{HASH}", None), (f"bob@host:admin:{HASH}:anna", "anna"), (f"b:write:{HASH.upper()}:a-1_b", "a-1_b")],
)
def test_a_token_may_name_a_memory(text: str, memory: str | None) -> None:
    (found,) = parse_tokens(text)
    assert (found.memory, found.digest) == (memory, HASH)


@pytest.mark.parametrize("memory", ["", "Anna", "an na", "anna:bob", "1anna", "../x", "a" * 32])
def test_what_is_no_name_is_refused(memory: str) -> None:
    with pytest.raises(TokensWrong, match="name:scope:hash:memory"):
        parse_tokens(f"bob:read:{HASH}:{memory}")


def test_a_memory_that_is_not_there_is_answered_as_an_unknown_token(settings: Settings) -> None:
    memories.create(settings, "m1")
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v1/entities", {}),
        ("POST", "/v1/sessions/agent:x/messages", {"json": [{"id": "1", "role": "user", "text": "hi"}]}),
        ("DELETE", "/v1/chats/jsonl:c1", {}),
        ("GET", "/metrics", {}),
        ("GET", "/nowhere", {}),
    ]
    with serving(settings, tokens_for=2) as client:
        for method, path, more in asked:
            unknown = said(Caller(client, 77)(method, path, **more))
            assert unknown[0] == 401
            assert said(Caller(client, 2)(method, path, **more)) == unknown, "a token, and no memory"
        assert Caller(client, 1)("GET", "/v1/entities").status_code == 200
        append = {"json": [{"id": "1", "role": "user", "text": "hi"}]}
        path = "/v1/sessions/agent:x/messages"
        assert Caller(client, 1)("POST", path, **append).status_code == 200
        memories.drop(settings, "m1")
        for method, asked_path, more in asked:
            answer = said(Caller(client, 1)(method, asked_path, **more))
            assert answer == said(Caller(client, 77)(method, asked_path, **more)), "dropped while it was open"
        memories.create(settings, "m1")
        assert Caller(client, 1)("GET", path).status_code == 404, "another memory of the same name"
        assert Caller(client, 1)("POST", path, **append).status_code == 200
        memories.create(settings, "m2")
        assert Caller(client, 2)("GET", "/v1/entities").status_code == 200, "made while the server runs"


def test_scopes_are_those_of_the_memory(settings: Settings) -> None:
    for name in ("m1", "m2"):
        memories.create(settings, name)
    with serving(settings, tokens_for=2) as client:
        refused = Caller(client, 1, "read")("DELETE", "/v1/chats/jsonl:c1")
        assert (refused.status_code, refused.json()["detail"]) == (403, "the token 'caller 1' lacks the scope admin")
        for number in (OWN, 1):
            for _ in range(3):
                Caller(client, number)("GET", "/v1/items")
        for number, count in ((OWN, 3), (1, 3), (2, None)):
            page = Caller(client, number)("GET", "/metrics").text
            counts = [line.split()[-1] for line in page.splitlines() if 'count{method="GET",route="/v1/items"' in line]
            assert counts == ([] if count is None else [f"{count}.0"])
            assert 'memory="' not in page


def test_where_only_memories_with_names_have_tokens_the_own_one_is_closed(settings: Settings) -> None:
    memories.create(settings, "m1")
    text = f"one:admin:{token_of(1).digest}:m1"
    found = callers_of(settings.model_copy(update={"api_tokens": SecretStr(text)}))
    with asked_of(settings, found) as client:
        assert client.get("/v1/entities").status_code == 401
        assert Caller(client, OWN)("GET", "/v1/entities").status_code == 401
        assert Caller(client, 1)("GET", "/v1/entities").status_code == 200


@contextmanager
def asked_of(settings: Settings, found: Any) -> Iterator[TestClient]:
    opened = Opened(host="127.0.0.1", tokens=found.tokens, processes=1, named=found.named)
    with (
        open_memory(settings) as memory,
        application(memory, opened) as app,
        TestClient(app, base_url="http://127.0.0.1:8321") as client,
    ):
        yield client


def test_without_tokens_in_the_settings_each_memory_has_one_in_its_folder(settings: Settings) -> None:
    anna = memories.create(settings, "anna")
    found = callers_of(settings)
    assert found.named is not None
    own, annas = found.own_secret, read_machine_token(anna.memory_home)
    assert own != annas
    with asked_of(settings, found) as client:
        for secret in (own, annas):
            headers = {"Authorization": f"Bearer {secret}"}
            assert client.get("/v1/entities", headers=headers).status_code == 200
            assert client.post("/v1/sessions/agent:x/messages", headers=headers, json=[]).status_code in (200, 422)
        bobs = read_machine_token(memories.create(settings, "bob").memory_home)
        headers = {"Authorization": f"Bearer {bobs}"}
        assert client.get("/v1/entities", headers=headers).status_code == 200, "known without a restart"
        memories.drop(settings, "bob")
        assert client.get("/v1/entities", headers=headers).json()["detail"] == "the bearer token is not known"


def test_a_memory_that_cannot_be_opened_is_503_and_says_nothing_of_it(settings: Settings) -> None:
    made = memories.create(settings, "m1")
    (made.memory_home / "pkg.toml").write_text('timezone = "Asia/Tokyo"\n')
    with serving(settings, tokens_for=1) as client:
        answer = Caller(client, 1)("GET", "/v1/entities")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "Tokyo" not in answer.text
        (made.memory_home / "pkg.toml").unlink()
        assert Caller(client, 1)("GET", "/v1/entities").status_code == 200


def test_a_memory_has_settings_of_its_own_but_not_of_the_deployment(settings: Settings) -> None:
    made = memories.create(settings, "anna")
    file = made.memory_home / "pkg.toml"
    (settings.home / "pkg.toml").write_text("hot_messages = 7\nlive_usd_per_day = 2\n")
    file.write_text("live_usd_per_day = 0.25\n")
    anna = memories.settings_of(settings, "anna")
    assert (anna.live_usd_per_day, anna.hot_messages, load().live_usd_per_day) == (0.25, 7, 2)
    for line in ("most_runs = 50", 'api_tokens = "x"', 'database_url = "postgresql://elsewhere/x"', 'memory = "bob"'):
        file.write_text(line + "\n")
        with pytest.raises(SettingsError, match="cannot set"):
            memories.settings_of(settings, "anna")


# ── which are kept open ───────────────────────────────────────────────────────────────────────


class Applications:
    """Counts what is opened and closed; ``there`` says which memory stands under a name."""

    def __init__(self) -> None:
        self.there: dict[str, int] = {"anna": 1, "bob": 2, "carl": 3}
        self.log: list[str] = []

    @contextmanager
    def open(self, name: str) -> Iterator[Any]:
        self.log.append(f"+{name}{self.there[name]}")
        number = self.there[name]

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            del scope, receive, send

        yield app
        self.log.append(f"-{name}{number}")


def entered(memories_: OpenMemories, *names: str) -> list[OpenMemory | None]:
    async def all_of_them() -> list[OpenMemory | None]:
        return list(await asyncio.gather(*(memories_.enter(name) for name in names)))

    return asyncio.run(all_of_them())


def test_one_is_opened_once_however_many_ask_at_the_same_time() -> None:
    each = Applications()
    found = OpenMemories(each.open, each.there.get)
    try:
        anna = entered(found, *["anna"] * 9)
        assert len({id(one) for one in anna}) == 1
        assert anna[0] is not None
        assert anna[0].users == 9
        assert each.log == ["+anna1"]
        assert entered(found, "nobody") == [None]
    finally:
        found.close()
    assert each.log == ["+anna1", "-anna1"]


def test_who_is_asked_least_lately_makes_place_but_nobody_who_is_being_asked() -> None:
    each = Applications()
    found = OpenMemories(each.open, each.there.get, most=1)
    try:
        (anna,) = entered(found, "anna")
        (bob,) = entered(found, "bob")
        assert anna is not None
        assert bob is not None
        assert found.names == ["anna", "bob"], "both are being asked"
        found.leave(anna)
        found.leave(bob)
        found.sweep()
        assert (found.names, each.log) == (["bob"], ["+anna1", "+bob2", "-anna1"])
    finally:
        found.close()


def test_one_that_nobody_asks_is_closed_after_a_time() -> None:
    each = Applications()
    found = OpenMemories(each.open, each.there.get, idle_seconds=0)
    try:
        (anna,) = entered(found, "anna")
        assert anna is not None
        found.sweep()
        assert found.names == ["anna"]
        found.leave(anna)
        found.sweep()
        assert (found.names, each.log) == ([], ["+anna1", "-anna1"])
    finally:
        found.close()


def test_another_of_the_same_name_is_opened_anew_and_the_old_one_closed_after_its_last_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(by_memory, "LOOK_SECONDS", -1.0)
    each = Applications()
    closed = threading.Event()
    found = OpenMemories(each.open, each.there.get)
    try:
        (old,) = entered(found, "anna")
        assert old is not None
        old.closing.callback(closed.set)
        each.there["anna"] = 4
        (new,) = entered(found, "anna")
        assert new is not old
        assert not closed.is_set()
        found.leave(old)
        assert closed.wait(10)
        del each.there["anna"]
        assert entered(found, "anna") == [None]
    finally:
        found.close()
    assert sorted(each.log) == ["+anna1", "+anna4", "-anna1", "-anna4"]
