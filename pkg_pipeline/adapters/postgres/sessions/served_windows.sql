-- Served windows (T3): ids and tokens, no text.

-- name: insert_served_window
-- the session may have been deleted
INSERT INTO served_windows (id, session_id, strategy, model, prompt_tokens, hypothetical_tokens, budget, tiers, left_out)
SELECT %(id)s, s.id, %(strategy)s, %(model)s, %(prompt_tokens)s, %(hypothetical_tokens)s, %(budget)s, %(tiers)s, %(left_out)s
FROM conversation_sessions s WHERE s.id = %(session)s
ON CONFLICT (id) DO NOTHING

-- name: record_usage
-- usage reported by a model, for the last window unless it has its report
UPDATE served_windows
SET reported_prompt_tokens = %(input_tokens)s, completion_tokens = %(output_tokens)s,
    cost_usd = coalesce(%(cost_usd)s, cost_usd), model = coalesce(%(model)s, model)
WHERE id = (SELECT id FROM served_windows WHERE session_id = %(session)s ORDER BY served_at DESC, id LIMIT 1)
  AND reported_prompt_tokens IS NULL
RETURNING id, model

-- name: price
UPDATE served_windows SET cost_usd = %(cost_usd)s WHERE id = %(id)s
