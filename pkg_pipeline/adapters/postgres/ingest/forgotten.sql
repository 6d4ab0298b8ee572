-- What may not come in again (B3).

-- name: salt
SELECT value FROM installation WHERE key = 'erasure_salt'

-- name: tombstones
SELECT hash, kind, chat_hash, from_at, to_at FROM tombstones

-- name: near
SELECT hash, kind, chat_hash, from_at, to_at FROM tombstones WHERE chat_hash = %(chat)s OR hash = ANY(%(people)s)
