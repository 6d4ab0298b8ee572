-- Erasing one chat (L8), by its id; each step may be repeated. Locks as in imports: lock of the selves, chats, messages,
-- months of the archive.

-- name: lock_chat
SELECT source, external_id FROM chats WHERE id = %(chat)s FOR UPDATE

-- name: message_keys
-- the id of every interaction of the chat, past ones included, derives from one of these
SELECT external_id FROM messages WHERE chat_id = %(chat)s

-- name: interactions
-- those that exist, or whose texts are still indexed or archived
SELECT id FROM interactions WHERE chat_id = %(chat)s
UNION SELECT interaction_id FROM memory_chunks WHERE chat_id = %(chat)s AND interaction_id IS NOT NULL
UNION SELECT interaction_id FROM archived_messages WHERE chat_id = %(chat)s

-- name: people
-- its present and past members
SELECT entity_id FROM chat_members WHERE chat_id = %(chat)s
UNION SELECT p.entity_id FROM interaction_participants p WHERE p.interaction_id = ANY(%(interactions)s)
UNION SELECT f.entity_id FROM entity_facts f WHERE f.interaction_id = ANY(%(interactions)s) AND f.entity_id IS NOT NULL

-- name: forget_calls
-- Prompts and answers about it; costs stay in the ledger without text.
WITH subjects AS (
    SELECT 'interaction' AS kind, unnest(%(interactions)s::uuid[]) AS id
    UNION ALL SELECT 'session', %(chat)s
    -- talks of other chats that were shown what was said here
    UNION ALL SELECT 'interaction', r.interaction_id FROM interaction_readings r WHERE r.item_ids && %(items)s::uuid[]
    UNION ALL SELECT 'brief', unnest(%(people)s::uuid[])
    UNION ALL SELECT 'profile', r.id FROM entity_relationship_profiles r WHERE r.entity_id = ANY(%(people)s)
), gone AS (
    DELETE FROM llm_call_subjects c USING subjects s WHERE c.subject_kind = s.kind AND c.subject_id = s.id RETURNING c.call_id
)
UPDATE llm_calls l SET reply = NULL, error = NULL, outcome = CASE WHEN l.outcome = 'ok' THEN 'erased' ELSE l.outcome END
FROM (SELECT DISTINCT call_id FROM gone) g WHERE l.id = g.call_id

-- name: forget_batched
-- What is on its way in a message batch: its result is dropped.
WITH gone AS (
    DELETE FROM llm_batch_subjects WHERE subject_kind = 'interaction' AND subject_id = ANY(%(interactions)s) RETURNING item_id
)
UPDATE llm_batch_items SET is_forgotten = true FROM (SELECT DISTINCT item_id FROM gone) g WHERE id = g.item_id

-- name: items
-- Said here, or spoken of here.
SELECT DISTINCT item_id FROM item_states WHERE chat_id = %(chat)s

-- name: lock_items
SELECT pg_advisory_xact_lock(hashtext('items'))

-- name: delete_summaries
DELETE FROM interaction_summaries WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_attempts
DELETE FROM summary_attempts WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_fact_verdicts
DELETE FROM fact_verdicts WHERE chat_id = %(chat)s

-- name: delete_profiles
-- They are based on this chat among others: deleted and recomputed from the rest.
DELETE FROM entity_relationship_profiles WHERE entity_id = ANY(%(people)s)

-- name: delete_profile_attempts
DELETE FROM profile_attempts WHERE entity_id = ANY(%(people)s)

-- name: delete_receipts
-- Receipts of contexts that can no longer be rebuilt.
DELETE FROM context_receipts WHERE entity_id = ANY(%(people)s)

-- name: delete_served
-- Fingerprints of all that was served: whose lines they are of nobody can tell.
DELETE FROM served_lines

