-- What the revision took away, empty.

DROP FUNCTION archive_ready;
DROP VIEW live_summaries CASCADE;
ALTER TABLE interaction_summaries ADD COLUMN decisions jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN action_items jsonb NOT NULL DEFAULT '[]', ADD COLUMN extracted_facts jsonb NOT NULL DEFAULT '[]';

CREATE TABLE summary_items (
    item_id uuid NOT NULL,
    entity_id uuid NOT NULL REFERENCES entities,
    interaction_id uuid NOT NULL,
    summary_id uuid NOT NULL REFERENCES interaction_summaries ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('decision', 'action_item')),
    at timestamptz NOT NULL,                     -- end of the interaction: event time
    decided_on date,
    importance text CHECK (importance IN ('high', 'medium', 'low')),
    owner text CHECK (owner IN ('self', 'them', 'both')),
    owner_entity_id uuid,
    status text CHECK (status IN ('open', 'closed')),
    due_date date,
    closed_at date,
    is_withheld boolean NOT NULL DEFAULT false,  -- rests on a message deleted at its source
    description text NOT NULL,
    quote text NOT NULL,
    message_ids text[] NOT NULL,
    PRIMARY KEY (entity_id, item_id)
);
CREATE INDEX summary_items_interaction ON summary_items (interaction_id);
CREATE INDEX summary_items_summary ON summary_items (summary_id);
CREATE INDEX summary_items_decisions ON summary_items (entity_id, importance, at DESC) WHERE kind = 'decision';
CREATE INDEX summary_items_open ON summary_items (entity_id, due_date, at DESC)
    WHERE kind = 'action_item' AND status = 'open';
CREATE INDEX summary_items_closed ON summary_items (entity_id, closed_at DESC)
    WHERE kind = 'action_item' AND status = 'closed';

CREATE TRIGGER summary_items_new AFTER INSERT ON summary_items REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
CREATE TRIGGER summary_items_changed AFTER UPDATE ON summary_items REFERENCING OLD TABLE AS was NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_both_interactions();
CREATE TRIGGER summary_items_gone AFTER DELETE ON summary_items REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();

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

CREATE INDEX summary_items_unfinished ON summary_items (interaction_id, item_id)
    WHERE kind = 'action_item' AND status = 'open' AND NOT is_withheld;
