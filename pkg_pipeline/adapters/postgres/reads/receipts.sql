-- Receipts of served contexts (B11): ids and tokens, never text.

-- name: insert_receipt
INSERT INTO context_receipts (id, entity_id, request, tiers, left_out, tokens, hypothetical_tokens)
VALUES (%(id)s, %(entity_id)s, %(request)s, %(tiers)s, %(left_out)s, %(tokens)s, %(hypothetical_tokens)s)
ON CONFLICT (id) DO NOTHING

-- name: receipts
-- The newest.
SELECT r.id, r.entity_id, e.name AS entity_name, r.request, r.tokens, r.served_at
FROM context_receipts r LEFT JOIN entities e ON e.id = r.entity_id
WHERE %(entity)s::uuid IS NULL OR r.entity_id = %(entity)s
ORDER BY r.served_at DESC, r.id
LIMIT %(limit)s

-- name: receipt_ids_between
-- Receipts whose id begins so: by a short form of it.
SELECT id FROM context_receipts WHERE id BETWEEN %(first)s AND %(last)s ORDER BY id LIMIT 2

-- name: receipt
SELECT id, entity_id, request, tiers, left_out, tokens, hypothetical_tokens, served_at FROM context_receipts WHERE id = %(id)s
