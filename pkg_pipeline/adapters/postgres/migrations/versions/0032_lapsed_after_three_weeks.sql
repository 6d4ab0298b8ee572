-- What was due three weeks ago, or said six ago, and not spoken of since, is expected by nobody any more (B16).

CREATE OR REPLACE FUNCTION item_status(kind text, status text, due_date date, last_at timestamptz, now timestamptz, today date)
    RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE
        WHEN kind = 'action_item' AND status = 'open'
             AND (due_date < today - 21 AND last_at < now - interval '21 days'
                  OR due_date IS NULL AND last_at < now - interval '42 days')
        THEN 'lapsed' ELSE status END;
COMMENT ON FUNCTION item_status IS
    'B16: an open action item is lapsed 21 days after it was due, without a day 42 days after it was last spoken of.';
