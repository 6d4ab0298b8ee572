-- What the memory served and somebody pastes back is not remembered a second time (B14).

-- fingerprints of lines, no words
CREATE TABLE served_lines (
    print bigint PRIMARY KEY,
    no bigint NOT NULL GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX served_lines_no ON served_lines (no);

CREATE TABLE message_echoes (
    message_id bigint PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    content_hash text NOT NULL,
    own int[] NOT NULL
);

CREATE FUNCTION own_words(content text, own int[]) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN own IS NULL THEN content ELSE coalesce((
        SELECT string_agg(substr(content, own[i] + 1, own[i + 1] - own[i]), E'\n' ORDER BY i)
        FROM generate_series(1, cardinality(own), 2) AS g (i)), '') END;
COMMENT ON FUNCTION own_words IS 'B14: a text without what it repeats of a served block.';

CREATE OR REPLACE VIEW live_texts AS
SELECT m.id, m.chat_id, m.external_id, m.sender_entity_id, m.interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month, own_words(m.content, e.own) AS content, m.parts
FROM message_texts m LEFT JOIN message_echoes e ON e.message_id = m.id AND e.content_hash = m.content_hash
WHERE m.kind = 'message' AND m.deleted_at IS NULL;
COMMENT ON VIEW live_texts IS 'live_messages with their own words, wherever those are kept: without what repeats a served block (B14).';

-- pieces of messages are cut from these words
CREATE OR REPLACE VIEW memory_chunk_texts AS
SELECT c.id, c.source, c.chat_id, c.interaction_id, c.subject_id, c.at,
       CASE WHEN EXISTS (
           SELECT FROM interaction_summaries o WHERE o.interaction_id = c.interaction_id AND o.dirty_reason = 'deleted'
             AND (o.status = 'dirty' OR b.built_at <= o.updated_at)) THEN '{}' ELSE c.topics END AS topics, c.message_ids,
       coalesce(c.content, substr(m.content, coalesce(c.start_char, 0) + 1,
                                  coalesce(c.end_char, length(m.content)) - coalesce(c.start_char, 0))) AS content
FROM memory_chunks c
LEFT JOIN live_texts m ON c.content IS NULL AND m.id = c.message_ids[1]
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
