-- Leases of any kind (W4), renewed and released by token.

-- name: take
SELECT subject_id, token FROM take_leases(%(kind)s, %(ids)s, %(holder)s, %(lease)s)

-- name: renew
-- Returns those that were still held.
UPDATE leases l SET expires_at = clock_timestamp() + make_interval(secs => %(lease)s)
FROM unnest(%(ids)s::uuid[], %(tokens)s::bigint[]) AS g (id, token)
WHERE l.kind = %(kind)s AND l.subject_id = g.id AND l.token = g.token
RETURNING l.subject_id

-- name: take_over
-- With new tokens: what waits for a batch passes to the one who reads its results, and only once.
UPDATE leases l SET token = nextval('lease_tokens'), holder = %(holder)s,
    expires_at = clock_timestamp() + make_interval(secs => %(lease)s)
FROM unnest(%(ids)s::uuid[], %(tokens)s::bigint[]) AS g (id, token)
WHERE l.kind = %(kind)s AND l.subject_id = g.id AND l.token = g.token
RETURNING l.subject_id, l.token

-- name: give_back
-- Returns those that were still held.
DELETE FROM leases l USING unnest(%(ids)s::uuid[], %(tokens)s::bigint[]) AS g (id, token)
WHERE l.kind = %(kind)s AND l.subject_id = g.id AND l.token = g.token RETURNING l.subject_id

-- name: holds
SELECT token FROM leases WHERE kind = %(kind)s AND subject_id = %(id)s AND token = %(token)s FOR UPDATE
