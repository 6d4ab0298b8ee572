-- name: dirty_chats
SELECT partition_key::uuid FROM dirty_partitions WHERE asset = 'interactions' GROUP BY 1 ORDER BY min(id)

-- name: lock_chat
SELECT id, source, external_id, kind, category FROM chats WHERE id = %(chat)s FOR UPDATE

-- name: chat_marks
SELECT array_agg(id), min(from_at), max(to_at) FROM dirty_partitions
WHERE asset = 'interactions' AND partition_key = %(chat)s::text

-- name: members
-- Names an entity goes by: its own and, for Telegram-like sources, none other are known.
SELECT c.entity_id, e.name, e.is_self FROM chat_members c JOIN entities e ON e.id = c.entity_id WHERE c.chat_id = %(chat)s

-- name: mark_mass
-- P34: a group with too many senders is mass, unless a person or the export said otherwise.
UPDATE chats SET category = 'mass', category_source = 'rule'
WHERE id = %(chat)s AND kind IN ('group', 'thread') AND category IS NULL AND category_source = 'export'
  AND (SELECT count(*) FROM chat_members WHERE chat_id = %(chat)s) > %(mass_senders)s
RETURNING id

-- name: stretch
-- From the first to the last moment that what changed can reach: whole interactions next to it within the gap.
SELECT least(%(from_at)s, min(started_at)), greatest(%(to_at)s, max(ended_at)) FROM interactions
WHERE chat_id = %(chat)s AND ended_at >= %(from_at)s::timestamptz - make_interval(secs => %(gap)s)
  AND started_at <= %(to_at)s::timestamptz + make_interval(secs => %(gap)s)

-- name: segment
-- Service entries are kept but are no speech; deleted messages still mark that the talk went on.
SELECT id, external_id, sent_at, sender_entity_id, reply_to, deleted_at IS NOT NULL, content_hash, token_count,
       CASE WHEN %(whole_text)s THEN content ELSE left(content, 400) END
FROM messages
WHERE chat_id = %(chat)s AND sent_at BETWEEN %(from_at)s AND %(to_at)s AND kind = 'message'
ORDER BY sent_at, length(external_id), external_id COLLATE "C"

-- name: create_planned
CREATE TEMP TABLE IF NOT EXISTS planned (id uuid PRIMARY KEY, started_at timestamptz NOT NULL, ended_at timestamptz NOT NULL)
ON COMMIT DELETE ROWS

-- name: insert_planned
INSERT INTO planned SELECT * FROM unnest(%(id)s::uuid[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[])

-- name: upsert_interactions
-- Returns the days whose eligible interactions are new or say something else now, with the moment they are due.
WITH given AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(day)s::date[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[],
        %(status)s::text[], %(message_count)s::int[], %(token_count)s::bigint[], %(language)s::text[],
        %(first_external_id)s::text[], %(input_hash)s::text[])
        AS g (id, day, started_at, ended_at, status, message_count, token_count, language, first_external_id, input_hash)
), before AS (
    SELECT i.id, i.day FROM interactions i JOIN given g USING (id) WHERE i.day <> g.day
), saved AS (
    INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
                              first_external_id, input_hash)
    SELECT id, %(chat)s, day, started_at, ended_at, status, message_count, token_count, language, first_external_id, input_hash
    FROM given
    ON CONFLICT (id) DO UPDATE SET
        day = excluded.day, started_at = excluded.started_at, ended_at = excluded.ended_at, status = excluded.status,
        message_count = excluded.message_count, token_count = excluded.token_count, language = excluded.language,
        input_hash = excluded.input_hash
    WHERE (interactions.day, interactions.started_at, interactions.ended_at, interactions.status, interactions.message_count,
           interactions.token_count, interactions.language, interactions.input_hash)
       IS DISTINCT FROM
          (excluded.day, excluded.started_at, excluded.ended_at, excluded.status, excluded.message_count,
           excluded.token_count, excluded.language, excluded.input_hash)
    RETURNING id, day, ended_at, message_count
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, due_at)
    SELECT 'interaction_summaries', to_char(day, 'YYYY-MM-DD'), 'interactions changed', min(due_at)
    FROM (
        SELECT day, ended_at + make_interval(secs => %(due_after)s) AS due_at FROM saved
        WHERE message_count >= %(minimum)s AND %(is_eligible)s
        UNION ALL
        SELECT before.day, '-infinity' FROM before
    ) days GROUP BY day
)
SELECT count(*) FROM saved

-- name: delete_participants
DELETE FROM interaction_participants p
USING unnest(%(interaction)s::uuid[]) AS given (id)
WHERE p.interaction_id = given.id
  AND NOT EXISTS (SELECT FROM unnest(%(pair_interaction)s::uuid[], %(pair_entity)s::uuid[]) AS k (i, e)
                  WHERE k.i = p.interaction_id AND k.e = p.entity_id)

