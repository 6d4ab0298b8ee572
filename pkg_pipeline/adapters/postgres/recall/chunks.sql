-- name: wanted
-- Interactions of the days that get chunks, oldest first: active ones too, none of mass chats (P34).
SELECT i.id FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
WHERE i.day BETWEEN %(first_day)s AND %(last_day)s
ORDER BY i.day, i.started_at, i.id

-- name: outdated
-- Those of the given whose chunks have another input hash, for the words (0) or the space. Texts dropped with their month
-- are no input. Hashes of single rows are joined by XOR, so that what came behind can be added: with "after" an
-- interaction is always returned, with what its messages behind it add, what stands of it, and where to read from.
SELECT i.id AS interaction_id, i.day, i.message_count AS messages, c.id AS chat_id, c.source AS chat_source, c.external_id AS chat_external_id,
       h.hash AS input_hash, w.input_hash AS of_words, v.input_hash AS of_vectors, coalesce(w.chunks, 0) AS chunks,
       EXISTS (SELECT FROM live_summaries s WHERE s.interaction_id = i.id) AS has_summary,
       coalesce((
           SELECT min(sent_at) FROM (
               SELECT sent_at FROM live_messages WHERE chat_id = i.chat_id AND sent_at BETWEEN i.started_at AND g.after
               ORDER BY sent_at DESC LIMIT %(context)s
           ) last), i.started_at) AS read_from
FROM unnest(%(ids)s::uuid[], %(after)s::timestamptz[]) WITH ORDINALITY AS g (id, after, place)
JOIN interactions i ON i.id = g.id
JOIN eligible_chats c ON c.id = i.chat_id
CROSS JOIN LATERAL (
    SELECT count(*) AS messages,
           coalesce(bit_xor(hashtextextended(ROW(m.external_id, m.content_hash, m.sent_at, m.sender_entity_id, m.role, m.importance_score, e.name, k.dropped_at)::text, 0)), 0) AS hash
    FROM live_messages m LEFT JOIN entities e ON e.id = m.sender_entity_id
    LEFT JOIN archive_months k ON k.month = m.archived_month AND k.state = 'dropped'
    WHERE m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at AND m.sent_at > coalesce(g.after, '-infinity')
) said
CROSS JOIN LATERAL (
    SELECT concat_ws(':', %(version)s::text, said.messages, said.hash,
        CASE WHEN g.after IS NULL
             THEN (SELECT coalesce(bit_xor(hashtextextended(ROW(b.entity_id, b.message_id)::text, 1)), 0) FROM message_entities b WHERE b.interaction_id = i.id)
             ELSE 0 END,
        (extract(epoch FROM i.ended_at) * 1000000)::bigint,
        (SELECT coalesce(bit_xor(hashtextextended(ROW(p.entity_id, p.role, array_to_string(names_of(p.entity_id), ' '))::text, 2)), 0)
         FROM interaction_participants p WHERE p.interaction_id = i.id),
        md5(ROW(
            i.started_at, c.kind,
            (SELECT ROW(s.id, s.status, s.dirty_reason, s.updated_at)::text FROM live_summaries s WHERE s.interaction_id = i.id),
            (SELECT bit_xor(hashtextextended(ROW(t.id, t.is_withheld, t.status, t.text, t.due_date, t.importance, t.message_ids,
                        ARRAY(SELECT w.entity_id FROM item_people w WHERE w.item_id = t.id ORDER BY 1))::text, 3))
             FROM items t WHERE t.interaction_id = i.id),
            (SELECT bit_xor(hashtextextended(ROW(f.id, f.entity_id, f.status, f.value, f.valid_from, f.valid_to, f.message_ids,
                        coalesce(e.name, f.about_name))::text, 4))
             FROM entity_facts f LEFT JOIN entities e ON e.id = f.entity_id WHERE f.interaction_id = i.id)
        )::text) || coalesce((
            SELECT bit_xor(hashtextextended(ROW(l.id, l.dirty_reason = 'deleted')::text, 5)) FROM standing_folds l
            WHERE l.session_id = i.chat_id AND l.to_at BETWEEN i.started_at AND i.ended_at)::text, '')
    ) AS hash
) h
LEFT JOIN chunk_states w ON w.interaction_id = i.id AND w.space_id = 0
LEFT JOIN chunk_states v ON v.interaction_id = i.id AND v.space_id = %(space)s
WHERE g.after IS NOT NULL OR w.input_hash IS DISTINCT FROM h.hash OR v.input_hash IS DISTINCT FROM h.hash
ORDER BY g.place

