-- Figures of the memory by day. They are counted from the tables and counted again where something changed: triggers
-- only leave marks, which nobody waits for; whoever reads adds the counted days to a count of the marked ones.

-- ── by the day on which interactions began ─────────────────────────────────────────────────

CREATE TABLE day_statistics (
    day date PRIMARY KEY,
    minimum_messages integer NOT NULL,           -- P11, as it was when the day was counted
    interactions integer NOT NULL,
    eligible integer NOT NULL,                   -- P11; summarized + pending + failed
    summarized integer NOT NULL,
    pending integer NOT NULL,
    failed integer NOT NULL,
    oldest_pending_at timestamptz,               -- end of the oldest pending interaction
    summaries integer NOT NULL,                  -- served ones, whatever their interaction is now
    generation_seconds double precision NOT NULL,
    compression_ratios numeric NOT NULL,         -- sums over the served summaries, as are the next three
    cost_usd numeric NOT NULL,
    key_points bigint NOT NULL,
    decisions bigint NOT NULL,
    open_action_items integer NOT NULL,
    versions jsonb NOT NULL DEFAULT '{}'         -- served summaries by "prompt version|model|schema version"
);
CREATE INDEX day_statistics_pending ON day_statistics (day) WHERE pending > 0;

CREATE TABLE day_statistics_marks (
    day date NOT NULL,
    transaction bigint NOT NULL,                 -- a mark is as visible as the change it stands for
    marked_at timestamptz NOT NULL,              -- with the start of the transaction: numbers of another server may recur
    PRIMARY KEY (day, transaction, marked_at)
);

-- The definition of every figure, for counting once and for counting at reading alike.
CREATE FUNCTION count_days(days date[], minimum integer)
RETURNS TABLE (day date, interactions integer, eligible integer, summarized integer, pending integer, failed integer,
    oldest_pending_at timestamptz, summaries integer, generation_seconds double precision, compression_ratios numeric,
    cost_usd numeric, key_points bigint, decisions bigint, open_action_items integer, versions jsonb)
LANGUAGE sql STABLE AS $$
    WITH found AS (
        SELECT i.day, i.ended_at, w.is_eligible, w.is_eligible AND w.waits AND NOT w.is_given_up AS is_pending,
               w.is_eligible AND w.waits AND w.is_given_up AS is_failed, w.is_eligible AND NOT w.waits AS is_summarized,
               s.id IS NOT NULL AS is_served, s.generation_seconds, s.compression_ratio, s.cost_usd,
               jsonb_array_length(s.key_points) AS key_points, jsonb_array_length(s.decisions) AS decisions,
               concat_ws('|', s.prompt_version, s.model_version, s.schema_version) AS version,
               (SELECT count(DISTINCT t.item_id) FROM pkg.summary_items t
                WHERE t.interaction_id = i.id AND t.kind = 'action_item' AND t.status = 'open'
                  AND NOT t.is_withheld) AS open_items
        FROM pkg.interactions i
        JOIN pkg.chats c ON c.id = i.chat_id
        LEFT JOIN pkg.interaction_summaries s ON s.interaction_id = i.id AND s.status IN ('completed', 'dirty')
        LEFT JOIN pkg.summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash AND a.state = 'failed'
        CROSS JOIN LATERAL (
            SELECT i.status = 'completed' AND i.message_count >= minimum AND c.category IS DISTINCT FROM 'mass'
                   AND (c.category IS NOT NULL OR c.kind <> 'channel') AS is_eligible,
                   s.id IS NULL OR s.status = 'dirty' OR s.input_hash <> i.input_hash AS waits,
                   a.interaction_id IS NOT NULL AS is_given_up
        ) w
        WHERE i.day = ANY (days)
    ), made AS MATERIALIZED (
        SELECT v.day, jsonb_object_agg(v.version, v.number) AS versions
        FROM (SELECT f.day, f.version, count(*) AS number FROM found f WHERE f.is_served GROUP BY f.day, f.version) v
        GROUP BY v.day
    ), sums AS (
        SELECT f.day, count(*)::int AS interactions, count(*) FILTER (WHERE f.is_eligible)::int AS eligible,
               count(*) FILTER (WHERE f.is_summarized)::int AS summarized, count(*) FILTER (WHERE f.is_pending)::int AS pending,
               count(*) FILTER (WHERE f.is_failed)::int AS failed, min(f.ended_at) FILTER (WHERE f.is_pending) AS oldest,
               count(*) FILTER (WHERE f.is_served)::int AS summaries,
               coalesce(sum(f.generation_seconds::double precision), 0) AS generation_seconds,
               coalesce(sum(f.compression_ratio), 0) AS compression_ratios, coalesce(sum(f.cost_usd), 0) AS cost_usd,
               coalesce(sum(f.key_points), 0)::bigint AS key_points, coalesce(sum(f.decisions), 0)::bigint AS decisions,
               sum(f.open_items)::int AS open_items
        FROM found f GROUP BY f.day
    )
    SELECT t.day, t.interactions, t.eligible, t.summarized, t.pending, t.failed, t.oldest, t.summaries,
           t.generation_seconds, t.compression_ratios, t.cost_usd, t.key_points, t.decisions, t.open_items,
           coalesce(m.versions, '{}')
    FROM sums t LEFT JOIN made m ON m.day = t.day
$$;

