-- Vector spaces, one per model. Vectors: vectors.sql.

-- name: all
SELECT id, model, dimensions, state FROM embedding_spaces ORDER BY id

-- name: active
SELECT id, model, dimensions, state FROM embedding_spaces WHERE state = 'active'

-- name: of_model
SELECT id, model, dimensions, state FROM embedding_spaces WHERE model = %(model)s

-- name: lock
-- One process at a time opens, switches or drops; readers never wait.
LOCK TABLE embedding_spaces IN SHARE ROW EXCLUSIVE MODE

-- name: open
-- The first space is active at once.
INSERT INTO embedding_spaces (model, state, activated_at)
SELECT %(model)s, CASE WHEN f.is_first THEN 'active' ELSE 'building' END, CASE WHEN f.is_first THEN clock_timestamp() END
FROM (SELECT NOT EXISTS (SELECT FROM embedding_spaces WHERE state = 'active') AS is_first) f
WHERE NOT EXISTS (SELECT FROM embedding_spaces WHERE model = %(model)s)

-- name: size
-- Sets the dimensions with the first vectors; FOR KEY SHARE keeps the space until they are saved.
SELECT dimensions FROM embedding_spaces WHERE id = %(space)s FOR KEY SHARE

-- name: keep_size
UPDATE embedding_spaces SET dimensions = %(dimensions)s WHERE id = %(space)s AND dimensions IS NULL

-- name: hold_chunks
-- Blocks changes of chunks and vectors between check and switch, not searches.
LOCK TABLE memory_chunks, chunk_embeddings IN SHARE MODE

-- name: missing
-- Interactions with more chunks without a vector than the embedder refused, and those chunks. Chunks without interaction
-- cannot be refused.
SELECT count(*) AS interactions, coalesce(sum(m.chunks), 0)::bigint AS chunks
FROM (
    SELECT c.interaction_id, count(*) AS chunks
    FROM memory_chunks c
    LEFT JOIN chunk_embeddings e ON e.chunk_no = c.no AND e.space_id = %(space)s AND left(e.index_hash, 12) = left(c.index_hash, 12)
    WHERE e.chunk_no IS NULL
    GROUP BY c.interaction_id
) m
LEFT JOIN chunk_states s ON s.interaction_id = m.interaction_id AND s.space_id = %(space)s
WHERE m.chunks > coalesce(s.refused, 0)

-- name: chunks
SELECT count(*) FROM memory_chunks

-- name: days
-- Of interactions that can have chunks.
SELECT min(day) AS first, max(day) AS last FROM interactions

-- name: sizes
-- The scope of everything has one code per vector.
SELECT s.model, s.state, s.dimensions, coalesce(k.chunks, 0) AS vectors,
       (SELECT count(*) FROM memory_chunks c WHERE NOT EXISTS (
            SELECT FROM chunk_embeddings e
            WHERE e.chunk_no = c.no AND e.space_id = s.id AND left(e.index_hash, 12) = left(c.index_hash, 12))) AS missing,
       (SELECT count(*) FROM chunk_scopes i WHERE i.space_id = s.id AND i.index_name IS NOT NULL) AS indexes
FROM embedding_spaces s
LEFT JOIN chunk_scopes k ON k.space_id = s.id AND k.scope = '00000000-0000-0000-0000-000000000000'
ORDER BY s.id

-- name: sample
-- A reproducible random sample of what lacks a vector.
SELECT g.source = 'message' AS is_message, t.content
FROM (
    SELECT c.id, c.source FROM memory_chunks c
    WHERE NOT EXISTS (
        SELECT FROM chunk_embeddings e
        WHERE e.chunk_no = c.no AND e.space_id = %(space)s AND left(e.index_hash, 12) = left(c.index_hash, 12))
    ORDER BY hashint8(c.no), c.no LIMIT %(limit)s
) g JOIN memory_chunk_texts t ON t.id = g.id
WHERE t.content IS NOT NULL

-- name: unread
-- Conversations to be searched that were never chunked.
SELECT count(*) FROM interactions i
JOIN eligible_chats c ON c.id = i.chat_id
WHERE i.message_count > 0
  AND NOT EXISTS (SELECT FROM chunk_states s WHERE s.interaction_id = i.id AND s.space_id = 0 AND s.input_hash <> '')

-- name: retire_others
UPDATE embedding_spaces SET state = 'retired' WHERE state = 'active' AND id <> %(space)s

-- name: activate
UPDATE embedding_spaces SET state = 'active', activated_at = clock_timestamp() WHERE id = %(space)s AND state <> 'active'

-- name: begin_drop
-- Waits for a concurrent switch.
UPDATE embedding_spaces SET activated_at = NULL WHERE id = %(space)s AND state <> 'active'

-- name: drop_states
-- In one transaction with the statement before: completeness must not outlive the vectors of an interrupted drop.
DELETE FROM chunk_states WHERE space_id = %(space)s

-- name: forget_incomplete
-- States that claim missing vectors, e.g. after a partial restore, are reset.
DELETE FROM chunk_states s USING (
    SELECT c.interaction_id, count(*) AS chunks
    FROM memory_chunks c
    LEFT JOIN chunk_embeddings e ON e.chunk_no = c.no AND e.space_id = %(space)s AND left(e.index_hash, 12) = left(c.index_hash, 12)
    WHERE e.chunk_no IS NULL
    GROUP BY c.interaction_id
) m
WHERE s.interaction_id = m.interaction_id AND s.space_id = %(space)s AND m.chunks > s.refused

-- name: begin_filling
SELECT pg_try_advisory_lock(hashtextextended('filling a space', 4))

-- name: end_filling
SELECT pg_advisory_unlock(hashtextextended('filling a space', 4))

-- name: remove
DELETE FROM embedding_spaces WHERE id = %(space)s AND state <> 'active'