-- name: upsert_participants
-- Also marks the entities whose running totals have to be made again, from the first day that changed.
WITH given AS (
    SELECT * FROM unnest(%(interaction_id)s::uuid[], %(entity_id)s::uuid[], %(role)s::text[], %(message_count)s::int[],
        %(token_count)s::bigint[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[])
        AS g (interaction_id, entity_id, role, message_count, token_count, started_at, ended_at)
), saved AS (
    INSERT INTO interaction_participants AS p
    SELECT * FROM given
    ON CONFLICT (interaction_id, entity_id) DO UPDATE SET
        role = excluded.role, message_count = excluded.message_count, token_count = excluded.token_count,
        started_at = excluded.started_at, ended_at = excluded.ended_at
    WHERE (p.role, p.message_count, p.token_count, p.started_at, p.ended_at)
       IS DISTINCT FROM (excluded.role, excluded.message_count, excluded.token_count, excluded.started_at, excluded.ended_at)
    RETURNING entity_id, started_at
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
SELECT 'entity_days', entity_id::text, 'interactions changed', least(min(started_at), %(from_at)s) FROM saved GROUP BY entity_id

-- name: delete_belongings
DELETE FROM message_entities m
USING unnest(%(interaction)s::uuid[]) AS given (id) WHERE m.interaction_id = given.id
  AND NOT EXISTS (SELECT FROM unnest(%(pair_entity)s::uuid[], %(pair_message)s::bigint[]) AS k (e, i)
                  WHERE k.e = m.entity_id AND k.i = m.message_id)

-- name: upsert_belongings
INSERT INTO message_entities (entity_id, message_id, interaction_id, sent_at)
SELECT * FROM unnest(%(entity_id)s::uuid[], %(message_id)s::bigint[], %(interaction_id)s::uuid[], %(sent_at)s::timestamptz[])
ON CONFLICT (entity_id, message_id) DO UPDATE SET interaction_id = excluded.interaction_id, sent_at = excluded.sent_at
WHERE (message_entities.interaction_id, message_entities.sent_at) IS DISTINCT FROM (excluded.interaction_id, excluded.sent_at)

-- name: assign_messages
UPDATE messages m SET interaction_id = p.id
FROM unnest(%(id)s::uuid[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[]) AS p (id, started_at, ended_at)
WHERE m.chat_id = %(chat)s AND m.sent_at BETWEEN p.started_at AND p.ended_at AND m.kind = 'message'
  AND m.interaction_id IS DISTINCT FROM p.id

-- name: vanished
-- Interactions of the stretch that no longer exist, each with the one that now holds the time in which it began.
SELECT i.id, (SELECT p.id FROM planned p WHERE p.started_at <= i.started_at ORDER BY p.started_at DESC LIMIT 1), i.day
FROM interactions i
WHERE i.chat_id = %(chat)s AND i.started_at BETWEEN %(from_at)s AND %(to_at)s
  AND NOT EXISTS (SELECT FROM planned p WHERE p.id = i.id)

-- name: retire
-- What a joined interaction knew stays served under its heir until the heir has a summary of its own: nothing known is lost.
WITH gone AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(heir)s::uuid[], %(day)s::date[]) AS g (id, heir, day)
), items AS (
    UPDATE summary_items s SET interaction_id = gone.heir FROM gone WHERE s.interaction_id = gone.id AND gone.heir IS NOT NULL
), summaries AS (
    UPDATE interaction_summaries s SET status = 'superseded', updated_at = clock_timestamp()
    FROM gone WHERE s.interaction_id = gone.id AND s.status IN ('completed', 'dirty')
), attempts AS (
    DELETE FROM summary_attempts a USING gone WHERE a.interaction_id = gone.id
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
    SELECT 'entity_days', p.entity_id::text, 'interactions joined', min(p.started_at)
    FROM interaction_participants p JOIN gone ON gone.id = p.interaction_id GROUP BY p.entity_id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'interaction_summaries', to_char(day, 'YYYY-MM-DD'), 'interactions joined' FROM gone GROUP BY day
), unassigned AS (
    UPDATE messages m SET interaction_id = NULL FROM gone WHERE m.chat_id = %(chat)s AND m.interaction_id = gone.id
), belongings AS (
    DELETE FROM message_entities m USING gone WHERE m.interaction_id = gone.id
)
DELETE FROM interactions i USING gone WHERE i.id = gone.id

-- name: drop_marks
DELETE FROM dirty_partitions WHERE id = ANY(%(ids)s)

-- name: complete_silent
UPDATE interactions SET status = 'completed' WHERE status = 'active' AND ended_at < %(before)s

-- name: dirty_entities
SELECT partition_key::uuid, array_agg(id), min(from_at) FROM dirty_partitions WHERE asset = 'entity_days' GROUP BY 1 ORDER BY 1

-- name: lock_entity
SELECT pg_advisory_xact_lock(hashtextextended(%(entity)s::text, 1))

-- name: clear_days
DELETE FROM entity_days WHERE entity_id = %(entity)s AND day >= (%(from_at)s::timestamptz AT TIME ZONE 'UTC')::date

-- name: build_days
INSERT INTO entity_days (entity_id, day, message_count, token_count, messages_total, tokens_total)
SELECT %(entity)s, day, messages, tokens, coalesce(b.messages_total, 0) + sum(messages) OVER w, coalesce(b.tokens_total, 0) + sum(tokens) OVER w
FROM (
    SELECT (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages, sum(token_count) AS tokens
    FROM interaction_participants
    WHERE entity_id = %(entity)s AND started_at >= date_trunc('day', %(from_at)s::timestamptz AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    GROUP BY 1
) d LEFT JOIN LATERAL (
    SELECT messages_total, tokens_total FROM entity_days
    WHERE entity_id = %(entity)s AND day < (%(from_at)s::timestamptz AT TIME ZONE 'UTC')::date ORDER BY day DESC LIMIT 1
) b ON true
WINDOW w AS (ORDER BY day)
