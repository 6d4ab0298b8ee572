-- Summaries are words: what was decided and promised is in items, what was learnt in entity_facts, both from readings. Views
-- that others built over the columns go with them.

DROP FUNCTION archive_ready;
DROP VIEW live_summaries CASCADE;
DROP TABLE summary_items CASCADE;
ALTER TABLE interaction_summaries DROP COLUMN decisions CASCADE, DROP COLUMN action_items CASCADE, DROP COLUMN extracted_facts CASCADE;

CREATE VIEW live_summaries AS SELECT * FROM interaction_summaries WHERE status IN ('completed', 'dirty');
COMMENT ON VIEW live_summaries IS 'The one summary of an interaction that is served, as its table has it: where dirty_reason is deleted, its words are shown nowhere.';

CREATE FUNCTION archive_ready(month date, ended_before timestamptz, now timestamptz)
    RETURNS TABLE (id uuid, chat_id uuid, day date, started_at timestamptz, ended_at timestamptz, message_count integer,
                   important_messages jsonb) LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT i.id, i.chat_id, i.day, i.started_at, i.ended_at, i.message_count, s.important_messages
    FROM interactions i LEFT JOIN live_summaries s ON s.interaction_id = i.id
    WHERE i.day >= archive_ready.month AND i.day < next_month(archive_ready.month)
      AND i.status = 'completed' AND i.ended_at < archive_ready.ended_before
      AND (s.status = 'completed' AND s.input_hash = i.input_hash
           OR s.id IS NULL AND is_folded(i.chat_id, i.id, i.started_at, i.ended_at))
      AND NOT EXISTS (SELECT FROM archive_holds h WHERE h.interaction_id = i.id AND h.held_until > archive_ready.now)
      AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, 0));
END;
COMMENT ON FUNCTION archive_ready IS
    'P16: interactions of a month that ended before the age, are summarised (or folded, T8) as they are now, and that nobody restored; with what their summary calls important.';