-- name: speakers
-- Senders and participants of the interactions, with all their names.
SELECT i.id AS interaction_id, e.id, array_to_string(names_of(e.id), ' ') AS name FROM unnest(%(ids)s::uuid[]) AS g (id) JOIN interactions i ON i.id = g.id
CROSS JOIN LATERAL (
    SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = i.id
    UNION
    SELECT m.sender_entity_id FROM live_messages m
    WHERE m.chat_id = i.chat_id AND m.sent_at BETWEEN i.started_at AND i.ended_at
) s JOIN entities e ON e.id = s.entity_id

-- name: key_points
SELECT interaction_id, ARRAY(SELECT jsonb_array_elements_text(key_points)) FROM live_summaries
WHERE interaction_id = ANY(%(ids)s) AND dirty_reason IS DISTINCT FROM 'deleted'

-- name: settle
-- Marks of days whose chunks were made at once. Each such day is looked at whole once later, and shown as made then.
WITH gone AS (
    DELETE FROM dirty_partitions WHERE id = ANY(%(marks)s) RETURNING partition_key
)
INSERT INTO dirty_partitions (asset, partition_key, reason, due_at)
SELECT 'memory_chunks', partition_key, 'made at once', %(later)s FROM gone
WHERE NOT EXISTS (
    SELECT FROM dirty_partitions d WHERE d.asset = 'memory_chunks' AND d.partition_key = gone.partition_key AND d.due_at > %(now)s)
GROUP BY partition_key

-- name: unwanted
-- Interactions with chunks that are gone or became mass.
SELECT DISTINCT s.interaction_id FROM chunk_states s
WHERE s.space_id = 0 AND NOT EXISTS (
    SELECT FROM interactions i
    JOIN eligible_chats c ON c.id = i.chat_id
    WHERE i.id = s.interaction_id)

-- name: hold
-- A session-level lock, as no transaction is open while a model runs; released when the process dies.
SELECT id FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place)
WHERE pg_try_advisory_lock(hashtextextended(id::text, 5)) ORDER BY place

-- name: release
SELECT pg_advisory_unlock_all()

-- name: begin
-- A state without hash: found again after a crash, even if the interaction vanishes.
INSERT INTO chunk_states (interaction_id, space_id, input_hash, chunks)
SELECT id, 0, '', 0 FROM unnest(%(ids)s::uuid[]) AS g (id) ORDER BY id
ON CONFLICT DO NOTHING

-- name: messages
-- Live messages with text, after the last one read. In a direct chat they belong to all others, in a group to those of the
-- attribution (P34).
SELECT i.id AS interaction_id, m.id, m.external_id, m.sender_entity_id, coalesce(e.name, '') AS speaker, m.sent_at,
       m.content AS text, m.importance_score AS importance, m.role IS NOT DISTINCT FROM 'tool' AS is_tool_result,
       CASE WHEN c.kind = 'direct'
            THEN ARRAY(SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = i.id AND p.role = 'other' ORDER BY 1)
            ELSE ARRAY(SELECT b.entity_id FROM message_entities b WHERE b.message_id = m.id ORDER BY 1) END AS entity_ids
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place)
JOIN interactions i ON i.id = g.id JOIN chats c ON c.id = i.chat_id
JOIN live_texts m ON m.chat_id = i.chat_id AND m.sent_at BETWEEN greatest(i.started_at, %(after_at)s) AND i.ended_at
LEFT JOIN entities e ON e.id = m.sender_entity_id
WHERE (m.sent_at, length(m.external_id), m.external_id COLLATE "C") > (%(after_at)s::timestamptz, %(after_length)s::int, %(after_id)s::text COLLATE "C")
  AND NOT (m.is_archived AND NOT EXISTS (SELECT FROM archived_messages a WHERE a.month = m.archived_month AND a.message_id = m.id))
ORDER BY g.place, m.sent_at, length(m.external_id), m.external_id COLLATE "C"
LIMIT %(limit)s

