"""The tombstones of a memory, as imports and appends ask for them (B3)."""

from __future__ import annotations

from collections.abc import Iterable

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.message.forgotten import Forgotten, Salted, Tombstone

SQL = Statements("forgotten")


def salt_of(connections: ConnectionPool) -> str:
    return SQL.value(connections, "salt") or ""


def forgotten_in(connections: ConnectionPool) -> Forgotten:
    """All of them."""
    return Forgotten.of(salt_of(connections), SQL.rows(connections, "tombstones", Tombstone))


def forgotten_near(connections: ConnectionPool, source: str, chat: str, people: Iterable[str]) -> Forgotten:
    """Those of a chat, by its external id, and of people who write there."""
    salted = Salted(salt_of(connections))
    place = salted.hash("chat", source, chat)
    senders = [salted.hash("person", source, one) for one in people]
    return Forgotten.of(salted.salt, SQL.rows(connections, "near", Tombstone, chat=place, people=senders))
