-- Vectors and codes by space: saved, deleted, counted by scope, indexed for big scopes.

-- name: missing
SELECT g.chunk_no FROM unnest(%(chunk_nos)s::bigint[], %(hashes)s::text[]) AS g (chunk_no, index_hash)
WHERE NOT EXISTS (
    SELECT FROM chunk_embeddings e
    WHERE e.chunk_no = g.chunk_no AND e.space_id = %(space)s AND left(e.index_hash, 12) = left(g.index_hash, 12))

-- name: make_given
-- Per session; emptied with the transaction.
CREATE TEMP TABLE IF NOT EXISTS given_vectors (LIKE chunk_embeddings INCLUDING STORAGE, code bit(1024) NOT NULL)
ON COMMIT DELETE ROWS

-- name: copy_given
COPY given_vectors (chunk_no, space_id, scopes, at, index_hash, embedding, code) FROM STDIN (FORMAT BINARY)

-- name: by_key
-- New temporary tables have no statistics: the planner might scan a whole table for a hundred rows.
SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)

-- name: lock_chunks
-- Locked in order against deadlocks; deleted chunks are not returned.
SELECT no FROM memory_chunks WHERE no = ANY(%(chunk_nos)s) ORDER BY no FOR NO KEY UPDATE

-- name: forget_gone
DELETE FROM given_vectors WHERE chunk_no <> ALL(%(chunk_nos)s)

-- name: leave_scopes
-- Codes in scopes, or of a time, that the chunk left. A code's time is that of its vector. With LIMIT each is looked up by
-- key: of a table that was empty when the plan was made, a join would read all, once for each.
DELETE FROM chunk_codes WHERE ctid = ANY(ARRAY(
    SELECT k.ctid FROM given_vectors g
    CROSS JOIN LATERAL (
        SELECT scopes, at FROM chunk_embeddings WHERE chunk_no = g.chunk_no AND space_id = g.space_id LIMIT 1
    ) e
    CROSS JOIN LATERAL (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS scope UNION SELECT unnest(e.scopes)) o
    CROSS JOIN LATERAL (
        SELECT ctid FROM chunk_codes WHERE space_id = g.space_id AND scope = o.scope AND at = e.at AND chunk_no = g.chunk_no LIMIT 1
    ) k
    WHERE e.at <> g.at OR o.scope <> ALL(g.scopes || '00000000-0000-0000-0000-000000000000'::uuid)
))
RETURNING space_id, scope

-- name: save_embeddings
INSERT INTO chunk_embeddings AS e (chunk_no, space_id, scopes, at, index_hash, embedding)
SELECT chunk_no, space_id, scopes, at, index_hash, embedding FROM given_vectors ORDER BY chunk_no
ON CONFLICT (chunk_no, space_id) DO UPDATE SET
    scopes = excluded.scopes, at = excluded.at, index_hash = excluded.index_hash, embedding = excluded.embedding

-- name: save_codes
-- Scope zero has every chunk. Only inserted rows count (xmax = 0), by scope.
WITH saved AS (
    INSERT INTO chunk_codes AS c (space_id, scope, chunk_no, at, code)
    SELECT g.space_id, s.scope, g.chunk_no, g.at, g.code
    FROM given_vectors g
    CROSS JOIN LATERAL (
        SELECT '00000000-0000-0000-0000-000000000000'::uuid AS scope UNION SELECT unnest(g.scopes)
    ) s
    ORDER BY g.space_id, s.scope, g.at, g.chunk_no
    ON CONFLICT (space_id, scope, at, chunk_no) DO UPDATE SET code = excluded.code
    RETURNING c.space_id, c.scope, c.xmax = 0 AS is_new
)
SELECT space_id, scope, count(*) AS codes FROM saved WHERE is_new GROUP BY space_id, scope

-- name: count
-- The last step of a transaction: every saver updates the row of scope zero.
INSERT INTO chunk_scopes AS k (space_id, scope, chunks)
SELECT space_id, scope, change FROM unnest(%(spaces)s::smallint[], %(scopes)s::uuid[], %(changes)s::bigint[])
    AS g (space_id, scope, change)
ORDER BY space_id, scope
ON CONFLICT (space_id, scope) DO UPDATE SET chunks = k.chunks + excluded.chunks

-- name: delete_embeddings
DELETE FROM chunk_embeddings WHERE chunk_no = ANY(%(chunk_nos)s)

-- name: delete_codes
-- In all spaces, by key: before the vectors, which tell where they are.
DELETE FROM chunk_codes WHERE ctid = ANY(ARRAY(
    SELECT k.ctid FROM chunk_embeddings e
    CROSS JOIN LATERAL (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS scope UNION SELECT unnest(e.scopes)) o
    CROSS JOIN LATERAL (
        SELECT ctid FROM chunk_codes WHERE space_id = e.space_id AND scope = o.scope AND at = e.at AND chunk_no = e.chunk_no LIMIT 1
    ) k
    WHERE e.chunk_no = ANY(%(chunk_nos)s)
))
RETURNING space_id, scope

