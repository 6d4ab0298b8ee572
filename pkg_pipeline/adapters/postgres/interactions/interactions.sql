-- name: dirty_chats
-- Among those given, or all; oldest mark first.
SELECT partition_key::uuid AS chat_id FROM dirty_partitions
WHERE asset = 'interactions' AND (%(chats)s::uuid[] IS NULL OR partition_key = ANY(%(chats)s::uuid[]::text[]))
GROUP BY 1 ORDER BY min(id) LIMIT %(limit)s

-- name: chats_at_once
-- How many of the chats fit one transaction by their messages; at least one.
SELECT greatest(1, coalesce(min(place) FILTER (WHERE so_far > %(messages)s) - 1, count(*))) AS chats FROM (
    SELECT g.place, sum(m.messages) OVER (ORDER BY g.place) AS so_far
    FROM unnest(%(chats)s::uuid[]) WITH ORDINALITY AS g (chat_id, place)
    CROSS JOIN LATERAL (
        SELECT min(from_at) AS from_at, max(to_at) AS to_at FROM dirty_partitions
        WHERE asset = 'interactions' AND partition_key = g.chat_id::text
    ) d
    CROSS JOIN LATERAL (
        SELECT count(*) AS messages FROM (
            SELECT FROM messages WHERE chat_id = g.chat_id AND sent_at BETWEEN d.from_at AND d.to_at LIMIT %(messages)s + 1
        ) reached
    ) m
) sized

-- name: lock_chats
SELECT id, source, external_id, kind, category FROM chats WHERE id = ANY(%(chats)s) ORDER BY id FOR NO KEY UPDATE

-- name: lock_free_chats
-- Those not locked by others.
SELECT id, source, external_id, kind, category FROM chats WHERE id = ANY(%(chats)s) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED

-- name: lost_chats
-- Marked, but deleted.
SELECT given.id FROM unnest(%(chats)s::uuid[]) AS given (id) WHERE NOT EXISTS (SELECT FROM chats c WHERE c.id = given.id)

-- name: chat_marks
SELECT partition_key::uuid AS chat_id, array_agg(id) AS ids, min(from_at) AS from_at, max(to_at) AS to_at
FROM dirty_partitions WHERE asset = 'interactions' AND partition_key = ANY(%(chats)s::uuid[]::text[]) GROUP BY 1

-- name: members
-- People, whichever of their accounts wrote, by all their names.
SELECT c.chat_id, p.id AS entity_id, names_of(p.id) AS names, p.is_self
FROM (SELECT DISTINCT chat_id, person_of(entity_id) AS person FROM chat_members WHERE chat_id = ANY(%(chats)s)) c
JOIN entities p ON p.id = c.person

-- name: mark_mass
-- P34: a group with too many senders is mass, unless a person or the export says otherwise.
WITH changed AS (
    UPDATE chats SET category = 'mass', category_source = 'rule'
    WHERE id = ANY(%(chats)s) AND kind IN ('group', 'thread') AND category IS NULL AND category_source = 'export'
      AND (SELECT count(*) FROM chat_members WHERE chat_id = chats.id) > %(mass_senders)s
    RETURNING id
), untold AS (
    UPDATE live_summaries s SET status = 'superseded', updated_at = clock_timestamp()
    FROM interactions i JOIN changed ON changed.id = i.chat_id WHERE s.interaction_id = i.id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'chat became mass'
    FROM interactions i JOIN changed ON changed.id = i.chat_id GROUP BY day
)
SELECT id FROM changed

-- name: stretches
-- The range that a change can affect, extended to whole adjacent interactions within the gap. continued: the one interaction
-- that it can affect, where all of the change stands behind it and within the gap, so that it goes on.
SELECT g.chat_id, g.from_at AS changed_from, least(g.from_at, i.started_at) AS from_at, greatest(g.to_at, i.ended_at) AS to_at,
       CASE WHEN cardinality(i.ids) = 1 AND i.ended_at < g.from_at AND g.to_at <= i.ended_at + make_interval(secs => %(gap)s)
            THEN i.ids[1] END AS continued
