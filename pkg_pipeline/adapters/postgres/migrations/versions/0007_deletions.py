"""Words of deleted messages are in no view and are blanked after a time. Going back shows what is not blanked yet."""

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TAKEN_BACK = """
CREATE OR REPLACE VIEW memory_chunk_texts AS
SELECT c.id, c.source, c.chat_id, c.interaction_id, c.subject_id, c.at, c.topics, c.message_ids,
       coalesce(c.content, substr(m.content, coalesce(c.start_char, 0) + 1,
                                  coalesce(c.end_char, length(m.content)) - coalesce(c.start_char, 0))) AS content
FROM memory_chunks c LEFT JOIN message_texts m ON c.content IS NULL AND m.id = c.message_ids[1];
CREATE OR REPLACE VIEW current_relationship_profiles AS
SELECT DISTINCT ON (entity_id) * FROM entity_relationship_profiles ORDER BY entity_id, week DESC;
CREATE OR REPLACE VIEW message_texts AS
SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month,
       coalesce(a.content, m.content) AS content, coalesce(a.parts, m.parts) AS parts
FROM messages m
LEFT JOIN LATERAL (
    SELECT content, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true;
DROP INDEX messages_deleted, messages_unblanked;
ALTER TABLE messages DROP COLUMN is_blanked;
"""


def upgrade() -> None:
    # several statements at once are possible only without parameters
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.get_bind().exec_driver_sql(TAKEN_BACK)
