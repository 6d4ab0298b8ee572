-- Interactions of a chat do not overlap: the one that a message lies in follows from its time. Written into the row it
-- doubled the table and all of its indexes with each import, until the next vacuum.

CREATE FUNCTION interaction_of(kind text, chat uuid, sent_at timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN kind = 'message' THEN (
        SELECT CASE WHEN i.ended_at >= interaction_of.sent_at THEN i.id END FROM interactions i
        WHERE i.chat_id = chat AND i.started_at <= interaction_of.sent_at ORDER BY i.started_at DESC LIMIT 1) END;
COMMENT ON FUNCTION interaction_of IS 'The interaction that a message of this kind lies in; NULL for service entries and before a chat was cut.';

CREATE OR REPLACE VIEW message_texts AS
SELECT m.id, m.chat_id, m.external_id,
       coalesce((SELECT p.merged_into FROM entities p WHERE p.id = m.sender_entity_id), m.sender_entity_id) AS sender_entity_id,
       interaction_of(m.kind, m.chat_id, m.sent_at) AS interaction_id, m.sent_at, m.imported_at, m.edited_at,
       m.deleted_at, m.token_count, m.importance_score, m.importance_reason, m.is_outgoing, m.kind, m.role, m.reply_to,
       m.content_hash, m.is_archived, m.archived_at, m.archived_month,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.content, m.content) ELSE '' END AS content,
       CASE WHEN m.deleted_at IS NULL THEN coalesce(a.parts, m.parts) END AS parts
FROM messages m
LEFT JOIN LATERAL (
    SELECT content, parts FROM archived_messages
    WHERE m.is_archived AND month = m.archived_month AND message_id = m.id LIMIT 1
) a ON true;

CREATE OR REPLACE VIEW live_messages AS
SELECT m.id, m.chat_id,
       coalesce((SELECT p.merged_into FROM entities p WHERE p.id = m.sender_entity_id), m.sender_entity_id) AS sender_entity_id,
       interaction_of(m.kind, m.chat_id, m.sent_at) AS interaction_id, m.sent_at, m.imported_at, m.exported_at, m.edited_at, m.deleted_at, m.archived_at,
       m.token_count, m.importance_score, m.is_outgoing, m.is_archived, m.is_time_assumed, m.kind, m.role,
       m.importance_reason, m.external_id, m.content, m.content_hash, m.reply_to, m.topic, m.forwarded_from,
       m.parts, m.metadata, m.archived_month, m.is_blanked, m.is_missing
FROM messages m WHERE m.kind = 'message' AND m.deleted_at IS NULL;

CREATE OR REPLACE FUNCTION is_folded(chat uuid, interaction uuid, started_at timestamptz, ended_at timestamptz)
    RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM conversation_sessions c WHERE c.id = is_folded.chat AND c.hwm_message_id > 0 AND NOT EXISTS (
            SELECT FROM messages m
            WHERE m.chat_id = c.id AND m.sent_at BETWEEN is_folded.started_at AND is_folded.ended_at
              AND m.kind = 'message'
              AND (m.id > c.hwm_message_id AND m.deleted_at IS NULL OR EXISTS (
                  SELECT FROM session_summaries f WHERE f.session_id = c.id AND f.status = 'dirty'
                    AND m.id BETWEEN f.from_message_id AND f.to_message_id))));

CREATE OR REPLACE FUNCTION talk_edited_since(interaction uuid, moment timestamptz, known timestamptz DEFAULT 'infinity')
    RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (
        SELECT FROM interactions i JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
        WHERE i.id = interaction AND m.kind = 'message' AND m.edited_at > moment
          AND (m.reworded_at IS NULL OR m.reworded_at <= known
               OR EXISTS (SELECT FROM message_revisions r WHERE r.message_id = m.id AND r.edited_at > moment AND r.known_from <= known)));

CREATE OR REPLACE FUNCTION participants_known(entity uuid, known timestamptz)
    RETURNS TABLE (interaction_id uuid, started_at timestamptz, ended_at timestamptz, message_count bigint, token_count bigint)
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, min(m.sent_at), max(m.sent_at), count(*) FILTER (WHERE w.is_own),
           coalesce(sum(coalesce(t.token_count, m.token_count)) FILTER (WHERE w.is_own), 0)::bigint
    FROM interaction_participants p
    JOIN interactions i ON i.id = p.interaction_id
    JOIN chats c ON c.id = i.chat_id
    JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.kind = 'message'
        AND m.imported_at <= known
    LEFT JOIN LATERAL words_known(m.id, m.reworded_at, known) AS t ON true
    CROSS JOIN LATERAL (
        SELECT (m.deleted_at IS NULL OR m.deleted_at > known)
               AND (c.kind = 'direct' OR m.sender_entity_id = ANY(accounts_of(p.entity_id))
                    OR EXISTS (SELECT FROM message_entities e WHERE e.entity_id = p.entity_id AND e.message_id = m.id)) AS is_own
    ) AS w
    WHERE p.entity_id = entity
    GROUP BY i.id HAVING count(*) FILTER (WHERE w.is_own) > 0;
END;

ALTER TABLE messages DROP COLUMN interaction_id;

-- in place of own_words() the planner puts its CASE, so that what repeats nothing is not cut at a function's price
CREATE FUNCTION cut_words(content text, own int[]) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN coalesce((
        SELECT string_agg(substr(content, own[i] + 1, own[i + 1] - own[i]), E'\n' ORDER BY i)
        FROM generate_series(1, cardinality(own), 2) AS g (i)), '');
COMMENT ON FUNCTION cut_words IS 'The parts of a text that these pairs of places name.';
CREATE OR REPLACE FUNCTION own_words(content text, own int[]) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN own IS NULL THEN content ELSE cut_words(content, own) END;
