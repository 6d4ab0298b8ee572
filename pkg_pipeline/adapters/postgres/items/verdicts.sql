-- What a person decides about items (B17).

-- name: item
-- With its last verdict.
SELECT i.id AS item_id, i.kind, v.decided_at AS at, v.action, v.status, v.text, v.owner, v.due_date,
       coalesce(v.clear_due_date, false) AS clear_due_date
FROM items i
LEFT JOIN LATERAL (SELECT * FROM item_verdicts v WHERE v.item_id = i.id ORDER BY v.decided_at DESC LIMIT 1) v ON true
WHERE i.id = %(id)s AND NOT i.is_withheld

-- name: keep
INSERT INTO item_verdicts (item_id, kind, chat_id, message_ids, item_text, action, status, text, owner, due_date,
    clear_due_date, decided_at)
SELECT i.id, i.kind, i.chat_id, i.message_ids, i.text, %(action)s, %(status)s, %(text)s, %(owner)s, %(due_date)s,
       %(clear_due_date)s, %(at)s
FROM items i WHERE i.id = %(item_id)s
