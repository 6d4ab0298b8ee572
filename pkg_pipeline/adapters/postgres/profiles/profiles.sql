-- Relationship profiles (P20-P23): due persons, inputs, rows, due weeks. Per person one index range over interactions or
-- items; mass chats do not count.

-- name: persons
-- P20, as of the week: persons met before known_before with a summary; untried first, then those without a profile, then by
-- last contact.
SELECT e.id AS entity_id, e.name, e.is_self, e.type, o.name AS organization
FROM entities e
LEFT JOIN organizations o ON o.id = e.organization_id
LEFT JOIN profile_attempts a ON a.entity_id = e.id AND a.week = %(week)s
CROSS JOIN LATERAL (
    SELECT p.started_at FROM interaction_participants p
    JOIN interactions i ON i.id = p.interaction_id
    JOIN eligible_chats c ON c.id = i.chat_id
    WHERE p.entity_id = e.id AND p.role = 'other' ORDER BY p.started_at LIMIT 1
) first
CROSS JOIN LATERAL (
    SELECT p.ended_at FROM interaction_participants p
    WHERE p.entity_id = e.id AND p.role = 'other' AND p.ended_at <= %(ends_at)s ORDER BY p.ended_at DESC LIMIT 1
) last
WHERE e.type = 'person' AND NOT e.is_self AND first.started_at < %(known_before)s
  AND EXISTS (
      SELECT FROM interaction_participants p
      JOIN live_summaries s ON s.interaction_id = p.interaction_id
          AND s.dirty_reason IS DISTINCT FROM 'deleted'
      WHERE p.entity_id = e.id AND p.role = 'other' AND p.ended_at <= %(covers_until)s)
ORDER BY coalesce(a.attempts, 0),
         EXISTS (SELECT FROM entity_relationship_profiles r WHERE r.entity_id = e.id AND r.week <= %(week)s),
         last.ended_at DESC, e.id

-- name: snapshot
-- All inputs of a profile are from one snapshot.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: talks
-- P22: interactions up to the week's end, newest first, with their summary unless it rests on a deleted message (P29). Key
-- points as text, which is five times faster to read.
SELECT p.interaction_id, i.day, p.started_at, p.ended_at, p.message_count, i.language, s.id, s.summary_token_count,
       s.key_points::text, s.status = 'dirty'
FROM interaction_participants p
JOIN interactions i ON i.id = p.interaction_id
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN live_summaries s ON s.interaction_id = p.interaction_id AND s.dirty_reason IS DISTINCT FROM 'deleted'
    AND p.ended_at <= %(covers_until)s
WHERE p.entity_id = %(entity)s AND p.role = 'other' AND p.ended_at <= %(ends_at)s
ORDER BY p.ended_at DESC, p.interaction_id

-- name: said
-- B19: the newest words of both in dialogs, and how they began, wherever they are kept.
WITH told AS NOT MATERIALIZED (
    SELECT m.id, m.content, m.is_outgoing, m.sent_at
    FROM (SELECT DISTINCT c.id FROM chat_members w JOIN eligible_chats c ON c.id = w.chat_id AND c.kind = 'direct'
          WHERE w.entity_id = ANY(accounts_of(%(entity)s)) ORDER BY c.id LIMIT 20) AS d
    JOIN live_texts m ON m.chat_id = d.id AND m.sent_at <= %(until)s
), heard AS (
    (SELECT * FROM told ORDER BY sent_at DESC, id DESC LIMIT %(limit)s) UNION
    (SELECT * FROM told ORDER BY sent_at, id LIMIT %(beginning)s)
)
SELECT left(content, %(chars)s) AS text, is_outgoing AS is_self, sent_at AS at FROM heard ORDER BY sent_at DESC, id DESC

