-- Queries of the asset checks. Read-only; bounded by days, newest summaries, or a sample of pages.

-- name: coverage
-- Due interactions of the days (P11), those with a live summary, and those whose summary is outdated.
SELECT count(*) AS due, count(s.id) AS summarized,
       count(*) FILTER (WHERE s.status = 'dirty' OR s.input_hash <> i.input_hash) AS outdated
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = i.id
WHERE i.day BETWEEN %(first_day)s AND %(last_day)s AND i.status = 'completed' AND i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
  AND i.ended_at <= %(now)s::timestamptz - make_interval(secs => %(due_after)s)

-- name: grounding
-- Important messages of current summaries and facts, newest first: those with messages outside of the interaction, and those
-- whose quote is not literally in one of them, with the texts for a closer look. Dropped texts cannot be checked. The first
-- row counts.
WITH published AS (
    SELECT s.id, s.interaction_id, i.chat_id, i.day, i.started_at, i.ended_at, s.important_messages
    FROM interactions i
    JOIN interaction_summaries s ON s.interaction_id = i.id AND s.status = 'completed' AND s.input_hash = i.input_hash
    WHERE i.day BETWEEN %(first_day)s AND %(last_day)s
    ORDER BY coalesce(s.updated_at, s.generated_at) DESC LIMIT %(most)s
), stated AS (
    SELECT p.id, x.message_id AS item, NULL AS quote, ARRAY[x.message_id] AS message_ids
    FROM published p, jsonb_to_recordset(p.important_messages) AS x (message_id text)
    UNION
    SELECT p.id, f.id::text, f.quote, f.message_ids
    FROM published p JOIN entity_facts f ON f.interaction_id = p.interaction_id AND f.status <> 'rejected'
), judged AS (
    SELECT p.day, p.interaction_id, a.item, a.quote, f.texts,
           coalesce(cardinality(a.message_ids), 0) = 0 OR EXISTS (
               SELECT FROM unnest(a.message_ids) AS g (external_id) WHERE g.external_id <> ALL (f.present)) AS is_foreign,
           a.quote IS NOT NULL AND NOT f.is_quoted AND NOT f.is_dropped AS is_unquoted
    FROM stated a
    JOIN published p ON p.id = a.id
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(m.external_id), '{}') AS present, array_agg(m.content) AS texts,
               coalesce(bool_or(a.quote <> '' AND position(a.quote IN m.content) > 0), false) AS is_quoted,
               coalesce(bool_or(m.is_archived AND m.content = '[archived]'), false) AS is_dropped
        FROM message_texts m
        WHERE m.chat_id = p.chat_id AND m.external_id = ANY (a.message_ids) AND m.deleted_at IS NULL
          AND m.sent_at BETWEEN p.started_at AND p.ended_at
    ) f
)
SELECT count(*) AS checked, NULL::date AS day, NULL::uuid AS interaction_id, NULL AS item, NULL AS quote, NULL::text[] AS texts,
       false AS is_foreign
FROM judged
UNION ALL
(SELECT NULL, day, interaction_id, item, quote, texts, is_foreign FROM judged
 WHERE is_foreign OR is_unquoted LIMIT %(most_wrong)s)

-- name: item_grounding
-- The same of the states of items, newest first, by the day of the conversation that says so.
WITH stated AS (
    SELECT s.item_id::text AS item, s.chat_id, s.interaction_id, i.day, s.quote, s.message_ids
    FROM item_states s JOIN interactions i ON i.id = s.interaction_id
    WHERE NOT s.is_withheld AND i.day BETWEEN %(first_day)s AND %(last_day)s
    ORDER BY s.at DESC LIMIT %(most)s
), judged AS (
    SELECT a.day, a.interaction_id, a.item, a.quote, f.texts,
           cardinality(a.message_ids) = 0 OR EXISTS (
               SELECT FROM unnest(a.message_ids) AS g (external_id) WHERE g.external_id <> ALL (f.present)) AS is_foreign,
           NOT f.is_quoted AND NOT f.is_dropped AS is_unquoted
    FROM stated a
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(m.external_id), '{}') AS present, array_agg(m.content) AS texts,
               coalesce(bool_or(a.quote <> '' AND position(a.quote IN m.content) > 0), false) AS is_quoted,
               coalesce(bool_or(m.is_archived AND m.content = '[archived]' OR m.deleted_at IS NOT NULL), false) AS is_dropped
        FROM message_texts m WHERE m.chat_id = a.chat_id AND m.external_id = ANY (a.message_ids)
    ) f
)
SELECT count(*) AS checked, NULL::date AS day, NULL::uuid AS interaction_id, NULL AS item, NULL AS quote, NULL::text[] AS texts,
       false AS is_foreign