-- name: orphans
-- Codes without chunk, left by killed workers.
DELETE FROM chunk_codes c WHERE NOT EXISTS (SELECT FROM memory_chunks m WHERE m.no = c.chunk_no)
RETURNING c.space_id, c.scope

-- name: drop_embeddings
-- All of a space being dropped.
DELETE FROM chunk_embeddings WHERE space_id = %(space)s

-- name: drop_codes
DELETE FROM chunk_codes WHERE space_id = %(space)s

-- name: drop_scopes
DELETE FROM chunk_scopes WHERE space_id = %(space)s

-- name: one_at_a_time
-- One process at a time builds or drops indexes; others skip it.
SELECT pg_try_advisory_lock(hashtextextended('indexes of vectors', 4))

-- name: next_please
SELECT pg_advisory_unlock(hashtextextended('indexes of vectors', 4))

-- name: indexes
-- Existing indexes and whether they are valid: killed builds leave invalid ones.
SELECT c.relname AS name, i.indisvalid AND i.indisready AS is_whole FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'chunk_embeddings'::regclass AND starts_with(c.relname, %(prefix)s)
ORDER BY c.relname

-- name: outgrown
-- Scopes with an index or due one: space, state, size, scope, number of codes.
SELECT k.space_id, s.state, s.dimensions, k.scope, k.chunks, k.index_name
FROM chunk_scopes k JOIN embedding_spaces s ON s.id = k.space_id
WHERE k.chunks > %(limit)s OR k.index_name IS NOT NULL
ORDER BY k.space_id, k.chunks DESC, k.scope

-- name: is_loose
-- Whether half of the codes' index is empty: where a scope grows in the midst of others, full pages are split in halves.
-- A code takes 184 bytes and its place, and nine tenths of a page are filled.
SELECT pg_relation_size('chunk_codes_scan') > %(times)s * (188 / 0.9) * reltuples FROM pg_class
WHERE oid = 'chunk_codes'::regclass AND reltuples >= %(least)s

-- name: half_built
-- Of a rebuild that was killed.
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = 'chunk_codes'::regclass AND starts_with(c.relname, 'chunk_codes_scan_cc')

-- name: rebuild
REINDEX INDEX CONCURRENTLY chunk_codes_scan

-- name: name_index
UPDATE chunk_scopes SET index_name = %(index)s WHERE space_id = %(space)s AND scope = %(scope)s

-- name: unname_index
-- Before the drop: searches from now on do not use it.
UPDATE chunk_scopes SET index_name = NULL WHERE index_name = %(index)s

-- name: unname_lost
-- Indexes dropped by hand.
UPDATE chunk_scopes SET index_name = NULL WHERE index_name IS NOT NULL AND index_name <> ALL(%(indexes)s::text[])

-- name: index_ddl
-- The cast fixes the dimensions; the condition makes the index partial.
SELECT format(
    'CREATE INDEX CONCURRENTLY %%I ON chunk_embeddings USING hnsw ((embedding::halfvec(%%s)) halfvec_ip_ops)'
    ' WITH (m = 16, ef_construction = %%s) WHERE space_id = %%s%%s',
    %(index)s::text, %(dimensions)s::integer, %(ef)s::integer, %(space)s::integer,
    CASE WHEN %(scope)s <> '00000000-0000-0000-0000-000000000000'::uuid
         THEN format(' AND scopes @> ARRAY[%%L]::uuid[]', %(scope)s) ELSE '' END)

-- name: drop_index_ddl
SELECT format('DROP INDEX CONCURRENTLY IF EXISTS %%I', %(index)s::text)

-- name: limit_memory
SELECT set_config('maintenance_work_mem', %(kilobytes)s || 'kB', false)

-- name: reset_memory
RESET maintenance_work_mem

-- name: alone
-- Parallel workers need shared memory that a container may lack.
SET max_parallel_maintenance_workers = 0

-- name: reset_alone
RESET max_parallel_maintenance_workers

-- name: changed
-- Tables of which more than a share changed since the last vacuum, for index-only scans.
SELECT relname FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND relname IN ('chunk_codes', 'chunk_embeddings', 'memory_chunks')
  AND greatest(n_ins_since_vacuum, n_dead_tup) > %(share)s * n_live_tup AND n_ins_since_vacuum + n_dead_tup >= %(least)s
ORDER BY relname

-- name: vacuum_ddl
SELECT format('VACUUM (ANALYZE) %%I', %(relation)s::text)
