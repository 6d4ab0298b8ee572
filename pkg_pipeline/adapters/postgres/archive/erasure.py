"""A chat out of every table: the statements of ``erasing.sql`` in the order that foreign keys and locks ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.recall.vectors import delete_in
from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.archive.erasing import Erased
from pkg_pipeline.stages.recall.records import ChunkPlace

CHUNKS_AT_ONCE = 1_000

_MADE = (
    "forget_calls",
    "delete_items",
    "delete_attempts",
    "delete_profiles",
    "delete_profile_attempts",
    "delete_receipts",
    "delete_session",
    "delete_archived",
    "delete_holds",
    "delete_backfilled",
    "delete_leases",
    "mark_people",
    "delete_interactions",
    "delete_imports",
)


class PostgresErasure:
    """The steps of erasing a chat."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def content(self, chat_id: UUID) -> Erased | None:
        """Messages and all that was made of them, in one transaction; None where there is no such chat."""
        with transaction(self._connections) as connection:
            chat = connection.execute(query("erasing", "lock_chat"), {"chat": chat_id}).fetchone()
            if chat is None:
                return None
            key = hashing.chat_key(*chat)
            given: dict[str, Any] = {"chat": chat_id, "key": key}
            # summaries of interactions that were joined to others bear ids of which no row is left: all are reckoned
            made_of = connection.execute(query("erasing", "message_keys"), given).fetchall()
            ids = {hashing.interaction_id(key, external_id) for (external_id,) in made_of}
            given["interactions"] = sorted(ids.union(_ids(connection, "interactions", given)))
            given["people"] = sorted(_ids(connection, "people", given))
            summaries = connection.execute(query("erasing", "delete_summaries"), given).rowcount
            facts = connection.execute(query("erasing", "delete_facts"), given).rowcount
            counted = connection.execute(query("erasing", "count"), given).fetchone()
            assert counted is not None, "an aggregate always gives a row"
            for step in _MADE:
                connection.execute(query("erasing", step), given)
            messages = connection.execute(query("erasing", "delete_messages"), given).rowcount
        return Erased(tuple(given["people"]), tuple(given["interactions"]), messages, counted[0], summaries, facts)

    def chunks(self, chat_id: UUID, interactions: Sequence[UUID]) -> int:
        """Whoever makes chunks of these interactions holds them: it is waited for."""
        removed = 0
        with self._connections.connection() as connection:
            found = _ids(connection, "interactions", {"chat": chat_id})
            ids = sorted(found.union(interactions))
            try:
                connection.execute(query("erasing", "hold"), {"ids": ids})
                while places := _places(connection, chat_id):
                    with connection.transaction():
                        numbers = [place.chunk_no for place in places]
                        connection.execute(query("chunks", "delete_chunks"), {"numbers": numbers})
                        delete_in(connection, places)
                    removed += len(places)
                connection.execute(query("chunks", "forget_states"), {"ids": ids})
            finally:
                if not connection.broken:
                    connection.execute(query("chunks", "release"))
        return removed

    def chat(self, chat_id: UUID, people: Sequence[UUID]) -> int:
        """The chat itself, and those of ``people`` whom nothing else mentions; how many of them."""
        given: dict[str, Any] = {"chat": chat_id, "people": list(people)}
        with transaction(self._connections) as connection:
            connection.execute(query("erasing", "lock_selves"))
            connection.execute(query("erasing", "lock_chat"), given)
            connection.execute(query("erasing", "delete_members"), given)
            connection.execute(query("erasing", "delete_chat"), given)
            given["lonely"] = sorted(_ids(connection, "lonely", given))
            for step in ("delete_identities", "delete_marks_of", "delete_entities"):
                connection.execute(query("erasing", step), given)
        return len(given["lonely"])


def _ids(connection: Connection, name: str, given: dict[str, Any]) -> set[UUID]:
    return {row[0] for row in connection.execute(query("erasing", name), given)}


def _places(connection: Connection, chat_id: UUID) -> list[ChunkPlace]:
    rows = connection.execute(query("erasing", "chunks"), {"chat": chat_id, "limit": CHUNKS_AT_ONCE}).fetchall()
    return [ChunkPlace(no, tuple(scopes)) for no, scopes in rows]