FROM unnest(%(chat)s::uuid[], %(from_at)s::timestamptz[], %(to_at)s::timestamptz[]) AS g (chat_id, from_at, to_at)
CROSS JOIN LATERAL (
    SELECT min(started_at) AS started_at, max(ended_at) AS ended_at, array_agg(id) AS ids FROM interactions
    WHERE chat_id = g.chat_id AND ended_at >= g.from_at - make_interval(secs => %(gap)s)
      AND started_at <= g.to_at + make_interval(secs => %(gap)s)
) i

-- name: continued
-- Interactions that go on, as they were built, with the hash of all their messages up to to_at (memory/hashing.py), the
-- texts that tell their language where not enough have told it, and where the messages begin that decide to whom the new
-- ones and their neighbours belong. Not those in which something answers a message that came only now.
SELECT i.id, i.day, i.started_at, i.ended_at, i.message_count, i.token_count, i.important_count, i.language, i.first_external_id,
       h.input_hash, p.entities, p.counts, p.tokens, CASE WHEN cardinality(i.language_shares) = %(languages)s THEN i.language_shares END AS language_shares,
       CASE WHEN i.message_count < %(telling)s AND cardinality(i.language_shares) IS DISTINCT FROM %(languages)s THEN ARRAY(
           SELECT CASE WHEN g.is_group THEN t.content ELSE left(t.content, 400) END FROM live_texts t
           WHERE t.chat_id = i.chat_id AND t.sent_at BETWEEN i.started_at AND i.ended_at) ELSE '{}' END AS texts,
       CASE WHEN g.is_group THEN coalesce((
           SELECT min(sent_at) FROM (
               SELECT sent_at FROM live_messages
               WHERE chat_id = i.chat_id AND sent_at BETWEEN i.started_at AND i.ended_at
               ORDER BY sent_at DESC LIMIT %(context)s
           ) last), g.from_at) ELSE g.from_at END AS read_from
FROM unnest(%(ids)s::uuid[], %(from_at)s::timestamptz[], %(to_at)s::timestamptz[], %(is_group)s::boolean[]) AS g (id, from_at, to_at, is_group)
JOIN interactions i ON i.id = g.id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(entity_id), '{}') AS entities, coalesce(array_agg(message_count), '{}') AS counts,
           coalesce(array_agg(token_count), '{}') AS tokens
    FROM interaction_participants WHERE interaction_id = i.id
) p
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(external_id) FILTER (WHERE g.is_group), '{}') AS keys FROM messages
    WHERE chat_id = i.chat_id AND sent_at BETWEEN g.from_at AND g.to_at
) n
CROSS JOIN LATERAL (
    SELECT encode(sha256(convert_to(string_agg('7:message' || octet_length(external_id) || ':' || external_id
                                               || octet_length(content_hash) || ':' || content_hash, ''), 'UTF8')), 'hex') AS input_hash,
           bool_or(reply_to = ANY(n.keys) AND sent_at < g.from_at) AS is_answered
    FROM (
        SELECT external_id, content_hash, reply_to, sent_at FROM live_messages
        WHERE chat_id = i.chat_id AND sent_at BETWEEN i.started_at AND g.to_at
        ORDER BY sent_at, length(external_id), external_id COLLATE "C"
    ) said
) h
WHERE h.is_answered IS NOT TRUE AND h.input_hash IS NOT NULL

-- name: segments
-- Chats in the order given. Service entries are no speech; deleted messages still separate or join interactions. Group
-- messages have their full text (searched for names) and the sender and time of the message they reply to.
SELECT g.place, m.id, m.external_id, m.sent_at, m.sender_entity_id, m.is_deleted, m.content_hash, m.token_count,
       m.is_important, m.content, m.answers, m.answered_at