CREATE FUNCTION mark_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.day_statistics_marks
    SELECT DISTINCT c.day, pg_current_xact_id()::text::bigint, transaction_timestamp() FROM changed c
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION mark_both_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.day_statistics_marks
    SELECT c.day, pg_current_xact_id()::text::bigint, transaction_timestamp()
    FROM (SELECT day FROM changed UNION SELECT day FROM was) c
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION mark_days_of_interactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.day_statistics_marks
    SELECT DISTINCT i.day, pg_current_xact_id()::text::bigint, transaction_timestamp()
    FROM changed c JOIN pkg.interactions i ON i.id = c.interaction_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION mark_days_of_both_interactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.day_statistics_marks
    SELECT DISTINCT i.day, pg_current_xact_id()::text::bigint, transaction_timestamp()
    FROM (SELECT interaction_id FROM changed UNION SELECT interaction_id FROM was) c
    JOIN pkg.interactions i ON i.id = c.interaction_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION mark_days_of_chat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.day_statistics_marks
    SELECT DISTINCT i.day, pg_current_xact_id()::text::bigint, transaction_timestamp()
    FROM pkg.interactions i WHERE i.chat_id = new.id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER interactions_new AFTER INSERT ON interactions REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days();
CREATE TRIGGER interactions_changed AFTER UPDATE ON interactions REFERENCING OLD TABLE AS was NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_both_days();
CREATE TRIGGER interactions_gone AFTER DELETE ON interactions REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days();

CREATE TRIGGER interaction_summaries_new AFTER INSERT ON interaction_summaries REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
CREATE TRIGGER interaction_summaries_changed AFTER UPDATE ON interaction_summaries
    REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_both_interactions();
CREATE TRIGGER interaction_summaries_gone AFTER DELETE ON interaction_summaries REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();

CREATE TRIGGER summary_items_new AFTER INSERT ON summary_items REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
CREATE TRIGGER summary_items_changed AFTER UPDATE ON summary_items REFERENCING OLD TABLE AS was NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_both_interactions();
CREATE TRIGGER summary_items_gone AFTER DELETE ON summary_items REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();

CREATE TRIGGER summary_attempts_new AFTER INSERT ON summary_attempts REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();
CREATE TRIGGER summary_attempts_changed AFTER UPDATE ON summary_attempts REFERENCING OLD TABLE AS was NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_both_interactions();
CREATE TRIGGER summary_attempts_gone AFTER DELETE ON summary_attempts REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_days_of_interactions();

CREATE TRIGGER chats_recategorised AFTER UPDATE OF kind, category ON chats FOR EACH ROW
    WHEN ((old.kind, old.category) IS DISTINCT FROM (new.kind, new.category)) EXECUTE FUNCTION mark_days_of_chat();

-- ── the ledger by local day ────────────────────────────────────────────────────────────────

CREATE TABLE ledger_statistics (
    day date NOT NULL,
    lane text NOT NULL,
    task text NOT NULL,
    model text NOT NULL,
    outcome text NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cache_read_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    cost_usd numeric NOT NULL,
    duration_seconds double precision NOT NULL,
    PRIMARY KEY (day, lane, task, model, outcome)
);

CREATE TABLE ledger_statistics_marks (
    hour timestamptz NOT NULL,                   -- of the calls; which local days it touches, the reader's time zone says
    transaction bigint NOT NULL,
    marked_at timestamptz NOT NULL,
    PRIMARY KEY (hour, transaction, marked_at)
);

CREATE FUNCTION count_ledger(days date[], zone text)
RETURNS TABLE (day date, lane text, task text, model text, outcome text, calls bigint, input_tokens bigint,
    output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_usd numeric,
    duration_seconds double precision)
LANGUAGE sql STABLE AS $$
    SELECT d.day, l.lane, l.task, l.model, l.outcome, count(*), sum(l.input_tokens), sum(l.output_tokens),
           sum(l.cache_read_tokens), sum(l.cache_write_tokens), sum(l.cost_usd), sum(l.duration_seconds::double precision)
    FROM unnest(days) AS d (day)
    JOIN pkg.llm_calls l ON l.created_at >= d.day::timestamp AT TIME ZONE zone
        AND l.created_at < (d.day + 1)::timestamp AT TIME ZONE zone
    GROUP BY d.day, l.lane, l.task, l.model, l.outcome
$$;

CREATE FUNCTION mark_hours() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pkg.ledger_statistics_marks
    SELECT DISTINCT date_trunc('hour', c.created_at, 'UTC'), pg_current_xact_id()::text::bigint, transaction_timestamp()
    FROM changed c
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER llm_calls_new AFTER INSERT ON llm_calls REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_hours();
CREATE TRIGGER llm_calls_changed AFTER UPDATE ON llm_calls REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_hours();
CREATE TRIGGER llm_calls_gone AFTER DELETE ON llm_calls REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_hours();

-- ── what was there before ──────────────────────────────────────────────────────────────────

INSERT INTO day_statistics_marks SELECT DISTINCT day, 0, transaction_timestamp() FROM interactions;
INSERT INTO ledger_statistics_marks
SELECT DISTINCT date_trunc('hour', created_at, 'UTC'), 0, transaction_timestamp() FROM llm_calls;

CREATE INDEX summary_items_unfinished ON summary_items (interaction_id, item_id)
    WHERE kind = 'action_item' AND status = 'open' AND NOT is_withheld;
CREATE INDEX summary_attempts_failed ON summary_attempts (updated_at, interaction_id) WHERE state = 'failed';

-- Due partitions are found by jumping from key to key, however many marks each has.
DROP INDEX dirty_partitions_key, dirty_partitions_due;
CREATE INDEX dirty_partitions_key ON dirty_partitions (asset, partition_key, id);
CREATE INDEX dirty_partitions_due ON dirty_partitions (asset, partition_key, due_at);