FROM judged
UNION ALL
(SELECT NULL, day, interaction_id, item, quote, texts, is_foreign FROM judged
 WHERE is_foreign OR is_unquoted LIMIT %(most_wrong)s)

-- name: deleted_items
-- Items whose words or present state rest on a deleted message and that are not withheld.
WITH shown AS (
    SELECT i.id, i.interaction_id, i.first_at FROM items i JOIN interactions n ON n.id = i.interaction_id
    WHERE NOT i.is_withheld AND n.day BETWEEN %(first_day)s AND %(last_day)s
    ORDER BY i.last_at DESC LIMIT %(most)s
), wrong AS (
    SELECT s.id FROM shown s WHERE EXISTS (
        SELECT FROM item_states t JOIN messages m ON m.chat_id = t.chat_id AND m.external_id = ANY (t.message_ids)
        WHERE t.item_id = s.id AND m.deleted_at IS NOT NULL AND NOT t.is_withheld)
)
SELECT (SELECT count(*) FROM shown) AS checked, count(*) AS shown_though_deleted,
       (array_agg(id::text ORDER BY id))[1:%(most_examples)s] AS examples
FROM wrong

-- name: pages
-- The percentage of a table that so many pages are.
SELECT least(100, 100.0 * %(most_pages)s / greatest(1, pg_relation_size(%(table)s::regclass) / 8192))::float8 AS percent

-- name: orphans_of_items
SELECT count(*) AS checked, count(*) FILTER (WHERE i.id IS NULL) AS orphaned_items,
       (array_agg(t.id::text) FILTER (WHERE i.id IS NULL))[1:%(most_examples)s] AS examples
FROM items t TABLESAMPLE SYSTEM (%(percent)s) LEFT JOIN interactions i ON i.id = t.interaction_id

-- name: orphans_of_facts
SELECT count(*) AS checked, count(*) FILTER (WHERE i.id IS NULL) AS orphaned_facts,
       (array_agg(f.id::text) FILTER (WHERE i.id IS NULL))[1:%(most_examples)s] AS examples
FROM entity_facts f TABLESAMPLE SYSTEM (%(percent)s)
LEFT JOIN interactions i ON i.id = f.interaction_id WHERE f.interaction_id IS NOT NULL

-- name: orphans_of_summaries
SELECT count(*) AS checked, count(*) FILTER (WHERE i.id IS NULL) AS orphaned_summaries,
       (array_agg(s.id::text) FILTER (WHERE i.id IS NULL))[1:%(most_examples)s] AS examples
FROM interaction_summaries s TABLESAMPLE SYSTEM (%(percent)s)
LEFT JOIN interactions i ON i.id = s.interaction_id WHERE s.status IN ('completed', 'dirty')

-- name: orphans_of_messages
-- Outside every interaction of a chat that nothing marks as to be cut.
SELECT count(*) AS checked, count(*) FILTER (WHERE o.is_outside) AS orphaned_messages,
       (array_agg(m.id::text) FILTER (WHERE o.is_outside))[1:%(most_examples)s] AS examples
FROM messages m TABLESAMPLE SYSTEM (%(percent)s)
CROSS JOIN LATERAL (
    SELECT interaction_of(m.kind, m.chat_id, m.sent_at) IS NULL AND NOT EXISTS (
        SELECT FROM dirty_partitions d WHERE d.asset = 'interactions' AND d.partition_key = m.chat_id::text) AS is_outside
) o WHERE m.kind = 'message' AND m.deleted_at IS NULL

-- name: orphans_of_belongings
-- Participants have a foreign key; attributions have none and are checked.
SELECT count(*) AS checked, count(*) FILTER (WHERE i.id IS NULL) AS orphaned_belongings,
       (array_agg(b.message_id::text) FILTER (WHERE i.id IS NULL))[1:%(most_examples)s] AS examples
