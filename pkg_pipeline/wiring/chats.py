"""A person's word on which chats count (P34)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.postgres.interactions.store import PostgresInteractionStore

if TYPE_CHECKING:
    from pkg_pipeline.memory.records import ChatCategory
    from pkg_pipeline.wiring.memory import Memory


def set_category(memory: Memory, chat_id: UUID, category: ChatCategory | None) -> bool:
    """None: an ordinary chat. Of a mass chat nothing is told from now on; what else follows is left to the next run.
    False: there is no such chat.
    """
    is_set = PostgresInteractionStore(memory.connections).set_category(chat_id, category)
    if is_set:
        memory.items.follow()
    return is_set