-- name: overheard
-- B19: the newest words in groups in common, where there is no dialog; is_self: anybody else's.
SELECT left(m.content, %(chars)s) AS text, m.sender_entity_id IS DISTINCT FROM %(entity)s AS is_self, m.sent_at AS at
FROM (SELECT DISTINCT c.id FROM chat_members w JOIN eligible_chats c ON c.id = w.chat_id AND c.kind <> 'direct'
      WHERE w.entity_id = ANY(accounts_of(%(entity)s)) ORDER BY c.id LIMIT 10) AS g
CROSS JOIN LATERAL (
    SELECT id, content, sender_entity_id, sent_at FROM live_texts
    WHERE chat_id = g.id AND sent_at <= %(until)s ORDER BY sent_at DESC, id DESC LIMIT %(limit)s
) m
ORDER BY m.sent_at DESC, m.id DESC LIMIT %(limit)s

-- name: groups
-- B19: titles of groups in common.
SELECT t.title FROM (SELECT DISTINCT chat_id FROM chat_members WHERE entity_id = ANY(accounts_of(%(entity)s))) w
JOIN eligible_chats c ON c.id = w.chat_id AND c.kind <> 'direct'
JOIN chats t ON t.id = c.id AND t.title IS NOT NULL
ORDER BY t.title LIMIT 10

-- name: last_meaningful
-- P22: the last interaction by then with a decision or a still open item of the person, or enough messages of both sides; scanned
-- from the newest. Where nobody is me, everybody else is the other side.
SELECT greatest(
    (SELECT p.ended_at FROM interaction_participants p
     JOIN interactions i ON i.id = p.interaction_id AND i.message_count >= 2 * %(each)s
     JOIN eligible_chats c ON c.id = i.chat_id
     WHERE p.entity_id = %(entity)s AND p.role = 'other' AND p.ended_at <= %(until)s
       AND (SELECT count(*) FILTER (WHERE m.sender_entity_id = p.entity_id) >= %(each)s
                   AND count(*) FILTER (WHERE m.is_outgoing OR (NOT %(knows_me)s AND m.sender_entity_id <> p.entity_id)) >= %(each)s
            FROM live_messages m
            WHERE m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at)
     ORDER BY p.ended_at DESC LIMIT 1),
    (SELECT max(t.ended_at) FROM item_people w
     JOIN items i ON i.id = w.item_id AND NOT i.is_withheld
     JOIN interactions t ON t.id = i.interaction_id AND t.ended_at <= %(until)s
     CROSS JOIN LATERAL (
         SELECT status, due_date, at FROM item_states
         WHERE item_id = i.id AND at <= %(ends_at)s AND NOT is_withheld ORDER BY at DESC, place DESC LIMIT 1
     ) s
     WHERE w.entity_id = %(entity)s
       AND (w.kind = 'decision' OR item_status(w.kind, s.status, s.due_date, s.at, %(ends_at)s, %(last_day)s) = 'open'))
)

-- name: decisions
-- B17: in force at the week's end; what rests on a deleted message is left out (P29).
SELECT i.id, i.interaction_id, (i.first_at AT TIME ZONE %(timezone)s)::date AS decided_on, s.text AS description,
       i.importance = 'high' AS is_high
FROM item_people w
JOIN items i ON i.id = w.item_id AND NOT i.is_withheld
CROSS JOIN LATERAL (
    SELECT status, text FROM item_states
    WHERE item_id = i.id AND at <= %(ends_at)s AND NOT is_withheld ORDER BY at DESC, place DESC LIMIT 1
) s
WHERE w.entity_id = %(entity)s AND w.kind = 'decision' AND w.first_at <= %(ends_at)s AND s.status = 'open'
ORDER BY decided_on DESC, i.id

