"""What the memory holds, without what differs between two runs that should end alike: bigint ids and wall clocks.

Two databases with equal digests hold the same memory (B10). ``tables`` gives the rows themselves, for a readable
difference; ``digest`` their hash, for large ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, LiteralString

from pkg_pipeline.adapters.postgres.engine import Connection

LOGICAL_TABLES: dict[str, LiteralString] = {
    "entities": "SELECT id, type, name, is_self, organization_id FROM entities",
    "entity_identities": "SELECT source, external_id, entity_id FROM entity_identities",
    "chats": "SELECT id, source, external_id, kind, category, category_source, title, metadata::text FROM chats",
    "chat_members": "SELECT chat_id, entity_id FROM chat_members",
    "messages": """
        SELECT chat_id, external_id, sender_entity_id, interaction_of(kind, chat_id, sent_at), sent_at,
               edited_at, deleted_at IS NOT NULL,
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
               summary, key_points::text, message_ids
        FROM interaction_summaries""",
    "interaction_readings": """
        SELECT interaction_id, ended_at, input_hash, shown_hash, is_checked, prompt_version, model_version,
               content::text, item_ids, quarantined::text
        FROM interaction_readings""",
    "items": """
        SELECT id, kind, status, text, owner, owner_entity_id, owner_name, due_date, importance, probability,
               proposed_by, agreed_by, superseded_by, decided_by, chat_id, interaction_id, quote, message_ids,
               first_at, last_at, settled_at, is_withheld
        FROM items""",
    "item_people": """
        SELECT item_id, entity_id, kind, importance, due_date, first_at, last_at, settled_at FROM item_people""",
    "item_states": """
        SELECT item_id, place, at, event, status, text, owner, due_date, probability, decided_by, superseded_by,
               chat_id, interaction_id, quote, message_ids, is_withheld
        FROM item_states""",
    "entity_facts": """
        SELECT id, entity_id, about_name, told_by, fact_type, value, read_value, confidence, status, decided_by,
               valid_from, valid_to, is_ended, replaces, known_to, interaction_id, quote, message_ids
        FROM entity_facts""",
    "fact_verdicts": """
        SELECT fact_id, entity_id, about_name, told_by, fact_type, said, action, value, valid_from, chat_id,
               message_ids, decided_at FROM fact_verdicts""",
    "item_verdicts": """
        SELECT item_id, kind, chat_id, message_ids, item_text, action, status, text, owner, due_date, clear_due_date
        FROM item_verdicts""",
}
DERIVED_TABLES: dict[str, LiteralString] = {
    "entity_facts": """
        SELECT id, entity_id, fact_type, value, status, valid_from, valid_to, interaction_id, quote, message_ids
        FROM entity_facts""",
    "entity_relationship_profiles": """
        SELECT id, entity_id, week, as_of, status, input_hash, prompt_version, model_version, relationship_type,
               frequency, summary, timeline, total_interactions, total_messages, coverage, top_topics::text,
               milestones::text, key_decisions::text, open_action_items::text, is_carried_over
        FROM entity_relationship_profiles""",
    "archived_messages": """
        SELECT month, chat_id, interaction_id, external_id, sent_at, content, content_hash, parts::text
        FROM archived_messages""",
    "archive_months": "SELECT month, state, message_count, content_bytes FROM archive_months",
    "memory_chunks": """
        SELECT id, source, chat_id, interaction_id, subject_id, at, scopes, start_char, end_char, passage, importance,
               is_withheld, topics, content, content_hash, index_hash, lexical::text
        FROM memory_chunks""",
    "chunk_terms": "SELECT term, chunks FROM chunk_terms WHERE chunks <> 0",
    "conversation_sessions": """
        SELECT s.id, policy, h.external_id, l.external_id, s.message_count, s.token_count, messages_since_hwm,
               tokens_since_hwm, dirty_folds, running_summary
        FROM conversation_sessions s LEFT JOIN messages h ON h.id = s.hwm_message_id
        LEFT JOIN messages l ON l.id = s.last_message_id""",
    "session_summaries": """
        SELECT s.id, s.session_id, parent_summary_id, a.external_id, b.external_id, s.status, s.input_hash, s.summary
        FROM session_summaries s LEFT JOIN messages a ON a.id = s.from_message_id
        LEFT JOIN messages b ON b.id = s.to_message_id""",
}


def tables(
    connection: Connection, statements: Mapping[str, LiteralString] = LOGICAL_TABLES
) -> dict[str, list[tuple[Any, ...]]]:
    """The logical rows of every table, in an order of their own."""
    return {name: sorted(connection.execute(sql).fetchall(), key=repr) for name, sql in statements.items()}


def digest(connection: Connection) -> str:
    """sha256 over all logical rows."""
    whole = hashlib.sha256()
    for name, rows in tables(connection).items():
        whole.update(name.encode())
        for row in rows:
            whole.update(repr(row).encode("utf-8", "backslashreplace"))
    return whole.hexdigest()
