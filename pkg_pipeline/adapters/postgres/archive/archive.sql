-- Lock order: the month (shared to move, exclusive to drop), creation of partitions, chats by id (as imports), the month's
-- row in archive_months. movable: not archived, score below P16 and not listed as important by the summary.

-- name: unattempted
-- Months that begin with interactions old enough and were never processed: one probe of the index over days per month.
WITH RECURSIVE months AS (
    SELECT date_trunc('month', min(day))::date AS month FROM interactions
    UNION ALL
    SELECT (SELECT date_trunc('month', min(i.day))::date FROM interactions i WHERE i.day >= next_month(m.month))
    FROM months m WHERE m.month <= (%(ended_before)s::timestamptz + interval '1 day')::date
)
SELECT m.month FROM months m
CROSS JOIN LATERAL (
    SELECT i.ended_at FROM interactions i
    WHERE i.day >= m.month AND i.day < next_month(m.month)
    ORDER BY i.day, i.ended_at LIMIT 1
) first
WHERE first.ended_at < %(ended_before)s AND NOT EXISTS (
    SELECT FROM partition_states p WHERE p.asset = 'archived_messages' AND p.partition_key = month_key(m.month))
ORDER BY m.month

-- name: ready
SELECT i.id AS interaction_id, i.chat_id, i.message_count FROM archive_ready(%(month)s, %(ended_before)s, %(now)s) i
WHERE EXISTS (
    SELECT FROM messages m
    WHERE m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.kind = 'message'
      AND NOT m.is_archived AND NOT m.is_blanked AND m.importance_score < %(kept_from)s
      AND i.important_messages @> jsonb_build_array(jsonb_build_object('message_id', m.external_id)) IS NOT TRUE)
ORDER BY i.day, i.ended_at, i.id

-- name: lock_month
SELECT pg_advisory_xact_lock_shared(hashtextextended('archive ' || %(month)s::date, 3))

-- name: lock_partitions
SELECT pg_advisory_xact_lock(hashtextextended('archive partitions', 3))

-- name: partition_missing
-- By the catalogue: to_regclass may return a cached answer from before the lock.
SELECT NOT EXISTS (
    SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'archived_messages'::regclass AND c.relname = %(partition)s)

-- name: partition_made
-- Created outside and then attached: creating it as a partition would block every read of the archive.
SELECT format('CREATE TABLE %%1$I (LIKE archived_messages INCLUDING ALL)', %(partition)s::text)

-- name: partition_attached
SELECT format('ALTER TABLE archived_messages ATTACH PARTITION %%1$I FOR VALUES FROM (%%2$L) TO (%%3$L)',
              %(partition)s::text, %(month)s::date, next_month(%(month)s))

-- name: lock_chats
SELECT id FROM chats WHERE id = ANY(%(chats)s) ORDER BY id FOR NO KEY UPDATE

-- name: copy
-- Checked again under the lock, as texts may have changed since the batch was chosen. Returns the numbers of copied
-- messages and of those kept as important.
WITH said AS MATERIALIZED (
    SELECT m.id, m.chat_id, i.id AS interaction_id, m.external_id, m.sent_at, m.content, m.content_hash, m.parts,
           m.importance_score < %(kept_from)s
           AND i.important_messages @> jsonb_build_array(jsonb_build_object('message_id', m.external_id)) IS NOT TRUE AS moves
    FROM archive_ready(%(month)s, %(ended_before)s, %(now)s) i
    JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.kind = 'message'
    WHERE i.id = ANY(%(interactions)s) AND NOT m.is_archived AND NOT m.is_blanked
), copied AS (
    INSERT INTO archived_messages AS a
        (month, message_id, chat_id, interaction_id, external_id, sent_at, content, content_hash, parts)
    SELECT %(month)s, id, chat_id, interaction_id, external_id, sent_at, content, content_hash, parts FROM said WHERE moves
    ORDER BY chat_id, sent_at, id
    ON CONFLICT (month, message_id) DO UPDATE SET
        chat_id = excluded.chat_id, interaction_id = excluded.interaction_id, external_id = excluded.external_id,
        sent_at = excluded.sent_at, content = excluded.content, content_hash = excluded.content_hash,
        parts = excluded.parts, archived_at = excluded.archived_at
)
SELECT count(*) FILTER (WHERE moves) AS messages, count(*) FILTER (WHERE NOT moves) AS kept FROM said