-- name: open_items
-- B16: surely open at the week's end, even if settled later: neither perhaps done nor lapsed.
SELECT i.id, i.interaction_id, (i.first_at AT TIME ZONE %(timezone)s)::date AS since, s.text AS description, s.owner, s.due_date
FROM item_people w
JOIN items i ON i.id = w.item_id AND NOT i.is_withheld
CROSS JOIN LATERAL (
    SELECT at, status, text, owner, due_date FROM item_states
    WHERE item_id = i.id AND at <= %(ends_at)s AND NOT is_withheld ORDER BY at DESC, place DESC LIMIT 1
) s
WHERE w.entity_id = %(entity)s AND w.kind = 'action_item' AND w.first_at <= %(ends_at)s
  AND item_status(w.kind, s.status, s.due_date, s.at, %(ends_at)s, %(last_day)s) = 'open'
ORDER BY s.due_date NULLS LAST, i.last_at DESC, i.id

-- name: lock_alone
-- Serializes starting runs and saved rows with transactions that delete, edit or publish: each sees the other's changes. A
-- separate statement, so that the next one sees them.
SELECT pg_advisory_xact_lock(7310527)

-- name: lock_shared
SELECT pg_advisory_xact_lock_shared(7310527)

-- name: rests_on_deleted
-- Whether a message that the row rests on was deleted since it was read (P29).
SELECT EXISTS (SELECT FROM interaction_summaries WHERE id = ANY(%(based_on)s) AND dirty_reason = 'deleted')
    OR EXISTS (SELECT FROM items WHERE id = ANY(%(items)s) AND is_withheld)
    OR EXISTS (SELECT FROM item_states WHERE item_id = ANY(%(items)s) AND is_withheld)

-- name: save
-- Upserts the week's row; unchanged ones (cost and time aside) are not written.
INSERT INTO entity_relationship_profiles AS p (entity_id, week, id, as_of, covers_until, status, dirty_reason, input_hash,
    prompt_version, model_version, schema_version, language, relationship_type, frequency, mean_gap_days, summary, timeline,
    first_interaction_at, last_interaction_at, last_meaningful_contact_at, total_interactions, total_messages,
    summarized_interactions, coverage, top_topics, milestones, key_decisions, open_action_items, quarantined, is_carried_over,
    source_token_count, summary_token_count, cost_usd, generation_seconds)
VALUES (%(entity)s, %(week)s, %(id)s, %(as_of)s, %(covers_until)s, %(status)s, %(dirty_reason)s, %(input_hash)s,
    %(prompt_version)s, %(model)s, %(schema_version)s, %(language)s, %(relationship_type)s, %(frequency)s, %(mean_gap_days)s,
    %(summary)s, %(timeline)s, %(first_at)s, %(last_at)s, %(meaningful_at)s, %(interactions)s, %(messages)s, %(summarized)s,
    %(coverage)s, %(topics)s, %(milestones)s, %(decisions)s, %(open_items)s, %(quarantined)s, %(is_carried_over)s,
    %(source_tokens)s, %(summary_tokens)s, %(cost_usd)s, %(seconds)s)
ON CONFLICT (entity_id, week) DO UPDATE SET
    as_of = excluded.as_of, covers_until = excluded.covers_until, status = excluded.status, dirty_reason = excluded.dirty_reason,
    input_hash = excluded.input_hash, prompt_version = excluded.prompt_version, model_version = excluded.model_version,
    schema_version = excluded.schema_version, language = excluded.language, relationship_type = excluded.relationship_type,
    frequency = excluded.frequency, mean_gap_days = excluded.mean_gap_days, summary = excluded.summary, timeline = excluded.timeline,
    first_interaction_at = excluded.first_interaction_at, last_interaction_at = excluded.last_interaction_at,
    last_meaningful_contact_at = excluded.last_meaningful_contact_at, total_interactions = excluded.total_interactions,
    total_messages = excluded.total_messages, summarized_interactions = excluded.summarized_interactions,
    coverage = excluded.coverage, top_topics = excluded.top_topics, milestones = excluded.milestones,
    key_decisions = excluded.key_decisions, open_action_items = excluded.open_action_items, quarantined = excluded.quarantined,
    is_carried_over = excluded.is_carried_over, source_token_count = excluded.source_token_count,
    summary_token_count = excluded.summary_token_count, cost_usd = excluded.cost_usd,
    generation_seconds = excluded.generation_seconds, generated_at = clock_timestamp(),
    remade_at = CASE WHEN (p.relationship_type, p.summary, p.milestones) IS DISTINCT FROM
                          (excluded.relationship_type, excluded.summary, excluded.milestones) THEN known_now() ELSE p.remade_at END
