"""Marks profiles dirty and weeks due inside the transactions of imports and publications (P29)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.queries import query


def mark_newest_week(
    connection: Connection, interactions: Sequence[UUID], *, reason: str, of_items: bool = False
) -> None:
    """Mark the newest week due if it covers one of these interactions, whose summaries changed; ``of_items``: or
    items, which go in up to the week's end.
    """
    connection.execute(query("profiles", "lock_shared"))
    connection.execute(
        query("profiles", "mark_newest"), {"interactions": list(interactions), "reason": reason, "of_items": of_items}
    )


def dirty_changed(connection: Connection) -> None:
    """Mark profiles over changed messages (table ``changed``) dirty; a deletion makes the week due."""
    connection.execute(query("profiles", "lock_shared"))
    touched = connection.execute(query("profiles", "dirty_changed")).fetchall()
    if deleted := [interaction for interaction, is_deleted in touched if is_deleted]:
        mark_newest_week(connection, deleted, reason="message deleted")