-- name: derived
-- Texts derived from the interactions: of items those not settled, as what is recalled is taken for true. A summary rests on
-- the messages of its row, an item on those it cites; withheld if one was deleted at its source (P29). A fold belongs to the interaction in which it ends, with its own topics (H14).
WITH g AS (
    SELECT i.id, i.chat_id, i.started_at, i.ended_at, c.kind FROM unnest(%(ids)s::uuid[]) AS u (id)
    JOIN interactions i ON i.id = u.id JOIN chats c ON c.id = i.chat_id
), folded AS (
    SELECT g.id AS interaction, g.chat_id, l.*, l.dirty_reason IS NOT DISTINCT FROM 'deleted' AS is_withheld,
           ARRAY(SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = g.id AND p.role = 'other' ORDER BY 1) AS entities
    FROM g JOIN standing_folds l ON l.session_id = g.chat_id AND l.to_at BETWEEN g.started_at AND g.ended_at
), folded_items AS (
    SELECT f.*, (x.item ->> 'id')::uuid AS item_id, x.importance,
           concat_ws(': ', x.item ->> 'about', x.words) AS words,
           ARRAY(SELECT m.id FROM messages m WHERE m.chat_id = f.chat_id
                   AND m.external_id = ANY(ARRAY(SELECT jsonb_array_elements_text(x.item -> 'message_ids'))) ORDER BY m.sent_at, m.id) AS cited
    FROM folded f CROSS JOIN LATERAL (
        SELECT item, 0.6 AS importance, concat_ws(' ', item ->> 'fact_type', item ->> 'value') AS words FROM jsonb_array_elements(f.facts) AS a (item)
        UNION ALL
        SELECT item, CASE item ->> 'importance' WHEN 'high' THEN 1 WHEN 'medium' THEN 0.6 ELSE 0.3 END, item ->> 'description'
        FROM jsonb_array_elements(f.decisions) AS a (item)
        UNION ALL
        SELECT item, 0.3, item ->> 'text' FROM jsonb_array_elements(f.open_questions) AS a (item)
    ) x
)
SELECT g.id AS interaction_id, 'summary' AS source, s.id AS subject_id, g.ended_at AS at, s.summary AS text,
       '{}'::bigint[] AS message_ids,
       ARRAY(SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = g.id AND p.role = 'other' ORDER BY 1) AS entity_ids,
       0::real AS importance, s.dirty_reason IS NOT DISTINCT FROM 'deleted' AS is_withheld,
       coalesce((SELECT string_agg(p, E'\n' ORDER BY place) FROM jsonb_array_elements_text(s.key_points) WITH ORDINALITY AS k (p, place)), '') AS found_by,
       NULL::text[] AS topics
FROM g JOIN live_summaries s ON s.interaction_id = g.id
UNION ALL
SELECT g.id, t.kind, t.id, t.first_at, t.text || coalesce(' (' || t.due_date || ')', ''),
       ARRAY(SELECT m.id FROM messages m WHERE m.chat_id = g.chat_id AND m.external_id = ANY(t.message_ids) ORDER BY m.sent_at, m.id),
       ARRAY(SELECT w.entity_id FROM item_people w WHERE w.item_id = t.id ORDER BY 1),
       (CASE t.importance WHEN 'high' THEN 1 WHEN 'medium' THEN 0.6 ELSE 0.3 END)::real, t.is_withheld, '', NULL
FROM g JOIN items t ON t.interaction_id = g.id AND t.status IN ('open', 'perhaps_done')
UNION ALL
SELECT g.id, 'fact', f.id, coalesce(f.valid_from, g.ended_at), coalesce(e.name, f.about_name) || ': ' || f.fact_type || ' ' || f.value,
       ARRAY(SELECT m.id FROM messages m WHERE m.chat_id = g.chat_id AND m.external_id = ANY(f.message_ids) ORDER BY m.sent_at, m.id),
       array_remove(ARRAY[coalesce(f.entity_id, f.told_by)], NULL), 0.6, false, '', NULL
