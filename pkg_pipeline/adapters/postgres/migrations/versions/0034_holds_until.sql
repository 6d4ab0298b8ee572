-- A decision that has probably run its course is over (B17): a visit after its day, a job's price once it is paid.

ALTER TABLE items ADD COLUMN holds_until date;
COMMENT ON COLUMN items.holds_until IS 'the last day on which a decision is probably of use';

CREATE FUNCTION item_status_until(
    kind text, status text, due_date date, holds_until date, last_at timestamptz, now timestamptz, today date
) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE
        WHEN kind = 'decision' AND status = 'open' AND holds_until < today AND coalesce(due_date < today, true)
        THEN 'lapsed' ELSE item_status(kind, status, due_date, last_at, now, today) END;
COMMENT ON FUNCTION item_status_until IS
    'B16, B17: as item_status(); an open decision is lapsed after the last day on which it is probably of use.';
