-- What was deleted at its source: the words go after a time that the settings name, and no view shows them before.

ALTER TABLE messages ADD COLUMN is_blanked boolean NOT NULL DEFAULT false;   -- the words of a deleted message are gone
CREATE INDEX messages_unblanked ON messages (deleted_at) WHERE deleted_at IS NOT NULL AND NOT is_blanked;
CREATE INDEX messages_deleted ON messages (chat_id, external_id) WHERE deleted_at IS NOT NULL;

CREATE OR REPLACE VIEW message_texts AS
SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.content, m.content) ELSE '' END AS content,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.parts, m.parts) END AS parts
FROM messages m
LEFT JOIN LATERAL (
    SELECT content, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true;

CREATE OR REPLACE VIEW current_relationship_profiles AS
SELECT * FROM (
    SELECT DISTINCT ON (entity_id) * FROM entity_relationship_profiles ORDER BY entity_id, week DESC
) newest WHERE dirty_reason IS DISTINCT FROM 'deleted';

-- A chunk that is left stands for words that may be shown. It may be older than the summary or fold that was made anew.
CREATE OR REPLACE VIEW memory_chunk_texts AS
SELECT c.id, c.source, c.chat_id, c.interaction_id, c.subject_id, c.at,
       CASE WHEN EXISTS (
           SELECT FROM interaction_summaries o WHERE o.interaction_id = c.interaction_id AND o.dirty_reason = 'deleted'
             AND (o.status = 'dirty' OR b.built_at <= o.updated_at)) THEN '{}' ELSE c.topics END AS topics, c.message_ids,
       coalesce(c.content, substr(m.content, coalesce(c.start_char, 0) + 1,
                                  coalesce(c.end_char, length(m.content)) - coalesce(c.start_char, 0))) AS content
FROM memory_chunks c
LEFT JOIN message_texts m ON c.content IS NULL AND m.id = c.message_ids[1]
LEFT JOIN chunk_states b ON b.interaction_id = c.interaction_id AND b.space_id = 0
WHERE NOT c.is_withheld
  AND NOT (c.source = 'summary' AND EXISTS (
      SELECT FROM interaction_summaries s WHERE s.id = c.subject_id AND (s.status = 'superseded' OR s.dirty_reason = 'deleted')))
  AND NOT EXISTS (
      SELECT FROM session_summaries w
      WHERE c.source = 'session_fold' AND w.session_id = c.chat_id AND w.to_at = c.at AND w.dirty_reason = 'deleted'
        AND (w.status = 'dirty' OR EXISTS (
            SELECT FROM session_summaries n WHERE n.parent_summary_id = w.id AND b.built_at <= n.generated_at)))
  AND NOT EXISTS (SELECT FROM messages d WHERE d.id = ANY (c.message_ids) AND d.deleted_at IS NOT NULL);