FROM unnest(%(chat)s::uuid[], %(from_at)s::timestamptz[], %(to_at)s::timestamptz[], %(is_group)s::boolean[])
    WITH ORDINALITY AS g (chat_id, from_at, to_at, is_group, place)
CROSS JOIN LATERAL (
    SELECT m.id, m.external_id, m.sent_at, m.sender_entity_id, m.deleted_at IS NOT NULL AS is_deleted, m.content_hash,
           m.token_count, m.importance_score >= 0.5 AS is_important,
           CASE WHEN g.is_group THEN own_words(m.content, e.own) ELSE left(own_words(m.content, e.own), 400) END AS content,
           r.sender_entity_id AS answers, r.sent_at AS answered_at
    FROM message_texts m
    LEFT JOIN message_echoes e ON e.message_id = m.id AND e.content_hash = m.content_hash
    LEFT JOIN live_messages r ON g.is_group AND r.chat_id = m.chat_id AND r.external_id = m.reply_to
    WHERE m.chat_id = g.chat_id AND m.sent_at BETWEEN g.from_at AND g.to_at AND m.kind = 'message'
    ORDER BY m.sent_at, length(m.external_id), m.external_id COLLATE "C"
) m

-- name: create_planned
CREATE TEMP TABLE IF NOT EXISTS planned (
    id uuid PRIMARY KEY, chat_id uuid NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz NOT NULL
) ON COMMIT DELETE ROWS

-- name: insert_planned
INSERT INTO planned SELECT * FROM unnest(%(id)s::uuid[], %(chat_id)s::uuid[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[])

-- name: upsert_interactions
-- Returns the number of changed interactions; marks days whose eligible ones changed, with their due time.
WITH given AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(chat_id)s::uuid[], %(is_eligible)s::boolean[], %(day)s::date[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[],
        %(status)s::text[], %(message_count)s::int[], %(token_count)s::bigint[], %(important_count)s::int[],
        %(language)s::text[], %(first_external_id)s::text[], %(input_hash)s::text[], %(language_shares)s::text[])
        AS g (id, chat_id, is_eligible, day, started_at, ended_at, status, message_count, token_count, important_count,
              language, first_external_id, input_hash, language_shares)
), before AS (
    SELECT i.id, i.day FROM interactions i JOIN given g USING (id) WHERE i.day <> g.day
), saved AS (
    INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, important_count,
                              language, first_external_id, input_hash, language_shares)
    SELECT id, chat_id, day, started_at, ended_at, status, message_count, token_count, important_count, language,
           first_external_id, input_hash, language_shares::bigint[]
    FROM given
    ON CONFLICT (id) DO UPDATE SET
        day = excluded.day, started_at = excluded.started_at, ended_at = excluded.ended_at, status = excluded.status,
        message_count = excluded.message_count, token_count = excluded.token_count,
        important_count = excluded.important_count, language = excluded.language, input_hash = excluded.input_hash,
        language_shares = excluded.language_shares
    WHERE (interactions.day, interactions.started_at, interactions.ended_at, interactions.status, interactions.message_count,
           interactions.token_count, interactions.important_count, interactions.language, interactions.input_hash)
       IS DISTINCT FROM
          (excluded.day, excluded.started_at, excluded.ended_at, excluded.status, excluded.message_count,
           excluded.token_count, excluded.important_count, excluded.language, excluded.input_hash)
    RETURNING id, day, ended_at, message_count, token_count
), eligible AS (
    SELECT saved.* FROM saved JOIN given USING (id) WHERE given.is_eligible
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, due_at)
    SELECT 'interaction_summaries', day_key(day), 'interactions changed', min(due_at)
    FROM (
        SELECT day, ended_at + make_interval(secs => %(due_after)s) AS due_at FROM eligible
        WHERE message_count >= %(minimum)s AND token_count >= (SELECT least_summarised())
        UNION ALL
        SELECT before.day, '-infinity' FROM before
    ) days GROUP BY day
), searched AS (
    -- active ones too, and at once: recall finds new messages
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'interactions changed' FROM eligible GROUP BY day
), months AS (
    -- months already processed by the archive; others become due by time
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT p.asset, p.partition_key, 'interactions changed'
    FROM (SELECT DISTINCT month_key(day) AS month FROM saved) t
    JOIN partition_states p ON p.asset = 'archived_messages' AND p.partition_key = t.month
)
SELECT count(*) FROM saved

