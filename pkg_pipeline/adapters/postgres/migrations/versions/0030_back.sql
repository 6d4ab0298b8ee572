DROP FUNCTION token_calibration;
ALTER TABLE llm_calls DROP COLUMN counted_tokens;

CREATE OR REPLACE FUNCTION participants_known(entity uuid, known timestamptz)
    RETURNS TABLE (interaction_id uuid, started_at timestamptz, ended_at timestamptz, message_count bigint, token_count bigint)
    LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, min(m.sent_at), max(m.sent_at), count(*) FILTER (WHERE w.is_own),
           coalesce(sum(m.token_count) FILTER (WHERE w.is_own), 0)::bigint
    FROM interaction_participants p
    JOIN interactions i ON i.id = p.interaction_id
    JOIN chats c ON c.id = i.chat_id
    JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.interaction_id = i.id
        AND m.imported_at <= known
    CROSS JOIN LATERAL (
        SELECT (m.deleted_at IS NULL OR m.deleted_at > known)
               AND (c.kind = 'direct' OR m.sender_entity_id = p.entity_id
                    OR EXISTS (SELECT FROM message_entities e WHERE e.entity_id = p.entity_id AND e.message_id = m.id)) AS is_own
    ) AS w
    WHERE p.entity_id = entity
    GROUP BY i.id HAVING count(*) FILTER (WHERE w.is_own) > 0;
END;