-- name: blank
-- The text leaves its row only if the stored copy has the message's hash.
WITH blanked AS (
    UPDATE messages m SET content = %(mark)s, parts = NULL, is_archived = true, archived_at = clock_timestamp(),
        archived_month = a.month
    FROM archived_messages a
    WHERE a.month = %(month)s AND a.interaction_id = ANY(%(interactions)s) AND m.id = a.message_id AND NOT m.is_archived
      AND encode(sha256(convert_to(a.content, 'UTF8')), 'hex') = m.content_hash
      AND a.parts::text IS NOT DISTINCT FROM m.parts::text
    RETURNING a.interaction_id, text_bytes(a.content, a.parts) AS bytes
)
SELECT count(DISTINCT interaction_id) AS interactions, count(*) AS messages, coalesce(sum(bytes), 0)::bigint AS bytes FROM blanked

-- name: drop_unverified
DELETE FROM archived_messages a USING messages m
WHERE a.month = %(month)s AND a.interaction_id = ANY(%(interactions)s) AND m.id = a.message_id AND NOT m.is_archived
RETURNING m.id

-- name: count_moved
-- A dropped month that gets texts again (late exports) starts from zero.
INSERT INTO archive_months AS k (month, state, message_count, content_bytes)
VALUES (%(month)s, 'kept', %(messages)s, %(bytes)s)
ON CONFLICT (month) DO UPDATE SET state = 'kept',
    message_count = CASE WHEN k.state = 'kept' THEN k.message_count ELSE 0 END + excluded.message_count,
    content_bytes = CASE WHEN k.state = 'kept' THEN k.content_bytes ELSE 0 END + excluded.content_bytes

-- name: end_holds
DELETE FROM archive_holds WHERE interaction_id = ANY(%(interactions)s) AND held_until <= %(now)s

-- name: left
-- Interactions of archivable months that are not ready, by reason, and when time alone makes one ready.
SELECT w.month, w.reason, count(*) AS count,
       min(CASE w.reason WHEN 'too young' THEN w.ended_at + make_interval(secs => %(after)s) + interval '1 microsecond'
                         WHEN 'restored' THEN w.held_until END) AS due_at
FROM (
    SELECT g.month, i.ended_at, h.held_until,
           CASE WHEN i.status <> 'completed' OR i.ended_at >= %(ended_before)s THEN 'too young'
                WHEN s.id IS NULL AND NOT f.is_folded AND a.state = 'failed' THEN 'failed'
                WHEN s.id IS NULL AND NOT f.is_folded THEN 'no summary'
                WHEN s.status = 'dirty' OR s.input_hash <> i.input_hash THEN 'dirty'
                WHEN h.held_until > %(now)s THEN 'restored'
                WHEN d.id IS NOT NULL THEN 'chat changed' END AS reason
    FROM unnest(%(months)s::date[]) AS g (month)
    JOIN interactions i ON i.day >= g.month AND i.day < next_month(g.month)
    JOIN eligible_chats c ON c.id = i.chat_id
    LEFT JOIN live_summaries s ON s.interaction_id = i.id
    LEFT JOIN summary_attempts a ON a.interaction_id = i.id
    LEFT JOIN archive_holds h ON h.interaction_id = i.id
    CROSS JOIN LATERAL (SELECT s.id IS NULL AND is_folded(i.chat_id, i.id, i.started_at, i.ended_at) AS is_folded) f
    LEFT JOIN LATERAL (
        SELECT id FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, 0) LIMIT 1
    ) d ON true
    WHERE i.message_count >= %(minimum)s AND i.token_count >= (SELECT least_summarised())
) w WHERE w.reason IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2

-- name: waiting
SELECT partition_key FROM partition_states WHERE asset = 'archived_messages' AND pending > 0 ORDER BY 1

-- name: vacuum
VACUUM messages

-- name: months
SELECT month, state = 'dropped' AS is_dropped, message_count AS messages, content_bytes AS bytes FROM archive_months ORDER BY month

-- name: wait_briefly
SET LOCAL lock_timeout = '3s'

-- name: lock_month_alone
SELECT pg_advisory_xact_lock(hashtextextended('archive ' || %(month)s::date, 3))

-- name: drop_month
-- Revisions of dropped messages are blanked; their rows stay, so that an old export does not restore the texts.
WITH versions AS (
    UPDATE message_revisions r SET content = %(mark)s FROM archived_messages a
    WHERE a.month = %(month)s AND r.message_id = a.message_id
), searched AS (
    -- dropped texts are no longer searched
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(i.day), 'texts dropped' FROM interactions i
    WHERE i.id IN (SELECT interaction_id FROM archived_messages WHERE month = %(month)s) GROUP BY i.day
)
UPDATE archive_months SET state = 'dropped', dropped_at = clock_timestamp() WHERE month = %(month)s RETURNING message_count

