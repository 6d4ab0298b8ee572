"""What the memory holds, without what differs between two runs that should end alike: bigint ids and wall clocks.

Two databases with equal digests hold the same memory (B10). ``tables`` gives the rows themselves, for a readable
difference; ``digest`` their hash, for large ones.
"""

from __future__ import annotations

import hashlib
from typing import Any, LiteralString

from pkg_pipeline.adapters.postgres.engine import Connection

LOGICAL_TABLES: dict[str, LiteralString] = {
    "entities": "SELECT id, type, name, is_self, organization_id FROM entities",
    "entity_identities": "SELECT source, external_id, entity_id FROM entity_identities",
    "chats": "SELECT id, source, external_id, kind, category, category_source, title, metadata::text FROM chats",
    "chat_members": "SELECT chat_id, entity_id FROM chat_members",
    "messages": """
        SELECT chat_id, external_id, sender_entity_id, interaction_id, sent_at, edited_at, deleted_at IS NOT NULL,
               token_count, importance_score, importance_reason, is_outgoing, is_time_assumed, kind, role, content,
               content_hash, reply_to, topic, forwarded_from, parts::text, metadata::text FROM messages""",
    "message_revisions": """
        SELECT m.chat_id, m.external_id, r.content_hash, r.edited_at, r.is_deleted, r.content
        FROM message_revisions r JOIN messages m ON m.id = r.message_id""",
    "message_entities": """
        SELECT e.entity_id, m.chat_id, m.external_id, e.interaction_id, e.sent_at
        FROM message_entities e JOIN messages m ON m.id = e.message_id""",
    "interactions": """
        SELECT id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
               first_external_id, input_hash FROM interactions""",
    "interaction_participants": """
        SELECT interaction_id, entity_id, role, message_count, token_count, started_at, ended_at
        FROM interaction_participants""",
    "entity_days": "SELECT entity_id, day, message_count, token_count, messages_total, tokens_total FROM entity_days",
    "interaction_summaries": """
        SELECT id, interaction_id, parent_summary_id, status, dirty_reason, input_hash, prompt_version, model_version,
               summary, key_points::text, decisions::text, action_items::text, message_ids
        FROM interaction_summaries""",
    "summary_items": """
        SELECT item_id, entity_id, interaction_id, summary_id, kind, at, description, is_withheld, status, message_ids
        FROM summary_items""",
}


def tables(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """The logical rows of every table, in an order of their own."""
    return {name: sorted(connection.execute(sql).fetchall(), key=repr) for name, sql in LOGICAL_TABLES.items()}


def digest(connection: Connection) -> str:
    """sha256 over all logical rows."""
    whole = hashlib.sha256()
    for name, rows in tables(connection).items():
        whole.update(name.encode())
        for row in rows:
            whole.update(repr(row).encode("utf-8", "backslashreplace"))
    return whole.hexdigest()