WHERE (p.as_of, p.covers_until, p.status, p.dirty_reason, p.input_hash, p.prompt_version, p.model_version, p.schema_version,
       p.language, p.relationship_type, p.frequency, p.mean_gap_days, p.summary, p.timeline, p.first_interaction_at,
       p.last_interaction_at, p.last_meaningful_contact_at, p.total_interactions, p.total_messages, p.summarized_interactions,
       p.coverage, p.top_topics, p.milestones, p.key_decisions, p.open_action_items, p.quarantined, p.source_token_count,
       p.summary_token_count)
   IS DISTINCT FROM
      (excluded.as_of, excluded.covers_until, excluded.status, excluded.dirty_reason, excluded.input_hash, excluded.prompt_version,
       excluded.model_version, excluded.schema_version, excluded.language, excluded.relationship_type, excluded.frequency,
       excluded.mean_gap_days, excluded.summary, excluded.timeline, excluded.first_interaction_at, excluded.last_interaction_at,
       excluded.last_meaningful_contact_at, excluded.total_interactions, excluded.total_messages, excluded.summarized_interactions,
       excluded.coverage, excluded.top_topics, excluded.milestones, excluded.key_decisions, excluded.open_action_items,
       excluded.quarantined, excluded.source_token_count, excluded.summary_token_count)
RETURNING entity_id

-- name: forget_attempt
DELETE FROM profile_attempts WHERE entity_id = %(entity)s AND week = %(week)s

-- name: record_attempt
INSERT INTO profile_attempts (entity_id, week, input_hash, prompt_version, model_version, attempts, deferrals, state, retry_at, last_error)
VALUES (%(entity)s, %(week)s, %(input_hash)s, %(prompt_version)s, %(model)s, %(attempts)s, %(deferrals)s, %(state)s,
        clock_timestamp() + make_interval(secs => %(retry_after)s), %(error)s)
ON CONFLICT (entity_id, week) DO UPDATE SET
    input_hash = excluded.input_hash, prompt_version = excluded.prompt_version, model_version = excluded.model_version,
    attempts = excluded.attempts, deferrals = excluded.deferrals, state = excluded.state, retry_at = excluded.retry_at,
    last_error = excluded.last_error, updated_at = clock_timestamp()

-- name: revive
-- Rows given up under another prompt or model are reset, and their week is due. Idempotent.
WITH again AS (
    DELETE FROM profile_attempts
    WHERE state = 'failed' AND (prompt_version, model_version) <> (%(prompt_version)s, %(model)s) RETURNING week
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'entity_relationship_profiles', to_char(week, 'YYYY-MM-DD'), 'prompt or model changed' FROM again GROUP BY week
)
SELECT count(*) FROM again

-- name: begin
-- Takes over the week's marks, so that later changes add new ones; a week never attempted gets a mark, so that it is the
-- newest week. Returns whether it was attempted.
WITH taken AS (
    UPDATE dirty_partitions SET reason = 'in work'
    WHERE asset = 'entity_relationship_profiles' AND partition_key = %(key)s AND reason <> 'in work'
), begun AS (
    SELECT EXISTS (SELECT FROM partition_states
                   WHERE asset = 'entity_relationship_profiles' AND partition_key = %(key)s) AS is_attempted
), opened AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'entity_relationship_profiles', %(key)s, 'in work' FROM begun
    WHERE NOT is_attempted AND NOT EXISTS (
        SELECT FROM dirty_partitions WHERE asset = 'entity_relationship_profiles' AND partition_key = %(key)s)
)
SELECT is_attempted FROM begun