-- name: drop_ddl
SELECT format('DROP TABLE IF EXISTS %%I', %(partition)s::text)

-- name: archived_message
SELECT m.id, m.is_archived FROM chats c JOIN messages m ON m.chat_id = c.id
WHERE c.source = %(source)s AND c.external_id = %(chat)s AND m.external_id = %(message)s

-- name: archived_of_interaction
SELECT m.id, coalesce(m.is_archived, false) AS is_archived FROM interactions i
LEFT JOIN messages m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
    AND m.kind = 'message' AND m.is_archived
WHERE i.id = %(interaction)s ORDER BY m.sent_at, m.id

-- name: archived_of_chat
SELECT m.id, coalesce(m.is_archived, false) AS is_archived FROM chats c LEFT JOIN messages m ON m.chat_id = c.id AND m.is_archived
WHERE c.source = %(source)s AND c.external_id = %(chat)s ORDER BY m.sent_at, m.id

-- name: archived_of_month
SELECT a.message_id FROM archived_messages a WHERE a.month = %(month)s ORDER BY a.chat_id, a.sent_at, a.message_id

-- name: lock_chats_of
SELECT id FROM chats WHERE id = ANY(ARRAY(SELECT DISTINCT chat_id FROM messages WHERE id = ANY(%(ids)s)))
ORDER BY id FOR NO KEY UPDATE

-- name: give_back
UPDATE messages m SET content = a.content, parts = a.parts, is_archived = false, archived_at = NULL, archived_month = NULL
FROM archived_messages a
WHERE m.id = ANY(%(ids)s) AND m.is_archived AND a.month = m.archived_month AND a.message_id = m.id
  AND encode(sha256(convert_to(a.content, 'UTF8')), 'hex') = m.content_hash
RETURNING m.id, a.month, a.interaction_id, text_bytes(a.content, a.parts) AS bytes

-- name: remove_copies
SELECT remove_copies(%(month)s, %(id)s)

-- name: deleted
-- Messages deleted at their source by then that still have text, in a row or in the archive.
SELECT id FROM messages
WHERE deleted_at IS NOT NULL AND NOT is_blanked AND deleted_at <= %(before)s ORDER BY deleted_at, id LIMIT %(limit)s

-- name: remove_archived
SELECT remove_copies(array_agg(archived_month), array_agg(id)) FROM messages WHERE id = ANY(%(ids)s) AND is_archived

-- name: blank_deleted
-- The hashes stay: the same text in a later export is recognized and not restored.
WITH blanked AS (
    UPDATE messages m SET content = '', parts = NULL, metadata = NULL, is_blanked = true, is_archived = false, archived_at = NULL,
        archived_month = NULL
    WHERE m.id = ANY(%(ids)s)
    RETURNING m.id
)
UPDATE message_revisions r SET content = '' FROM blanked b WHERE r.message_id = b.id AND r.content <> ''

-- name: hold
-- The months of held interactions become due when the holds end.
WITH held AS (
    INSERT INTO archive_holds AS h (interaction_id, held_until)
    SELECT DISTINCT id, %(held_until)s::timestamptz FROM unnest(%(interactions)s::uuid[]) AS g (id) ORDER BY id
    ON CONFLICT (interaction_id) DO UPDATE SET held_until = greatest(h.held_until, excluded.held_until)
)
INSERT INTO dirty_partitions (asset, partition_key, reason, due_at)
SELECT DISTINCT 'archived_messages', month_key(i.day), 'restored', %(held_until)s::timestamptz
FROM interactions i WHERE i.id = ANY(%(interactions)s)

-- name: still_archived
-- A remaining copy does not have its hash.
SELECT m.id, EXISTS (SELECT FROM archived_messages a WHERE a.month = m.archived_month AND a.message_id = m.id) AS has_copy
FROM messages m WHERE m.id = ANY(%(ids)s) AND m.is_archived ORDER BY m.id

-- name: sizes
SELECT pg_total_relation_size('messages')
     + coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('archived_messages')), 0)::bigint

-- name: limit_waiting
-- For one statement outside of a transaction; a timeout bounds it.
SET lock_timeout = '3s'

-- name: unlimit_waiting
RESET lock_timeout

-- name: compact
VACUUM (FULL, ANALYZE) messages, archived_messages