-- name: delete_participants
-- Former participants; their totals are recomputed.
WITH gone AS (
    DELETE FROM interaction_participants p
    USING unnest(%(interaction)s::uuid[]) AS given (id)
    WHERE p.interaction_id = given.id
      AND NOT EXISTS (SELECT FROM unnest(%(pair_interaction)s::uuid[], %(pair_entity)s::uuid[]) AS k (i, e)
                      WHERE k.i = p.interaction_id AND k.e = p.entity_id)
    RETURNING p.interaction_id, p.entity_id, p.started_at
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'takes part no more'
    FROM interactions i WHERE i.id IN (SELECT interaction_id FROM gone) GROUP BY day
), read AS (
    -- whom its items concern
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'items', r.interaction_id::text, 'takes part no more'
    FROM interaction_readings r WHERE r.interaction_id IN (SELECT interaction_id FROM gone)
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
SELECT 'entity_days', entity_id::text, 'takes part no more', min(started_at) FROM gone GROUP BY entity_id

-- name: upsert_participants
-- Also marks entities whose totals must be recomputed, from the first changed day.
WITH given AS (
    SELECT * FROM unnest(%(interaction_id)s::uuid[], %(entity_id)s::uuid[], %(role)s::text[], %(message_count)s::int[],
        %(token_count)s::bigint[], %(started_at)s::timestamptz[], %(ended_at)s::timestamptz[], %(from_at)s::timestamptz[])
        AS g (interaction_id, entity_id, role, message_count, token_count, started_at, ended_at, from_at)
), saved AS (
    INSERT INTO interaction_participants AS p
    SELECT interaction_id, entity_id, role, message_count, token_count, started_at, ended_at FROM given
    ON CONFLICT (interaction_id, entity_id) DO UPDATE SET
        role = excluded.role, message_count = excluded.message_count, token_count = excluded.token_count,
        started_at = excluded.started_at, ended_at = excluded.ended_at
    WHERE (p.role, p.message_count, p.token_count, p.started_at, p.ended_at)
       IS DISTINCT FROM (excluded.role, excluded.message_count, excluded.token_count, excluded.started_at, excluded.ended_at)
    RETURNING interaction_id, entity_id, started_at
), searched AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'participants changed'
    FROM interactions i WHERE i.id IN (SELECT interaction_id FROM saved) GROUP BY day
), read AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'items', r.interaction_id::text, 'participants changed'
    FROM interaction_readings r WHERE r.interaction_id IN (SELECT interaction_id FROM saved)
)
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
SELECT 'entity_days', entity_id::text, 'interactions changed', least(min(saved.started_at), min(from_at))
FROM saved JOIN given USING (interaction_id, entity_id) GROUP BY entity_id

-- name: create_belongs
CREATE TEMP TABLE IF NOT EXISTS belongs (entity_id uuid NOT NULL, message_id bigint NOT NULL, interaction_id uuid NOT NULL, sent_us bigint NOT NULL)
ON COMMIT DELETE ROWS

-- name: copy_belongs
COPY belongs (entity_id, message_id, interaction_id, sent_us) FROM STDIN

-- name: delete_belongings
-- Where messages were only added, the participant's row tells.
WITH gone AS (
    DELETE FROM message_entities m
    WHERE m.interaction_id = ANY(%(interaction)s)
      AND NOT EXISTS (SELECT FROM belongs b WHERE b.entity_id = m.entity_id AND b.message_id = m.message_id)
    RETURNING m.interaction_id
), read AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'items', r.interaction_id::text, 'messages belong to others'
    FROM interaction_readings r WHERE r.interaction_id IN (SELECT interaction_id FROM gone)
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'memory_chunks', day_key(day), 'messages belong to others'
FROM interactions i WHERE i.id IN (SELECT interaction_id FROM gone) GROUP BY day