FROM message_entities b TABLESAMPLE SYSTEM (%(percent)s)
LEFT JOIN interactions i ON i.id = b.interaction_id

-- name: misfiled_days
SELECT count(*) AS checked, count(*) FILTER (WHERE w.is_wrong) AS on_another_day,
       (array_agg(i.id::text) FILTER (WHERE w.is_wrong))[1:%(most_examples)s] AS examples,
       min(i.day) FILTER (WHERE w.is_wrong) AS first_day, max(i.day) FILTER (WHERE w.is_wrong) AS last_day
FROM interactions i TABLESAMPLE SYSTEM (%(percent)s)
CROSS JOIN LATERAL (SELECT i.day <> (i.started_at AT TIME ZONE %(timezone)s)::date AS is_wrong) w

-- name: misfiled_months
-- Archived texts whose interaction is gone or begins in another month.
SELECT count(*) AS checked, count(*) FILTER (WHERE w.is_moved) AS in_another_month,
       count(*) FILTER (WHERE w.is_gone) AS without_interaction,
       (array_agg(DISTINCT a.interaction_id::text) FILTER (WHERE w.is_moved OR w.is_gone))[1:%(most_examples)s] AS examples,
       min(a.month) FILTER (WHERE w.is_moved OR w.is_gone) AS first_day, max(a.month) FILTER (WHERE w.is_moved OR w.is_gone) AS last_day
FROM archived_messages a
LEFT JOIN interactions i ON i.id = a.interaction_id
CROSS JOIN LATERAL (
    SELECT i.id IS NULL AS is_gone, date_trunc('month', i.day::timestamp)::date IS DISTINCT FROM a.month AND i.id IS NOT NULL AS is_moved
) w
WHERE a.month BETWEEN %(first_day)s AND %(last_day)s

-- name: miscounted
-- Profiles whose totals differ from a recount as of the week's end (P22), newest weeks first.
WITH stated AS (
    SELECT p.entity_id, p.week, p.as_of, p.total_interactions, p.total_messages
    FROM entity_relationship_profiles p WHERE p.week BETWEEN %(first_day)s AND %(last_day)s AND p.status = 'completed'
    ORDER BY p.week DESC, p.entity_id LIMIT %(most)s
), judged AS (
    SELECT s.*, (s.total_interactions, s.total_messages) IS DISTINCT FROM (f.interactions, f.messages) AS is_wrong
    FROM stated s CROSS JOIN LATERAL (
        SELECT count(*) AS interactions, coalesce(sum(p.message_count), 0)::bigint AS messages
        FROM interaction_participants p
        JOIN interactions i ON i.id = p.interaction_id
        JOIN eligible_chats c ON c.id = i.chat_id
        WHERE p.entity_id = s.entity_id AND p.role = 'other' AND p.ended_at <= s.as_of
    ) f
)
SELECT count(*) AS checked, count(*) FILTER (WHERE is_wrong) AS miscounted,
       (array_agg(DISTINCT entity_id::text) FILTER (WHERE is_wrong))[1:%(most_examples)s] AS examples,
       min(week) FILTER (WHERE is_wrong) AS first_day, max(week) FILTER (WHERE is_wrong) AS last_day
FROM judged

-- name: unindexed
-- Archived texts are checked when chunks are built, not here.
WITH live AS (
    SELECT m.id, m.external_id, i.day, i.id AS interaction_id
    FROM interactions i
    JOIN eligible_chats c ON c.id = i.chat_id
    JOIN live_messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
    WHERE i.day BETWEEN %(first_day)s AND %(last_day)s AND NOT m.is_archived AND m.content ~ '\S'
    ORDER BY i.day DESC, m.id DESC LIMIT %(most)s
), judged AS (
    SELECT l.*, NOT EXISTS (SELECT FROM memory_chunks k WHERE k.message_ids[1] = l.id AND k.source IN ('message', 'tool_result')) AS is_wrong
    FROM live l
)
SELECT count(*) AS checked, count(*) FILTER (WHERE is_wrong) AS without_chunk,
       (array_agg(DISTINCT interaction_id::text) FILTER (WHERE is_wrong))[1:%(most_examples)s] AS examples,
       min(day) FILTER (WHERE is_wrong) AS first_day, max(day) FILTER (WHERE is_wrong) AS last_day
FROM judged

