-- Receipts of served contexts (B11): ids and tokens, never text.

-- name: insert_receipt
INSERT INTO context_receipts (id, entity_id, request, tiers, left_out, tokens, hypothetical_tokens)
VALUES (%(id)s, %(entity_id)s, %(request)s, %(tiers)s, %(left_out)s, %(tokens)s, %(hypothetical_tokens)s)
ON CONFLICT (id) DO NOTHING

-- name: receipt
SELECT id, entity_id, request, tiers, left_out, tokens, hypothetical_tokens, served_at FROM context_receipts WHERE id = %(id)s
