-- LLM calls with answers and costs (B6, B8), of every task.

-- name: replay
SELECT reply, input_tokens, output_tokens FROM llm_calls
WHERE request_hash = %(hash)s AND outcome = 'ok' AND reply IS NOT NULL ORDER BY created_at DESC LIMIT 1

-- name: calibration
SELECT token_calibration(%(model)s)

-- name: refuse
-- The one that ``replay`` takes: after a rebuild each answer that was refused is refused again, one after the other.
UPDATE llm_calls SET outcome = 'quarantined', error = %(reason)s
WHERE id = (SELECT id FROM llm_calls WHERE request_hash = %(hash)s AND outcome = 'ok' AND reply IS NOT NULL ORDER BY created_at DESC LIMIT 1)

-- name: revive
-- An answer that was refused is not asked for again either; the gate looks at it once more.
UPDATE llm_calls SET outcome = 'ok', error = NULL
WHERE outcome = 'quarantined' AND reply IS NOT NULL AND (task LIKE 'interaction_summary%%' OR task IN ('conversation_reading', 'relationship_profile'))

-- name: record
WITH call AS (
    INSERT INTO llm_calls (id, request_hash, task, model, prompt_version, lane, outcome, error, request_id, run_id, backfill_id, input_tokens,
        counted_tokens, output_tokens, cache_read_tokens, cache_write_tokens, is_usage_estimated, cost_usd, duration_seconds, reply)
    VALUES (coalesce(%(id)s::uuid, gen_random_uuid()), %(request_hash)s, %(task)s, %(model)s, %(prompt_version)s, %(lane)s, %(outcome)s, %(error)s, %(request_id)s,
        %(run_id)s, %(backfill_id)s, %(input_tokens)s, %(counted_tokens)s, %(output_tokens)s, %(cache_read_tokens)s, %(cache_write_tokens)s, %(estimated)s,
        %(cost_usd)s, %(duration_seconds)s, %(reply)s)
    RETURNING id
)
INSERT INTO llm_call_subjects (call_id, subject_kind, subject_id)
SELECT call.id, g.kind, g.id FROM call CROSS JOIN unnest(%(kind)s::text[], %(subjects)s::uuid[]) AS g (kind, id)