FROM g JOIN entity_facts f ON f.interaction_id = g.id AND f.status = 'confirmed' AND f.valid_to IS NULL
LEFT JOIN entities e ON e.id = f.entity_id
UNION ALL
SELECT f.interaction, 'session_fold', f.id, f.to_at, f.summary,
       ARRAY(SELECT n FROM unnest(f.message_ids) WITH ORDINALITY AS u (n, place) WHERE n <> ALL(f.noise_ids) ORDER BY place),
       f.entities, 0, f.is_withheld, array_to_string(f.topics, E'\n'), f.topics
FROM folded f WHERE f.summary <> ''
UNION ALL
SELECT f.interaction, 'session_fold', f.item_id, f.to_at, f.words, f.cited, f.entities, f.importance, f.is_withheld, '', f.topics
FROM folded_items f
ORDER BY 1, 2, 3

-- name: create_incoming
CREATE TEMP TABLE IF NOT EXISTS incoming_chunks (
    place integer NOT NULL, id uuid NOT NULL, source text NOT NULL, chat_id uuid NOT NULL, interaction_id uuid, subject_id uuid,
    sender_entity_id uuid, at timestamptz NOT NULL, scopes uuid[] NOT NULL, message_ids bigint[] NOT NULL, start_char integer,
    end_char integer, passage smallint NOT NULL, passages smallint NOT NULL, importance real NOT NULL, is_withheld boolean NOT NULL,
    topics text[] NOT NULL, content text, content_hash text NOT NULL, index_hash text NOT NULL, terms integer[] NOT NULL,
    lexical sparsevec NOT NULL
) ON COMMIT DELETE ROWS

-- name: create_seen
-- Ids derived since the interactions were locked; their other chunks are stale.
CREATE TEMP TABLE IF NOT EXISTS seen_chunks (id uuid PRIMARY KEY)

-- name: clear_seen
TRUNCATE seen_chunks

-- name: copy_incoming
COPY incoming_chunks (
    place, id, source, chat_id, interaction_id, subject_id, sender_entity_id, at, scopes, message_ids, start_char, end_char,
    passage, passages, importance, is_withheld, topics, content, content_hash, index_hash, terms, lexical
) FROM STDIN (FORMAT BINARY)

-- name: save_incoming
-- Upserts new and changed chunks, and adds the differences to document frequencies; term 0 counts all chunks. Interactions
-- are locked; terms are in a fixed order against deadlocks, and the transaction ends with this: everybody waits at term 0.
-- Hashes of older rows are longer (chunking.HASH_CHARS). With LIMIT each chunk is looked up by its key: a join with a new temporary table might read all chunks, every time.
WITH changed AS MATERIALIZED (
    SELECT i.*, c.terms AS old_terms FROM incoming_chunks i
    LEFT JOIN LATERAL (SELECT * FROM memory_chunks WHERE id = i.id LIMIT 1) c ON true
    WHERE c.id IS NULL OR (left(c.index_hash, 12), left(c.content_hash, 12), c.message_ids, c.start_char, c.end_char, c.passage, c.passages, c.importance,
                           c.is_withheld, c.topics, c.sender_entity_id)
        IS DISTINCT FROM (left(i.index_hash, 12), left(i.content_hash, 12), i.message_ids, i.start_char, i.end_char, i.passage, i.passages, i.importance,
                          i.is_withheld, i.topics, i.sender_entity_id)
), saved AS (
    INSERT INTO memory_chunks AS c (id, source, chat_id, interaction_id, subject_id, sender_entity_id, at, scopes, message_ids,
        start_char, end_char, passage, passages, importance, is_withheld, topics, content, content_hash, index_hash, terms, lexical)
    SELECT id, source, chat_id, interaction_id, subject_id, sender_entity_id, at, scopes, message_ids,
        start_char, end_char, passage, passages, importance, is_withheld, topics, content, content_hash, index_hash, terms, lexical
    FROM changed ORDER BY place
    ON CONFLICT (id) DO UPDATE SET
        source = excluded.source, chat_id = excluded.chat_id, interaction_id = excluded.interaction_id, subject_id = excluded.subject_id,
        sender_entity_id = excluded.sender_entity_id, at = excluded.at, scopes = excluded.scopes, message_ids = excluded.message_ids,
        start_char = excluded.start_char, end_char = excluded.end_char, passage = excluded.passage, passages = excluded.passages,
        importance = excluded.importance, is_withheld = excluded.is_withheld, topics = excluded.topics, content = excluded.content,
        content_hash = excluded.content_hash, index_hash = excluded.index_hash, terms = excluded.terms, lexical = excluded.lexical,
        updated_at = clock_timestamp()
    RETURNING c.id, c.no
), counted AS (
    INSERT INTO chunk_terms AS t (term, chunks)
    SELECT term, sum(n) FROM (
        SELECT unnest(terms) AS term, 1 AS n FROM changed
        UNION ALL SELECT unnest(old_terms), -1 FROM changed
        UNION ALL SELECT 0, 1 FROM changed WHERE old_terms IS NULL
    ) d GROUP BY term HAVING sum(n) <> 0 ORDER BY term
    ON CONFLICT (term) DO UPDATE SET chunks = t.chunks + excluded.chunks
)
SELECT coalesce(s.no, (SELECT no FROM memory_chunks WHERE id = i.id)) AS no, i.index_hash, s.id IS NOT NULL AS is_changed
FROM incoming_chunks i LEFT JOIN saved s ON s.id = i.id ORDER BY i.place

