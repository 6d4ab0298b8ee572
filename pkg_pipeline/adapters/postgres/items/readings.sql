-- Readings of conversations (B16): which are due, what they are shown, what they said.

-- name: due
-- Completed conversations without a current reading, in the order in which they are read. An unchecked one is compared, and
-- read anew where that is free. Those put off come too: whoever takes part in one waits for it. shown_hash: what the
-- reading that else stands was shown.
SELECT i.id, i.chat_id, c.source, c.external_id, c.kind, i.day, i.started_at, i.ended_at, i.message_count, i.token_count, i.language,
       i.input_hash, coalesce(a.attempts, 0) AS attempts, coalesce(a.deferrals, 0) AS deferrals,
       coalesce(a.retry_at > clock_timestamp(), false) AS is_waiting,
       CASE WHEN r.input_hash = i.input_hash
                 AND NOT is_stale(r.prompt_version, r.model_version, r.schema_version, ARRAY[%(prompt_version)s]::text[], %(model)s, %(schema)s)
            THEN r.shown_hash END AS shown_hash,
       ARRAY(SELECT p.entity_id FROM interaction_participants p
             WHERE p.interaction_id = i.id AND p.role = 'other' ORDER BY p.entity_id) AS people
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN interaction_readings r ON r.interaction_id = i.id
LEFT JOIN reading_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
WHERE i.message_count > 0
  AND is_of_age(i.ended_at, %(now)s, 0, %(gap)s)
  AND (r.interaction_id IS NULL OR r.input_hash <> i.input_hash
       OR (NOT r.is_checked AND (%(stale)s OR (%(is_free)s AND r.model_version = %(model)s)))
       OR (%(stale)s AND is_stale(r.prompt_version, r.model_version, r.schema_version, ARRAY[%(prompt_version)s]::text[], %(model)s, %(schema)s)))
  AND (a.interaction_id IS NULL OR a.state = 'waiting' OR %(stale)s)
  AND (i.ended_at, i.id) > (coalesce(%(after_at)s::timestamptz, '-infinity'), coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000'))
  AND (%(ids)s::uuid[] IS NULL OR i.id = ANY(%(ids)s))
  AND NOT EXISTS (SELECT FROM dirty_partitions d WHERE is_near(d, i.chat_id, i.started_at, i.ended_at, %(gap)s))
ORDER BY i.ended_at, i.id
LIMIT %(limit)s

-- name: waiting
-- What a run would read now, what was put off, and what was given up.
SELECT count(*) FILTER (WHERE a.state IS DISTINCT FROM 'failed') AS talks,
       coalesce(sum(i.message_count) FILTER (WHERE a.state IS DISTINCT FROM 'failed'), 0)::bigint AS messages,
       coalesce(sum(i.token_count) FILTER (WHERE a.state IS DISTINCT FROM 'failed'), 0)::bigint AS message_tokens,
       count(*) FILTER (WHERE a.state = 'waiting' AND a.retry_at > clock_timestamp()) AS put_off,
       count(*) FILTER (WHERE a.state = 'failed') AS failed
FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
LEFT JOIN interaction_readings r ON r.interaction_id = i.id
LEFT JOIN reading_attempts a ON a.interaction_id = i.id AND a.input_hash = i.input_hash
    AND a.prompt_version = %(prompt_version)s AND a.model_version = %(model)s
WHERE i.message_count > 0
  AND is_of_age(i.ended_at, %(now)s, 0, %(gap)s)
  AND (r.interaction_id IS NULL OR r.input_hash <> i.input_hash
       OR (NOT r.is_checked AND (%(stale)s OR (%(is_free)s AND r.model_version = %(model)s)))
       OR (%(stale)s AND is_stale(r.prompt_version, r.model_version, r.schema_version, ARRAY[%(prompt_version)s]::text[], %(model)s, %(schema)s)))

-- name: shown
-- Items of these people, or of nobody in this chat, as they stood before the talk: after all readings with a smaller key,
-- and what a person decided by its end. The ranges are wide; the rule chooses among them. A silent item is none before the
-- reading that keeps it.
WITH near AS (
    SELECT p.item_id FROM item_people p
    WHERE p.entity_id = ANY(%(people)s) AND p.settled_at IS NULL AND p.last_at > %(ended_at)s::timestamptz - %(spoken_within)s::interval
    UNION
    SELECT p.item_id FROM item_people p
    WHERE p.entity_id = ANY(%(people)s) AND p.settled_at > %(ended_at)s::timestamptz - %(settled_within)s::interval
    UNION
    SELECT i.id FROM items i
    WHERE i.chat_id = %(chat)s AND i.last_at > %(ended_at)s::timestamptz - %(spoken_within)s::interval
      AND (i.settled_at IS NULL OR i.settled_at > %(ended_at)s::timestamptz - %(settled_within)s::interval)
      AND NOT EXISTS (SELECT FROM item_people p WHERE p.item_id = i.id)
)
SELECT i.id, i.kind, s.status, s.text, s.owner, i.owner_name, i.owner_entity_id, s.due_date, i.importance, s.at, i.quote,
       (SELECT max(o.at) FROM item_states o WHERE o.item_id = i.id AND o.place <= s.place AND o.event IN ('opened', 'renewed')) AS said_at,
       ARRAY(SELECT p.entity_id FROM item_people p WHERE p.item_id = i.id ORDER BY p.entity_id) AS person_ids,
       coalesce((SELECT string_agg(left(m.content, 600), E'\n' ORDER BY m.sent_at, m.id) FROM unnest(i.message_ids) AS g (external_id)
                 CROSS JOIN LATERAL (  -- one by one: just after an import nobody has counted how many messages a chat has
                     SELECT m.id, m.sent_at, m.content FROM messages m
                     WHERE m.chat_id = i.chat_id AND m.external_id = g.external_id AND m.deleted_at IS NULL LIMIT 1) m), '') AS said
FROM near n
JOIN items i ON i.id = n.item_id AND NOT i.is_withheld
JOIN LATERAL (
    SELECT s.place, s.status, s.text, s.owner, s.due_date, s.at
    FROM item_states s LEFT JOIN interaction_readings r ON r.interaction_id = s.interaction_id
    WHERE s.item_id = i.id AND CASE WHEN s.interaction_id IS NULL THEN s.at <= %(ended_at)s
                                    ELSE (r.ended_at, r.interaction_id) < (%(ended_at)s, %(id)s) END
    ORDER BY s.place DESC LIMIT 1
) s ON s.place >= 0
WHERE i.first_at <= %(ended_at)s
  AND (s.place > 0 OR NOT EXISTS (
      SELECT FROM interaction_readings o WHERE o.interaction_id = i.interaction_id
        AND o.content -> 'silent' @> jsonb_build_array(jsonb_build_object('id', i.id))))

-- name: silent
-- The silent items of a chat that a talk may keep: of readings with a smaller key, as they were read.
SELECT g.id, g.text, g.owner, g.owner_name, g.owner_entity_id, g.due_date, g.at AS said_at, g.quote,
       (SELECT coalesce(string_agg(left(m.content, 600), E'\n' ORDER BY m.sent_at, m.id), '') FROM messages m
        WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NULL) AS said
FROM interactions i JOIN interaction_readings r ON r.interaction_id = i.id
CROSS JOIN LATERAL jsonb_to_recordset(r.content -> 'silent') AS g (id uuid, text text, owner text, owner_name text,
    owner_entity_id uuid, due_date date, at timestamptz, quote text, message_ids text[])
WHERE i.chat_id = %(chat)s AND i.started_at BETWEEN %(ended_at)s::timestamptz - %(silent_within)s::interval AND %(ended_at)s
  AND r.content ? 'silent' AND (r.ended_at, r.interaction_id) < (%(ended_at)s, %(id)s)
  AND NOT EXISTS (SELECT FROM messages m
                  WHERE m.chat_id = i.chat_id AND m.external_id = ANY(g.message_ids) AND m.deleted_at IS NOT NULL)

-- name: interrupted
-- Whether one of these people, or nobody in this chat, has another reading between.
SELECT EXISTS (
    SELECT FROM interaction_participants p JOIN interaction_readings r ON r.interaction_id = p.interaction_id
    WHERE p.entity_id = ANY(%(people)s) AND p.ended_at BETWEEN %(from_at)s AND %(to_at)s AND p.interaction_id <> ALL (%(ids)s::uuid[]))
    OR EXISTS (
    SELECT FROM interaction_readings r JOIN interactions i ON i.id = r.interaction_id
    WHERE i.chat_id = %(chat)s AND i.ended_at BETWEEN %(from_at)s AND %(to_at)s AND i.id <> ALL (%(ids)s::uuid[]))

-- name: save
-- Returns the items that the reading named until now. A conversation that vanished meanwhile gets none.
WITH before AS (
    SELECT item_ids FROM interaction_readings WHERE interaction_id = %(interaction)s
), attempts AS (
    DELETE FROM reading_attempts WHERE interaction_id = %(interaction)s
), saved AS (
    INSERT INTO interaction_readings AS r (interaction_id, ended_at, input_hash, shown_hash, prompt_version, model_version,
        schema_version, content, item_ids, quarantined, cost_usd)
    SELECT i.id, %(ended_at)s, %(input_hash)s, %(shown_hash)s, %(prompt_version)s, %(model)s, %(schema)s, %(content)s, %(item_ids)s,
           %(quarantined)s, %(cost_usd)s
    FROM interactions i WHERE i.id = %(interaction)s
    ON CONFLICT (interaction_id) DO UPDATE SET
        ended_at = excluded.ended_at, input_hash = excluded.input_hash, shown_hash = excluded.shown_hash, is_checked = true,
        prompt_version = excluded.prompt_version, model_version = excluded.model_version, schema_version = excluded.schema_version,
        content = excluded.content, item_ids = excluded.item_ids, quarantined = excluded.quarantined,
        cost_usd = r.cost_usd + excluded.cost_usd, read_at = clock_timestamp(),
        remade_at = CASE WHEN r.content IS DISTINCT FROM excluded.content THEN known_now() ELSE r.remade_at END
)
SELECT item_ids FROM before

-- name: settle_edits
-- P29: what rests on conversations (of these chats, or any) that are read as they stand now is not stale. An edit that came in
-- while one was read is not cut yet.
UPDATE messages m SET awaits_reading = false
FROM interactions i JOIN interaction_readings r ON r.interaction_id = i.id
WHERE m.awaits_reading AND m.kind = 'message' AND m.chat_id = i.chat_id
  AND m.sent_at BETWEEN i.started_at AND i.ended_at AND r.input_hash = i.input_hash
  AND (%(chats)s::uuid[] IS NULL OR m.chat_id = ANY(%(chats)s))
  AND NOT EXISTS (SELECT FROM dirty_partitions d
                  WHERE d.asset = 'interactions' AND d.partition_key = i.chat_id::text
                    AND d.from_at <= i.ended_at AND d.to_at >= i.started_at)

-- name: checked
UPDATE interaction_readings SET is_checked = true WHERE interaction_id = ANY(%(ids)s) AND NOT is_checked

-- name: uncheck_later
-- Items changed from here on: later readings of talks with their people may have been shown something else.
UPDATE interaction_readings r SET is_checked = false
WHERE r.is_checked AND (r.ended_at, r.interaction_id) > (%(ended_at)s, %(id)s)
  AND r.interaction_id IN (
      SELECT p.interaction_id FROM interaction_participants p WHERE p.entity_id = ANY(%(people)s) AND p.ended_at >= %(ended_at)s
      UNION SELECT i.id FROM interactions i WHERE i.chat_id = ANY(%(chats)s) AND i.ended_at >= %(ended_at)s)
RETURNING r.interaction_id

-- name: drop_unwanted
-- Readings of chats that became mass, and of conversations with nothing left to read.
DELETE FROM interaction_readings r USING interactions i
WHERE i.id = r.interaction_id AND (i.message_count = 0 OR NOT EXISTS (SELECT FROM eligible_chats c WHERE c.id = i.chat_id))

-- name: move
-- Conversations that grew or shrank are read and folded at their new place. Returns where they stood, if that was earlier.
WITH moved AS (
    SELECT r.interaction_id, least(r.ended_at, i.ended_at) AS ended_at, i.ended_at AS now, i.chat_id
    FROM interaction_readings r JOIN interactions i ON i.id = r.interaction_id WHERE r.ended_at <> i.ended_at
)
UPDATE interaction_readings r SET ended_at = m.now FROM moved m WHERE r.interaction_id = m.interaction_id
RETURNING r.interaction_id, m.ended_at, r.item_ids, m.chat_id,
    ARRAY(SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = r.interaction_id AND p.role = 'other') AS people

-- name: regrouped
-- Marks of conversations whose messages or participants are others', with the items said there first.
SELECT m.ids, i.id AS interaction_id, i.chat_id, r.content, ARRAY(SELECT t.id FROM items t WHERE t.interaction_id = i.id) AS item_ids
FROM (SELECT partition_key, array_agg(id) AS ids FROM dirty_partitions WHERE asset = 'items' GROUP BY partition_key) m
LEFT JOIN interactions i ON i.id = m.partition_key::uuid
LEFT JOIN interaction_readings r ON r.interaction_id = i.id

-- name: uncheck
-- Whoever takes part is shown to a reading, too: these are read anew where that is free.
UPDATE interaction_readings SET is_checked = false, shown_hash = '' WHERE interaction_id = ANY(%(ids)s)

-- name: drop_marks
DELETE FROM dirty_partitions WHERE id = ANY(%(ids)s)

-- name: orphans
-- Items with a state that no reading says any more.
SELECT DISTINCT s.item_id FROM item_states s
WHERE s.interaction_id IS NOT NULL AND NOT EXISTS (SELECT FROM interaction_readings r WHERE r.interaction_id = s.interaction_id)

-- name: attempt
INSERT INTO reading_attempts AS a (interaction_id, input_hash, prompt_version, model_version, attempts, deferrals, state, retry_at, last_error)
SELECT i.id, g.input_hash, %(prompt_version)s, %(model)s, g.attempts, g.deferrals, g.state,
       clock_timestamp() + make_interval(secs => %(retry_after)s), %(error)s
FROM unnest(%(id)s::uuid[], %(input_hash)s::text[], %(attempts)s::int[], %(deferrals)s::int[], %(state)s::text[])
    AS g (id, input_hash, attempts, deferrals, state)
JOIN interactions i ON i.id = g.id
ON CONFLICT (interaction_id) DO UPDATE SET
    input_hash = excluded.input_hash, prompt_version = excluded.prompt_version, model_version = excluded.model_version,
    attempts = excluded.attempts, deferrals = excluded.deferrals, state = excluded.state, retry_at = excluded.retry_at,
    last_error = excluded.last_error, updated_at = clock_timestamp()

-- name: revive
-- What was given up under another prompt or model is tried again.
DELETE FROM reading_attempts WHERE state = 'failed' AND (prompt_version, model_version) <> (%(prompt_version)s, %(model)s)
