"""What accounts, and with them people, are called."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query


def name_entities(connection: Connection, entities: Mapping[UUID, tuple[datetime, str]]) -> None:
    """The latest name of each account with its time; an older one changes nothing. What people are called follows."""
    named = {"id": list(entities), "at": [at for at, _ in entities.values()]}
    connection.execute(query("ingest", "lock_people"), {"ids": named["id"]})
    connection.execute(query("ingest", "upsert_names"), {**named, "name": [name for _, name in entities.values()]})