-- name: upsert_belongings
-- Returns the hash of the new ones, as in the state of the interaction's chunks.
WITH saved AS (
    INSERT INTO message_entities AS m (entity_id, message_id, interaction_id, sent_at)
    SELECT entity_id, message_id, interaction_id, to_timestamp(0) + sent_us * interval '1 microsecond' FROM belongs
    ON CONFLICT (entity_id, message_id) DO UPDATE SET interaction_id = excluded.interaction_id, sent_at = excluded.sent_at
    WHERE (m.interaction_id, m.sent_at) IS DISTINCT FROM (excluded.interaction_id, excluded.sent_at)
    RETURNING m.interaction_id, m.entity_id, m.message_id, m.xmax = 0 AS is_new
), read AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'items', r.interaction_id::text, 'messages belong to others'
    FROM interaction_readings r WHERE r.interaction_id IN (SELECT interaction_id FROM saved)
)
SELECT interaction_id, bit_xor(hashtextextended(ROW(entity_id, message_id)::text, 1)) AS hash FROM saved WHERE is_new GROUP BY 1

-- name: clear_belongs
TRUNCATE belongs

-- name: vanished
-- Interactions of the ranges that no longer exist, each with its heir: the one of the chat that contains its start, or the
-- nearest.
SELECT i.id, (
    SELECT p.id FROM planned p WHERE p.chat_id = i.chat_id
    ORDER BY greatest(p.started_at - i.started_at, i.started_at - p.ended_at, interval '0'), p.started_at LIMIT 1
) AS heir, i.day, g.chat_id, g.from_at, g.to_at
FROM unnest(%(chat)s::uuid[], %(from_at)s::timestamptz[], %(to_at)s::timestamptz[]) AS g (chat_id, from_at, to_at)
JOIN interactions i ON i.chat_id = g.chat_id AND i.started_at BETWEEN g.from_at AND g.to_at
WHERE NOT EXISTS (SELECT FROM planned p WHERE p.id = i.id)

-- name: retire
-- The facts of a merged interaction are served under its heir.
WITH gone AS (
    SELECT * FROM unnest(%(id)s::uuid[], %(heir)s::uuid[], %(day)s::date[], %(chat_id)s::uuid[], %(from_at)s::timestamptz[],
        %(to_at)s::timestamptz[]) AS g (id, heir, day, chat_id, from_at, to_at)
), facts AS (
    UPDATE entity_facts f SET interaction_id = gone.heir FROM gone WHERE f.interaction_id = gone.id AND gone.heir IS NOT NULL
), summaries AS (
    UPDATE live_summaries s SET status = 'superseded', updated_at = clock_timestamp()
    FROM gone WHERE s.interaction_id = gone.id
), attempts AS (
    DELETE FROM summary_attempts a USING gone WHERE a.interaction_id = gone.id
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
    SELECT 'entity_days', p.entity_id::text, 'interactions joined', min(p.started_at)
    FROM interaction_participants p JOIN gone ON gone.id = p.interaction_id GROUP BY p.entity_id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'interaction_summaries', day_key(day), 'interactions joined' FROM gone GROUP BY day
), searched AS (
    -- the heirs' days too: its items are searched there now
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT 'memory_chunks', day_key(day), 'interactions joined'
    FROM (SELECT day FROM gone UNION SELECT i.day FROM interactions i JOIN gone ON gone.heir = i.id) d GROUP BY day
), belongings AS (
    DELETE FROM message_entities m USING gone WHERE m.interaction_id = gone.id
)
DELETE FROM interactions i USING gone WHERE i.id = gone.id

-- name: drop_marks
DELETE FROM dirty_partitions WHERE id = ANY(%(ids)s)

