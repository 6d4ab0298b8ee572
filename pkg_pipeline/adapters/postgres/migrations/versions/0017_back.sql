CREATE OR REPLACE FUNCTION item_status(kind text, status text, due_date date, last_at timestamptz, now timestamptz, today date)
    RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE
        WHEN kind = 'action_item' AND status = 'open'
             AND (due_date < today - 30 AND last_at < now - interval '30 days'
                  OR due_date IS NULL AND last_at < now - interval '60 days')
        THEN 'lapsed' ELSE status END;
COMMENT ON FUNCTION item_status IS
    'B16: an open action item is lapsed 30 days after it was due, without a day 60 days after it was last spoken of.';
