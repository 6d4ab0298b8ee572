"""Erasing a chat from every table, with the statements of ``erasing.sql``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.items.fact_rows import forget_facts
from pkg_pipeline.adapters.postgres.items.store import ALL_TALKS, mark, refolded
from pkg_pipeline.adapters.postgres.recall.vectors import delete_in
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory import hashing
from pkg_pipeline.stages.archive.erasing import Erased

SQL, CHUNKS = Statements("erasing"), Statements("chunks")
CHUNKS_AT_ONCE = 1_000

_MADE = (
    "forget_batched",
    "forget_calls",
    "delete_attempts",
    "delete_profiles",
    "delete_profile_attempts",
    "delete_receipts",
    "delete_served",
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
    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def content(self, chat_id: UUID) -> Erased | None:
        """Delete messages and everything derived from them, in one transaction; None if there is no such chat."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_items")
            chat = SQL.one(connection, "lock_chat", chat=chat_id)
            if chat is None:
                return None
            key = hashing.chat_key(chat.source, chat.external_id)
            given: dict[str, Any] = {"chat": chat_id, "key": key}
            # summaries of merged interactions have ids without a row: all possible ids are computed
            ids = {hashing.interaction_id(key, one) for one in SQL.values(connection, "message_keys", **given)}
            given["interactions"] = sorted(ids.union(SQL.values(connection, "interactions", **given)))
            given["people"] = sorted(SQL.values(connection, "people", **given))
            given["items"] = SQL.values(connection, "items", **given)
            summaries = SQL.run(connection, "delete_summaries", **given)
            SQL.run(connection, "delete_fact_verdicts", **given)
            facts, changed = forget_facts(connection, given["interactions"])
            mark(connection, changed)
            interactions = SQL.value(connection, "count", **given)
            for step in _MADE:
                SQL.run(connection, step, **given)
            # readings went with the interactions: what other chats say of items stays
            refolded(connection, given["items"], after=ALL_TALKS)
            SQL.run(connection, "delete_versions", **given)
            messages = SQL.run(connection, "delete_messages", **given)
        return Erased(tuple(given["people"]), tuple(given["interactions"]), messages, interactions, summaries, facts)

    def chunks(self, chat_id: UUID, interactions: Sequence[UUID]) -> int:
        """Waits for workers that hold these interactions while they build chunks."""
        removed = 0
        with self._connections.connection() as connection:
            ids = sorted({*interactions, *SQL.values(connection, "interactions", chat=chat_id)})
            try:
                SQL.run(connection, "hold", ids=ids)
                while numbers := SQL.values(connection, "chunks", chat=chat_id, limit=CHUNKS_AT_ONCE):
                    with connection.transaction():
                        delete_in(connection, numbers)
                        CHUNKS.run(connection, "delete_chunks", numbers=numbers)
                    removed += len(numbers)
                CHUNKS.run(connection, "forget_states", ids=ids)
            finally:
                if not connection.broken:
                    CHUNKS.run(connection, "release")
        return removed

    def chat(self, chat_id: UUID, people: Sequence[UUID]) -> int:
        """Delete the chat and those of ``people`` mentioned nowhere else; returns how many people."""
        given: dict[str, Any] = {"chat": chat_id, "people": list(people)}
        with transaction(self._connections) as connection:
            for step in ("lock_selves", "lock_chat", "delete_members", "delete_chat"):
                SQL.run(connection, step, **given)
            given["lonely"] = sorted(SQL.values(connection, "lonely", **given))
            for step in ("delete_identities", "delete_marks_of", "delete_entities"):
                SQL.run(connection, step, **given)
        return len(given["lonely"])
