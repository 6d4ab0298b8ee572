-- What a person decides about items (B17).

-- name: kind
-- None of an item that is withheld.
SELECT kind FROM items WHERE id = %(id)s AND NOT is_withheld

-- name: of_item
SELECT item_id, decided_at AS at, action, status, text, owner, due_date, clear_due_date
FROM item_verdicts WHERE item_id = %(id)s ORDER BY decided_at, id

-- name: keep
INSERT INTO item_verdicts (item_id, kind, chat_id, message_ids, item_text, action, status, text, owner, due_date,
    clear_due_date, decided_at)
SELECT i.id, i.kind, i.chat_id, i.message_ids, i.text, %(action)s, %(status)s, %(text)s, %(owner)s, %(due_date)s,
       %(clear_due_date)s, %(at)s
FROM items i WHERE i.id = %(item_id)s
