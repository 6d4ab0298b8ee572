-- Money taken for a call that is under way, until its cost is in the ledger.

CREATE TABLE budget_reservations (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),   -- the ledger row's as well, where nobody comes back to settle it
    day date NOT NULL,
    lane text NOT NULL,
    task text NOT NULL,                              -- whose budget pays
    asked_task text NOT NULL,                        -- what was asked: that task or a part of it
    usd numeric(12, 6) NOT NULL,                     -- the most it can cost
    subject_kind text NOT NULL,
    subject_id uuid NOT NULL,
    request_hash text NOT NULL,
    model text NOT NULL,
    prompt_version text NOT NULL,
    run_id text,
    backfill_id uuid,
    taken_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL                  -- after that the asker is taken for dead
);
CREATE INDEX budget_reservations_expiry ON budget_reservations (lane, expires_at);

-- Calls in a row, of the last day, that went out and brought no whole answer. Refusals that cost nothing do not count.
CREATE VIEW unanswered_calls AS
SELECT l.lane, count(c.id)::int AS calls, max(c.created_at) AS last_at
FROM (VALUES ('live'), ('backfill')) l(lane)
LEFT JOIN llm_calls c ON c.lane = l.lane AND c.outcome = 'unknown'
    AND c.created_at > clock_timestamp() - interval '1 day'
    AND c.created_at > coalesce((
        SELECT a.created_at FROM llm_calls a WHERE a.lane = l.lane AND a.outcome NOT IN ('unknown', 'unavailable')
        ORDER BY a.created_at DESC LIMIT 1), '-infinity')
GROUP BY l.lane;