-- name: delete_versions
-- What was made of this chat before, also by the steps of erasing it; of its people what rests on it among others.
DELETE FROM past_versions
WHERE chats @> ARRAY[%(chat)s::uuid] OR (kind = 'profile' AND people && %(people)s::uuid[])
   OR (kind = 'item' AND subject_id = ANY(%(items)s::uuid[]))

-- name: delete_session
-- With folds, topics and served windows.
DELETE FROM conversation_sessions WHERE id = %(chat)s

-- name: delete_archived
SELECT remove_copies(array_agg(month), array_agg(message_id)) FROM archived_messages WHERE chat_id = %(chat)s

-- name: delete_holds
DELETE FROM archive_holds WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_backfilled
DELETE FROM backfill_interactions WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_leases
DELETE FROM leases WHERE (kind = 'session' AND subject_id = %(chat)s) OR (kind <> 'session' AND subject_id = ANY(%(interactions)s))

-- name: mark_people
-- Totals and profiles of remaining members become due; marks of the chat are deleted.
WITH stale AS (
    DELETE FROM dirty_partitions WHERE asset = 'interactions' AND partition_key = %(chat)s::text
), totals AS (
    INSERT INTO dirty_partitions (asset, partition_key, reason, from_at)
    SELECT 'entity_days', p.entity_id::text, 'chat erased', min(p.started_at)
    FROM interaction_participants p WHERE p.interaction_id = ANY(%(interactions)s) GROUP BY p.entity_id
)
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT asset, max(partition_key), 'chat erased' FROM partition_states
WHERE asset = 'entity_relationship_profiles' AND cardinality(%(people)s::uuid[]) > 0 GROUP BY asset

-- name: delete_interactions
DELETE FROM interactions WHERE chat_id = %(chat)s

-- name: delete_messages
DELETE FROM messages WHERE chat_id = %(chat)s

-- name: delete_imports
-- An import that contained only this chat is named after it.
DELETE FROM import_batches WHERE file = %(key)s

-- name: hold
-- The same lock as chunk builders, but waiting; released by chunks.release.
SELECT count(*) FROM (SELECT pg_advisory_lock(hashtextextended(id::text, 5)) FROM unnest(%(ids)s::uuid[]) AS g (id)) h

-- name: count
SELECT count(*) FROM interactions WHERE chat_id = %(chat)s

-- name: chunks
SELECT no FROM memory_chunks WHERE chat_id = %(chat)s ORDER BY no LIMIT %(limit)s

-- name: lock_selves
SELECT pg_advisory_xact_lock(7310526)

-- name: delete_members
DELETE FROM chat_members WHERE chat_id = %(chat)s

-- name: delete_chat
DELETE FROM chats WHERE id = %(chat)s

-- name: lonely
-- People mentioned nowhere else, with all their accounts.
SELECT a.id FROM (SELECT DISTINCT person_of(g.id) AS person FROM unnest(%(people)s::uuid[]) AS g (id)) p
JOIN entities a ON a.id = ANY(accounts_of(p.person))
WHERE NOT EXISTS (
    SELECT FROM entities e WHERE e.id = ANY(accounts_of(p.person)) AND (
        EXISTS (SELECT FROM chat_members c WHERE c.entity_id = e.id)
        OR EXISTS (SELECT FROM interaction_participants t WHERE t.entity_id = e.id)
        OR EXISTS (SELECT FROM message_entities m WHERE m.entity_id = e.id)
        OR EXISTS (SELECT FROM entity_facts f WHERE f.entity_id = e.id)))

-- name: delete_identities
DELETE FROM entity_identities WHERE entity_id = ANY(%(lonely)s)

-- name: delete_marks_of
DELETE FROM dirty_partitions WHERE asset = 'entity_days' AND partition_key = ANY(%(lonely)s::uuid[]::text[])

-- name: delete_entities
-- With their totals, name terms and what they were called before.
WITH names AS (DELETE FROM past_versions WHERE people && %(lonely)s::uuid[])
DELETE FROM entities WHERE id = ANY(%(lonely)s)
