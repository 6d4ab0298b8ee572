"""Where faults are caused: a folder and a PostgreSQL server of their own, with a fresh database for every try."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests import digest
from pkg_pipeline_tests.databases import TEMPLATE


@dataclass(frozen=True, slots=True)
class Ground:
    """``folder`` is empty and short-named; ``server_url`` names a running server with a migrated template."""

    folder: Path
    server_url: str

    @contextmanager
    def database(self, like: str | None = None) -> Iterator[str]:
        """The URL of a database that is empty, or a copy of the one at ``like``; gone afterwards.

        Nobody may be connected to what is copied.
        """
        template = TEMPLATE if like is None else str(conninfo_to_dict(like)["dbname"])
        name = f"f_{uuid.uuid4().hex}"
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
        try:
            yield engine.with_database(self.server_url, name)
        finally:
            self._run("DROP DATABASE {} WITH (FORCE)", name)

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]


def tables(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that the memory at ``url`` holds, without serial numbers and times of writing."""
    with engine.connect(url) as connection:
        return digest.tables(connection, digest.LOGICAL_TABLES | digest.DERIVED_TABLES)


def expire_leases(url: str) -> None:
    """As if the time for which the claim of a dead worker is kept had passed."""
    with engine.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE leases SET expires_at = clock_timestamp()")
