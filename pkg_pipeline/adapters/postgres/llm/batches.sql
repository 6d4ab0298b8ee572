-- Message batches: what was sent together, what came back, what it was made use of. Each step may be repeated.

-- name: create
INSERT INTO llm_batches (backfill_id, redo_stale, run_id) VALUES (%(backfill_id)s, %(redo_stale)s, %(run_id)s) RETURNING id

-- name: add_item
INSERT INTO llm_batch_items (id, batch_id, request_hash, task, model, prompt_version, prompt_tokens, room, day)
VALUES (%(id)s, %(batch)s, %(request_hash)s, %(task)s, %(model)s, %(prompt_version)s, %(prompt_tokens)s, %(room)s, %(day)s)

-- name: add_subjects
INSERT INTO llm_batch_subjects (item_id, position, subject_kind, subject_id, token)
SELECT %(item)s, g.position, g.kind, g.id, g.token
FROM unnest(%(kind)s::text[], %(id)s::uuid[], %(token)s::bigint[]) WITH ORDINALITY AS g (kind, id, token, position)

-- name: count_questions
UPDATE llm_batches SET questions = %(questions)s WHERE id = %(batch)s

-- name: sent
UPDATE llm_batches SET service_id = %(service_id)s, state = 'sent' WHERE id = %(batch)s AND state = 'submitting'

-- name: not_ours
UPDATE llm_batches SET service_id = NULL, state = 'submitting', foreign_ids = foreign_ids || service_id
WHERE id = %(batch)s AND state = 'sent' AND service_id = %(service_id)s

-- name: service_ids
SELECT service_id FROM llm_batches WHERE service_id IS NOT NULL UNION SELECT unnest(foreign_ids) FROM llm_batches

-- name: open
SELECT b.id, b.service_id, b.state, b.backfill_id, b.redo_stale, b.questions, b.created_at,
       b.created_at <= clock_timestamp() - make_interval(secs => %(overdue)s) AS is_overdue,
       b.created_at <= clock_timestamp() - make_interval(secs => %(lost)s) AS is_lost,
       coalesce(f.state <> 'cancelled', true) AS is_wanted
FROM llm_batches b LEFT JOIN backfills f ON f.id = b.backfill_id
WHERE b.state NOT IN ('done', 'dropped') ORDER BY b.created_at, b.id

-- name: items
SELECT i.id, i.request_hash, i.task, i.model, i.prompt_version, i.prompt_tokens, i.room, b.backfill_id, b.run_id, i.day,
       i.is_forgotten, i.outcome, i.error
FROM llm_batch_items i JOIN llm_batches b ON b.id = i.batch_id WHERE i.batch_id = %(batch)s ORDER BY i.id

-- name: take_item
-- Locked against forgetting and another reader; no row: it is read already.
SELECT is_forgotten FROM llm_batch_items WHERE id = %(item)s AND outcome IS NULL FOR UPDATE

-- name: subjects
SELECT subject_kind AS kind, subject_id AS id FROM llm_batch_subjects WHERE item_id = %(item)s ORDER BY position

-- name: note_outcome
UPDATE llm_batch_items SET outcome = %(outcome)s, error = %(error)s WHERE id = %(item)s

-- name: unread
SELECT i.id, i.day, i.task FROM llm_batch_items i WHERE i.batch_id = %(batch)s AND i.outcome IS NULL ORDER BY i.id FOR UPDATE

-- name: read
UPDATE llm_batches SET state = 'read', read_at = coalesce(read_at, clock_timestamp()) WHERE id = %(batch)s AND state IN ('submitting', 'sent')

-- name: held
SELECT i.id, i.request_hash, i.task, i.model, i.prompt_version, i.prompt_tokens, i.room, b.backfill_id, b.run_id, i.day,
       i.is_forgotten, i.outcome, i.error,
       coalesce(array_agg(s.subject_id ORDER BY s.position) FILTER (WHERE s.item_id IS NOT NULL), '{}') AS ids,
       coalesce(array_agg(s.token ORDER BY s.position) FILTER (WHERE s.item_id IS NOT NULL), '{}') AS tokens
FROM llm_batch_items i JOIN llm_batches b ON b.id = i.batch_id LEFT JOIN llm_batch_subjects s ON s.item_id = i.id
WHERE i.batch_id = %(batch)s AND i.worked_at IS NULL
GROUP BY i.id, b.id ORDER BY min(s.subject_id::text), i.id

-- name: worked
UPDATE llm_batch_items SET worked_at = clock_timestamp() WHERE id = ANY(%(items)s) AND worked_at IS NULL

-- name: finish
UPDATE llm_batches b SET state = 'done' WHERE id = %(batch)s AND state = 'read'
  AND NOT EXISTS (SELECT FROM llm_batch_items i WHERE i.batch_id = b.id AND i.worked_at IS NULL)

-- name: drop
UPDATE llm_batches SET state = 'dropped' WHERE id = %(batch)s AND state = 'submitting'

-- name: lock_batch
SELECT state FROM llm_batches WHERE id = %(batch)s FOR UPDATE

-- name: all_held
SELECT s.subject_id, s.token FROM llm_batch_subjects s JOIN llm_batch_items i ON i.id = s.item_id WHERE i.batch_id = %(batch)s

-- name: in_flight
SELECT count(DISTINCT b.id)::int AS batches, count(DISTINCT i.id)::int AS questions, count(DISTINCT s.subject_id)::int AS subjects,
       min(b.created_at) AS oldest_at
FROM llm_batches b LEFT JOIN llm_batch_items i ON i.batch_id = b.id AND i.worked_at IS NULL
LEFT JOIN llm_batch_subjects s ON s.item_id = i.id
WHERE b.state NOT IN ('done', 'dropped')