-- name: is_attempted
SELECT EXISTS (SELECT FROM partition_states WHERE asset = 'entity_relationship_profiles' AND partition_key = %(key)s)

-- name: resume_at
SELECT min(greatest(clock_timestamp(), a.retry_at, l.expires_at))
FROM unnest(%(profiles)s::uuid[], %(entities)s::uuid[]) AS g (id, entity)
LEFT JOIN profile_attempts a ON a.entity_id = g.entity AND a.week = %(week)s AND a.state = 'waiting'
LEFT JOIN leases l ON l.kind = 'profile' AND l.subject_id = g.id

-- name: mark_newest
-- After summaries or items changed: the newest started week is due again if it covers one of their interactions; one mark is enough.
WITH newest AS (
    SELECT greatest(
        (SELECT max(partition_key) FROM partition_states WHERE asset = 'entity_relationship_profiles'),
        (SELECT max(partition_key) FROM dirty_partitions WHERE asset = 'entity_relationship_profiles')) AS key
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'entity_relationship_profiles', n.key, %(reason)s
FROM newest n
WHERE EXISTS (
    SELECT FROM interactions i
    WHERE i.id = ANY(%(interactions)s::uuid[]) AND i.ended_at <= coalesce(
        (SELECT CASE WHEN %(of_items)s THEN r.as_of ELSE r.covers_until END FROM entity_relationship_profiles r
         WHERE r.week = n.key::date LIMIT 1), n.key::date::timestamptz)
) AND NOT EXISTS (
    SELECT FROM dirty_partitions d
    WHERE d.asset = 'entity_relationship_profiles' AND d.partition_key = n.key AND d.reason <> 'in work')

-- name: dirty_changed
-- P29: profiles over interactions with edited or deleted messages become dirty, in every week, in a fixed order for
-- concurrent imports. Returns the interactions and whether something was deleted; readers withhold what rests on it.
WITH touched AS (
    SELECT interaction_id, bool_or(is_deleted) AS is_deleted FROM (
        SELECT interaction_id, is_deleted FROM changed WHERE is_changed AND is_other_text AND interaction_id IS NOT NULL
        UNION ALL
        -- a deleted message may have been in another interaction when that was summarised
        SELECT s.interaction_id, true
        FROM (SELECT DISTINCT chat_id FROM changed WHERE is_newly_deleted) g
        JOIN interactions i ON i.chat_id = g.chat_id
        JOIN interaction_summaries s ON s.interaction_id = i.id AND s.status = 'dirty' AND s.dirty_reason = 'deleted'
        CROSS JOIN LATERAL unnest(s.message_ids) AS k (external_id)
        JOIN changed c ON c.chat_id = g.chat_id AND c.external_id = k.external_id AND c.is_newly_deleted
    ) resting GROUP BY interaction_id
), covering AS (
    SELECT r.entity_id, r.week, t.is_deleted FROM touched t
    JOIN interaction_participants p ON p.interaction_id = t.interaction_id
    JOIN entity_relationship_profiles r ON r.entity_id = p.entity_id AND r.covers_until >= p.ended_at
    ORDER BY r.entity_id, r.week FOR NO KEY UPDATE OF r
), wanted AS (
    SELECT entity_id, week, bool_or(is_deleted) AS is_deleted FROM covering GROUP BY entity_id, week
), dirty AS (
    UPDATE entity_relationship_profiles r SET status = 'dirty',
        dirty_reason = CASE WHEN w.is_deleted OR r.dirty_reason = 'deleted' THEN 'deleted' ELSE 'edited' END
    FROM wanted w WHERE r.entity_id = w.entity_id AND r.week = w.week
)
SELECT interaction_id, is_deleted FROM touched
