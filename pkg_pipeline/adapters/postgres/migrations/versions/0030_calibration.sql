-- B12: our own count of what was asked beside the model's, and what it says of the model's tokenizer.

ALTER TABLE llm_calls ADD COLUMN counted_tokens integer;
CREATE INDEX llm_calls_counted ON llm_calls (model, created_at) WHERE counted_tokens > 0 AND NOT is_usage_estimated;

CREATE FUNCTION token_calibration(asked text) RETURNS float8 LANGUAGE sql STABLE
    RETURN (
        SELECT CASE WHEN count(*) >= 5 THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) END FROM (
            SELECT (input_tokens + cache_read_tokens + cache_write_tokens)::float8 / counted_tokens AS ratio FROM llm_calls
            WHERE model = asked AND counted_tokens > 0 AND NOT is_usage_estimated
            ORDER BY created_at DESC LIMIT 50
        ) AS lately);
COMMENT ON FUNCTION token_calibration IS 'B12: tokens that a model reported for one of ours, the median of its last 50 calls; NULL below five.';

-- in groups too, what any account of the person wrote is theirs
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
               AND (c.kind = 'direct' OR m.sender_entity_id = ANY(accounts_of(p.entity_id))
                    OR EXISTS (SELECT FROM message_entities e WHERE e.entity_id = p.entity_id AND e.message_id = m.id)) AS is_own
    ) AS w
    WHERE p.entity_id = entity
    GROUP BY i.id HAVING count(*) FILTER (WHERE w.is_own) > 0;
END;