-- name: own_marks
-- Marks of chunks that this transaction made.
SELECT id FROM dirty_partitions
WHERE asset = 'memory_chunks' AND xmin::text::bigint = pg_current_xact_id()::text::bigint & 4294967295

-- name: drop_lost_marks
-- Marks of deleted chats.
DELETE FROM dirty_partitions WHERE asset = 'interactions' AND partition_key = ANY(%(chats)s::uuid[]::text[])

-- name: set_category
-- Set by a person: neither export nor rule changes it. NULL is an ordinary chat. Of a mass chat nothing is told.
WITH changed AS (
    UPDATE chats SET category = %(category)s, category_source = 'user' WHERE id = %(chat)s RETURNING id, category
), untold AS (
    UPDATE live_summaries s SET status = 'superseded', updated_at = clock_timestamp()
    FROM interactions i JOIN changed ON changed.id = i.chat_id AND changed.category = 'mass' WHERE s.interaction_id = i.id
), days AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason)
    SELECT asset, day_key(day), 'category set'
    FROM interactions i JOIN changed ON changed.id = i.chat_id
    CROSS JOIN unnest('{interaction_summaries,memory_chunks}'::text[]) AS a (asset) GROUP BY asset, day
), marked AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
    SELECT 'interactions', changed.id::text, 'category set', min(m.sent_at), max(m.sent_at)
    FROM changed JOIN messages m ON m.chat_id = changed.id GROUP BY changed.id
)
SELECT count(*) FROM changed

-- name: complete_silent
-- Locked interactions get their status from the worker that holds them.
UPDATE interactions SET status = 'completed' WHERE id IN (
    SELECT id FROM interactions WHERE status = 'active' AND ended_at < %(before)s FOR NO KEY UPDATE SKIP LOCKED
)

-- name: dirty_entities
-- All, or the members of the chats given.
SELECT partition_key::uuid AS entity_id, array_agg(id) AS ids, (min(from_at) AT TIME ZONE 'UTC')::date AS from_day
FROM dirty_partitions
WHERE asset = 'entity_days' AND (%(chats)s::uuid[] IS NULL OR partition_key IN (
    SELECT person_of(entity_id)::text FROM chat_members WHERE chat_id = ANY(%(chats)s::uuid[])
    UNION SELECT entity_id::text FROM chat_members WHERE chat_id = ANY(%(chats)s::uuid[])))
GROUP BY 1 ORDER BY 1 LIMIT %(limit)s

-- name: lock_entities
SELECT pg_advisory_xact_lock(hashtextextended(id::text, 1)) FROM (SELECT id FROM unnest(%(entity)s::uuid[]) AS g (id) ORDER BY id) g

-- name: clear_days
DELETE FROM entity_days d USING unnest(%(entity)s::uuid[], %(from_day)s::date[]) AS g (entity_id, from_day)
WHERE d.entity_id = g.entity_id AND d.day >= g.from_day

-- name: build_days
-- From the first changed day on, continuing the totals of the day before.
INSERT INTO entity_days (entity_id, day, message_count, token_count, messages_total, tokens_total)
SELECT g.entity_id, d.day, d.messages, d.tokens,
       coalesce(b.messages_total, 0) + sum(d.messages) OVER w, coalesce(b.tokens_total, 0) + sum(d.tokens) OVER w
FROM unnest(%(entity)s::uuid[], %(from_day)s::date[]) AS g (entity_id, from_day)
CROSS JOIN LATERAL (
    SELECT (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages, sum(token_count) AS tokens
    FROM interaction_participants p
    WHERE p.entity_id = g.entity_id AND p.started_at >= g.from_day::timestamp AT TIME ZONE 'UTC'
    GROUP BY 1
) d LEFT JOIN LATERAL (
    SELECT messages_total, tokens_total FROM entity_days e
    WHERE e.entity_id = g.entity_id AND e.day < g.from_day ORDER BY e.day DESC LIMIT 1
) b ON true
WINDOW w AS (PARTITION BY g.entity_id ORDER BY d.day)
