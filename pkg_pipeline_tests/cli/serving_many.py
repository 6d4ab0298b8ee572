"""One server over many memories with a token each, asked in process. Not the tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient
from httpx import Response

from pkg_pipeline.adapters.postgres import memories
from pkg_pipeline.api.security import ApiToken, TokenScope
from pkg_pipeline.cli.programs.callers import NamedCallers
from pkg_pipeline.cli.programs.serving import Opened, application
from pkg_pipeline.settings import Settings, load
from pkg_pipeline.wiring import open_memory
from pkg_pipeline_tests.stages import deleted_words as words
from pkg_pipeline_tests.stages.many_memories import name_of

GIVEN = {"PKG_LLM": "offline", "PKG_EMBEDDER": "none", "PKG_NOW": words.NOW, "PKG_SUMMARY_MIN_AGE_DAYS": "1"}
OWN = 0
"""The memory without a name."""


def settings_over(url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**GIVEN, "DATABASE_URL": url, "PKG_HOME": str(home), "PKG_RECEIPTS": "false"}.items():
        monkeypatch.setenv(name, value)
    return load()


def secret_of(number: int, scope: TokenScope = "admin") -> str:
    return f"{scope} of {number}"


def token_of(number: int, scope: TokenScope = "admin") -> ApiToken:
    digest = hashlib.sha256(secret_of(number, scope).encode()).hexdigest()
    return ApiToken(f"caller {number}", scope, digest, None if number == OWN else name_of(number))


class Caller:
    """Requests with the token of one memory."""

    def __init__(self, client: TestClient, number: int, scope: TokenScope = "admin") -> None:
        self._client, self._headers = client, {"Authorization": f"Bearer {secret_of(number, scope)}"}

    def __call__(self, method: str, path: str, **given: object) -> Response:
        return self._client.request(method, path, headers=self._headers, **given)  # type: ignore[arg-type]


@contextmanager
def serving(settings: Settings, *, tokens_for: int) -> Iterator[TestClient]:
    """With tokens of the own memory and of ``m1`` to ``mN``, whether they are there or not."""
    tokens = tuple(token_of(number, scope) for number in range(tokens_for + 1) for scope in ("admin", "read"))
    named = NamedCallers(tuple(one for one in tokens if one.memory is not None))
    with (
        open_memory(settings) as memory,
        application(memory, Opened(host="127.0.0.1", tokens=tokens, processes=1, named=named)) as app,
        TestClient(app, base_url="http://127.0.0.1:8321") as client,
    ):
        yield client


def connections_to_named(url: str) -> int:
    """Open connections to all memories beside the own one."""
    begin = f"{memories.own_database(url)}."
    with psycopg.connect(url) as watching:
        row = watching.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE starts_with(datname, %s)", (begin,)
        ).fetchone()
    assert row is not None
    return int(row[0])
