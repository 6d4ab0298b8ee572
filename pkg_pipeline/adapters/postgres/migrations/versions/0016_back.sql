CREATE OR REPLACE FUNCTION count_days(days date[], minimum integer)
RETURNS TABLE (day date, interactions integer, eligible integer, summarized integer, pending integer, failed integer,
    oldest_pending_at timestamptz, summaries integer, generation_seconds double precision, compression_ratios numeric,
    cost_usd numeric, key_points bigint, decisions bigint, versions jsonb)
LANGUAGE sql STABLE AS $$
    WITH found AS (
        SELECT i.day, i.ended_at, w.is_eligible, w.is_eligible AND w.waits AND NOT w.is_given_up AS is_pending,
               w.is_eligible AND w.waits AND w.is_given_up AS is_failed, w.is_eligible AND NOT w.waits AS is_summarized,
               s.id IS NOT NULL AS is_served, s.generation_seconds, s.compression_ratio, s.cost_usd,
               jsonb_array_length(s.key_points) AS key_points, d.decisions,
               concat_ws('|', s.prompt_version, s.model_version, s.schema_version) AS version
        FROM pkg.interactions i
        JOIN pkg.chats c ON c.id = i.chat_id
        LEFT JOIN pkg.interaction_summaries s ON s.interaction_id = i.id AND s.status IN ('completed', 'dirty')
        LEFT JOIN pkg.summary_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash AND a.state = 'failed'
        LEFT JOIN LATERAL (
            SELECT count(*) AS decisions FROM pkg.items t
            WHERE t.interaction_id = i.id AND t.kind = 'decision' AND NOT t.is_withheld
        ) d ON s.id IS NOT NULL
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
               coalesce(sum(f.key_points), 0)::bigint AS key_points, coalesce(sum(f.decisions), 0)::bigint AS decisions
        FROM found f GROUP BY f.day
    )
    SELECT t.day, t.interactions, t.eligible, t.summarized, t.pending, t.failed, t.oldest, t.summaries,
           t.generation_seconds, t.compression_ratios, t.cost_usd, t.key_points, t.decisions,
           coalesce(m.versions, '{}')
    FROM sums t LEFT JOIN made m ON m.day = t.day
$$;

DROP FUNCTION least_summarised;
DELETE FROM installation WHERE key = 'summary_min_tokens';
