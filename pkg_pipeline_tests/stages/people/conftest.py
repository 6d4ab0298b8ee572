"""Databases of a test's own, as many as it asks for."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests import databases


@pytest.fixture
def new_database(server_url: str) -> Iterator[Callable[[], str]]:
    made: list[str] = []

    def make() -> str:
        made.append(f"t_{uuid.uuid4().hex}")
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {made[-1]} TEMPLATE {databases.TEMPLATE} STRATEGY file_copy".encode())
        return engine.with_database(server_url, made[-1])

    yield make
    with psycopg.connect(server_url, autocommit=True) as connection:
        for name in made:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