-- name: see
INSERT INTO seen_chunks SELECT id FROM incoming_chunks ON CONFLICT DO NOTHING

-- name: stale
-- By interaction, not in the order of all chunks' numbers, as a limit would suggest.
SELECT c.no FROM unnest(%(ids)s::uuid[]) AS g (id)
CROSS JOIN LATERAL (SELECT no, id FROM memory_chunks WHERE interaction_id = g.id OFFSET 0) c
WHERE NOT EXISTS (SELECT FROM seen_chunks s WHERE s.id = c.id)
ORDER BY c.no LIMIT %(limit)s

-- name: delete_chunks
WITH gone AS (
    DELETE FROM memory_chunks WHERE no = ANY(%(numbers)s) RETURNING terms
)
INSERT INTO chunk_terms AS t (term, chunks)
SELECT term, sum(n) FROM (
    SELECT unnest(terms) AS term, -1 AS n FROM gone
    UNION ALL SELECT 0, -1 FROM gone
) d GROUP BY term ORDER BY term
ON CONFLICT (term) DO UPDATE SET chunks = t.chunks + excluded.chunks

-- name: lock_speakers
SELECT pg_advisory_xact_lock(hashtextextended(id::text, 6)) FROM (SELECT id FROM unnest(%(ids)s::uuid[]) AS g (id) ORDER BY id) g

-- name: drop_speaker_terms
DELETE FROM speaker_terms s
WHERE s.entity_id = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM unnest(%(term)s::int[], %(entity)s::uuid[]) AS g (term, entity) WHERE g.term = s.term AND g.entity = s.entity_id)

-- name: insert_speaker_terms
-- Deleted entities are skipped.
INSERT INTO speaker_terms (term, entity_id)
SELECT g.term, g.entity FROM unnest(%(term)s::int[], %(entity)s::uuid[]) AS g (term, entity) JOIN entities e ON e.id = g.entity
ORDER BY 1, 2 ON CONFLICT DO NOTHING

-- name: finish
INSERT INTO chunk_states AS s (interaction_id, space_id, input_hash, chunks, refused)
SELECT g.id, p.space, g.hash, g.chunks, g.refused
FROM unnest(%(interaction_id)s::uuid[], %(input_hash)s::text[], %(chunks)s::int[], %(refused)s::int[]) AS g (id, hash, chunks, refused)
CROSS JOIN unnest(%(spaces)s::smallint[]) AS p (space)
ORDER BY g.id, p.space
ON CONFLICT (interaction_id, space_id) DO UPDATE SET
    input_hash = excluded.input_hash, chunks = excluded.chunks, refused = excluded.refused, built_at = clock_timestamp()

-- name: forget_states
DELETE FROM chunk_states WHERE interaction_id = ANY(%(ids)s)

-- name: mark_all
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT 'memory_chunks', day_key(day), 'indexed otherwise' FROM interactions GROUP BY day

-- name: withhold_facts
-- Recall shows no more what was decided otherwise about, or ended; the next run makes the pieces of their conversations anew.
UPDATE memory_chunks SET is_withheld = true WHERE source = 'fact' AND subject_id = ANY(%(ids)s) AND NOT is_withheld
