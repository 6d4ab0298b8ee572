"""The real application over a real database, asked in process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.api.app import create_app
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, Said
from pkg_pipeline_tests.stages.reads.context_memory import NOW, counter, settings
from pkg_pipeline_tests.stages.reads.item_rows import item


@dataclass(frozen=True)
class StandingClock:
    moment: datetime = NOW

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def pool(database_url: str) -> Iterator[ConnectionPool]:
    connections = engine.pool(database_url, size=2, readonly=True)
    yield connections
    connections.close()


@pytest.fixture
def build(database_url: str) -> Iterator[MemoryBuilder]:
    """Me, two Annas and Boris, and a few talks with the first Anna."""
    memory = MemoryBuilder(database_url)
    memory.person("Me", is_self=True)
    for name in ("Anna Petrova", "Anna Smirnova", "Boris"):
        memory.person(name)
        memory.chat(name, ["Me", name])
    for ago in (40, 20, 1):
        said = [Said("Anna Petrova", f"said {ago}")]
        talk = memory.conversation("Anna Petrova", NOW - timedelta(days=ago), said, tokens=20_000)
        if ago > 7:
            memory.summary(
                talk,
                f"Talk {ago}.",
                key_points=["a point"],
                tone="neutral",
                message_ids=["m1"],
                important_messages=[
                    {
                        "message_id": "m/1",
                        "content": "words",
                        "timestamp": "2026-02-03T12:00:00Z",
                        "reason": "agreement",
                    }
                ],
            )
            at = NOW - timedelta(days=ago)
            item(memory, talk, f"d {ago}", about=["Anna Petrova"], at=at, kind="decision")
            item(memory, talk, f"a {ago}", about=["Anna Petrova"], at=at, due=at.date())
    memory.totals()
    yield memory
    memory.close()


@pytest.fixture
def client_of(pool: ConnectionPool) -> Callable[..., TestClient]:
    """A client of the application with some of its ports changed."""

    def make(**changes: Any) -> TestClient:
        store = PostgresReadStore(pool, zone=ZoneInfo("UTC"))
        ports: dict[str, Any] = {
            "reads": store,
            "counter": counter(),
            "clock": StandingClock(),
            "settings": settings(),
            "expected_revision": migrate.head(),
        }
        base_url = changes.pop("base_url", "http://127.0.0.1:8321")
        return TestClient(create_app(ApiDependencies(**{**ports, **changes})), base_url=base_url)

    return make


@pytest.fixture
def client(client_of: Callable[..., TestClient], build: MemoryBuilder) -> TestClient:
    return client_of()