-- name: orphans_of_chunks
SELECT count(*) AS checked, count(*) FILTER (WHERE w.is_wrong) AS orphaned_chunks,
       (array_agg(k.id::text) FILTER (WHERE w.is_wrong))[1:%(most_examples)s] AS examples
FROM memory_chunks k TABLESAMPLE SYSTEM (%(percent)s)
LEFT JOIN interactions i ON i.id = k.interaction_id
LEFT JOIN messages m ON k.source IN ('message', 'tool_result') AND m.id = k.message_ids[1]
CROSS JOIN LATERAL (
    SELECT i.id IS NULL AND k.interaction_id IS NOT NULL
        OR k.source IN ('message', 'tool_result') AND (m.id IS NULL OR m.deleted_at IS NOT NULL) AS is_wrong
) w

-- name: orphans_of_codes
SELECT count(*) AS checked, count(*) FILTER (WHERE k.no IS NULL) AS orphaned_codes,
       (array_agg(DISTINCT d.chunk_no::text) FILTER (WHERE k.no IS NULL))[1:%(most_examples)s] AS examples
FROM chunk_codes d TABLESAMPLE SYSTEM (%(percent)s)
LEFT JOIN memory_chunks k ON k.no = d.chunk_no

-- name: misfolded
-- Of the last active sessions: overlapping folds, live messages up to the HWM in no fold, folds ending elsewhere than at
-- the HWM, wrong counters. One statement, one snapshot.
WITH looked AS (
    SELECT * FROM conversation_sessions ORDER BY last_message_at DESC NULLS LAST, id LIMIT %(most)s
), folds AS (
    SELECT l.id, f.from_message_id, f.to_message_id, f.message_ids,
           lag(f.to_message_id) OVER (PARTITION BY l.id ORDER BY f.from_message_id, f.to_message_id) AS before
    FROM looked l JOIN standing_folds f ON f.session_id = l.id
    WHERE l.message_count <= %(most_messages)s
), covered AS (
    SELECT id, bool_or(before >= from_message_id) AS is_overlapping, max(to_message_id) AS ends FROM folds GROUP BY id
), counted AS (
    SELECT l.id, count(m.id) AS since, coalesce(sum(m.token_count), 0) AS tokens_since
    FROM looked l LEFT JOIN live_messages m ON m.chat_id = l.id AND m.id > l.hwm_message_id
    GROUP BY l.id
), recounted AS (
    SELECT l.id, count(m.id) AS messages, coalesce(sum(m.token_count), 0) AS tokens,
           coalesce(bool_or(m.id <= l.hwm_message_id AND NOT EXISTS (
               SELECT FROM folds f WHERE f.id = l.id AND m.id BETWEEN f.from_message_id AND f.to_message_id AND m.id = ANY(f.message_ids))), false)
               AS has_uncovered
    FROM looked l LEFT JOIN live_messages m ON m.chat_id = l.id
    WHERE l.message_count <= %(most_messages)s AND l.dirty_folds = 0 GROUP BY l.id
), verdict AS (
    SELECT l.id, coalesce(v.is_overlapping, false) AS is_overlapping, coalesce(r.has_uncovered, false) AS has_uncovered,
           l.message_count <= %(most_messages)s AND l.hwm_message_id <> coalesce(v.ends, 0) AS ends_elsewhere,
           (l.messages_since_hwm, l.tokens_since_hwm) <> (c.since, c.tokens_since)
               OR (l.message_count, l.token_count) <> (coalesce(r.messages, l.message_count), coalesce(r.tokens, l.token_count)) AS is_miscounted
    FROM looked l JOIN counted c ON c.id = l.id LEFT JOIN covered v ON v.id = l.id LEFT JOIN recounted r ON r.id = l.id
)
SELECT count(*) AS checked, count(*) FILTER (WHERE is_overlapping) AS overlapping,
       count(*) FILTER (WHERE has_uncovered) AS with_uncovered_messages, count(*) FILTER (WHERE ends_elsewhere) AS with_another_end,
       count(*) FILTER (WHERE is_miscounted) AS miscounted,
       (array_agg(id::text ORDER BY id) FILTER (WHERE is_overlapping OR has_uncovered OR ends_elsewhere OR is_miscounted))[:%(most_examples)s] AS examples
FROM verdict
