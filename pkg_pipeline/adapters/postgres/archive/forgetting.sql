-- Forgetting on request (B3): what is meant, how much it is, and what erasing.sql does not reach. Each step may be repeated.

-- name: lock_imports
-- No import begins before the tombstones are there to be seen.
LOCK TABLE import_batches IN SHARE ROW EXCLUSIVE MODE

-- name: importing
SELECT count(*) FROM import_batches WHERE status = 'running'

-- name: chat
SELECT id, source, external_id, kind FROM chats WHERE id = %(chat)s

-- name: person
-- Whoever has the account; accounts: all of theirs, the one that stands for them last; names: all they are called.
SELECT e.id, e.is_self, (accounts_of(e.id))[2:] || e.id AS accounts, names_of(e.id) AS names
FROM entities e WHERE e.id = person_of(%(person)s)

-- name: identities
SELECT source, external_id FROM entity_identities WHERE entity_id = ANY(%(people)s) ORDER BY 1, 2

-- name: own_chats
-- Chats with nobody else but oneself.
SELECT c.id FROM chats c
WHERE EXISTS (SELECT FROM chat_members m WHERE m.chat_id = c.id AND m.entity_id = ANY(%(people)s))
  AND NOT EXISTS (
      SELECT FROM chat_members m JOIN entities e ON e.id = m.entity_id
      WHERE m.chat_id = c.id AND m.entity_id <> ALL(%(people)s) AND NOT e.is_self
  )
ORDER BY c.id

-- name: said_elsewhere
-- Messages of a person in other chats.
SELECT chat_id, id FROM messages
WHERE chat_id <> ALL(%(chats)s) AND sender_entity_id = ANY(%(people)s) ORDER BY chat_id, id

-- name: naming
-- Messages of others that say a name in full.
SELECT m.chat_id, m.id
FROM messages m LEFT JOIN archived_messages a ON a.message_id = m.id AND m.is_archived
WHERE m.chat_id <> ALL(%(chats)s) AND coalesce(m.sender_entity_id <> ALL(%(people)s), true)
  AND coalesce(a.content, m.content) ILIKE ANY(%(naming)s)

-- name: near
-- Messages of others that belong to the person in a group (P34), for they name, answer or stand beside.
SELECT m.chat_id, m.id, coalesce(a.content, m.content) AS text
FROM message_entities e JOIN messages m ON m.id = e.message_id LEFT JOIN archived_messages a ON a.message_id = m.id AND m.is_archived
WHERE e.entity_id = ANY(%(people)s) AND m.chat_id <> ALL(%(chats)s) AND coalesce(m.sender_entity_id <> ALL(%(people)s), true)
ORDER BY m.chat_id, m.id

-- name: members
SELECT m.entity_id, names_of(m.entity_id) AS names FROM chat_members m
WHERE m.chat_id = %(chat)s AND m.entity_id <> ALL(%(people)s)

-- name: in_range
SELECT id FROM messages WHERE chat_id = %(chat)s AND sent_at BETWEEN %(from_at)s AND %(to_at)s ORDER BY id

-- name: of_key
SELECT id FROM messages WHERE chat_id = %(chat)s AND external_id = %(message)s

-- name: keys
-- What tombstones of messages are made from.
SELECT c.source, c.external_id AS chat, m.external_id AS message
FROM messages m JOIN chats c ON c.id = m.chat_id
WHERE m.chat_id = ANY(%(chats)s) OR m.id = ANY(%(ids)s)

-- name: count
-- How much there is of it.
WITH said AS (
    SELECT id FROM messages WHERE chat_id = ANY(%(chats)s) OR id = ANY(%(ids)s)
), talks AS (
    SELECT id FROM interactions WHERE chat_id = ANY(%(chats)s)
    UNION SELECT i.id FROM messages m JOIN interactions i ON i.id = interaction_of(m.kind, m.chat_id, m.sent_at) WHERE m.id = ANY(%(ids)s)
), folds AS (
    SELECT id FROM session_summaries WHERE session_id = ANY(%(chats)s) OR message_ids && %(ids)s::bigint[]
)
SELECT (SELECT count(*) FROM said) AS messages,
       (SELECT count(*) FROM message_revisions r JOIN said ON said.id = r.message_id) AS revisions,
       (SELECT count(*) FROM archived_messages a JOIN said ON said.id = a.message_id) AS archived,
       (SELECT count(*) FROM talks) AS interactions,
       (SELECT count(*) FROM interaction_summaries s JOIN talks ON talks.id = s.interaction_id) AS summaries,
       (SELECT count(DISTINCT t.item_id) FROM item_states t JOIN talks ON talks.id = t.interaction_id) AS items,
       (SELECT count(*) FROM entity_facts f
        WHERE f.interaction_id IN (SELECT id FROM talks) OR f.entity_id = ANY(%(people)s) OR f.told_by = ANY(%(people)s)) AS facts,
       (SELECT count(*) FROM entity_relationship_profiles p WHERE p.entity_id = ANY(%(people)s)) AS profiles,
       (SELECT count(*) FROM memory_chunks c WHERE c.interaction_id IN (SELECT id FROM talks) OR c.chat_id = ANY(%(chats)s)) AS chunks,
       (SELECT count(*) FROM folds) AS folds,
       cardinality(%(people)s::uuid[]) AS people,
       cardinality(%(chats)s::uuid[]) AS chats

-- name: begin
INSERT INTO erasures (id, kind, state, plan, counts, digest, requested_by, requested_at)
VALUES (%(id)s, %(kind)s, 'running', %(plan)s, %(counts)s, %(digest)s, %(by)s, %(at)s)
ON CONFLICT (id) DO NOTHING

-- name: keep_out
INSERT INTO tombstones (hash, erasure_id, kind, chat_hash, from_at, to_at)
SELECT DISTINCT ON (hash) hash, %(id)s, kind, chat_hash, from_at, to_at
FROM unnest(%(hash)s::text[], %(kind)s::text[], %(chat_hash)s::text[], %(from_at)s::timestamptz[], %(to_at)s::timestamptz[])
    AS g (hash, kind, chat_hash, from_at, to_at)
ON CONFLICT DO NOTHING

-- name: unfinished
SELECT id, kind, plan, counts, digest, requested_by, requested_at FROM erasures WHERE state = 'running' ORDER BY requested_at, id

-- name: finish
UPDATE erasures SET state = 'done', plan = NULL, counts = %(counts)s, finished_at = %(at)s WHERE id = %(id)s

-- name: receipts
SELECT id, kind, state, counts, digest, requested_by, requested_at, finished_at FROM erasures ORDER BY requested_at DESC, id

-- name: receipt
SELECT id, kind, state, counts, digest, requested_by, requested_at, finished_at FROM erasures WHERE id = %(id)s

-- name: lift
DELETE FROM tombstones WHERE erasure_id = %(id)s

-- name: kept_out
SELECT count(*) FROM tombstones WHERE erasure_id = %(id)s

-- name: talks_of
-- Conversations that hold, or held, these messages.
SELECT i.id FROM messages m JOIN interactions i ON i.id = interaction_of(m.kind, m.chat_id, m.sent_at) WHERE m.id = ANY(%(ids)s)
UNION SELECT interaction_id FROM archived_messages WHERE message_id = ANY(%(ids)s)

-- name: standing_talks
SELECT id FROM interactions WHERE chat_id = %(chat)s

-- name: external_ids
SELECT external_id FROM messages WHERE id = ANY(%(ids)s)

-- name: items_on
-- Items that rest on a message.
SELECT DISTINCT item_id FROM item_states WHERE chat_id = %(chat)s AND message_ids && %(keys)s::text[]

-- name: items_of
SELECT DISTINCT item_id FROM item_states WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_readings
DELETE FROM interaction_readings WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_reading_attempts
DELETE FROM reading_attempts WHERE interaction_id = ANY(%(interactions)s)

-- name: delete_verdicts
DELETE FROM item_verdicts WHERE item_id = ANY(%(resting)s) OR (chat_id = %(chat)s AND message_ids && %(keys)s::text[])

-- name: delete_fact_verdicts
DELETE FROM fact_verdicts WHERE chat_id = %(chat)s AND message_ids && %(keys)s::text[]

-- name: delete_copies
SELECT remove_copies(array_agg(month), array_agg(message_id)) FROM archived_messages WHERE message_id = ANY(%(ids)s)

-- name: empty_folds
-- A fold sees those before it, so all from there on go; their ranges stand until the session is folded anew.
UPDATE session_summaries
SET summary = '', facts = '[]', decisions = '[]', open_questions = '[]', topics = '{}', quarantined = '[]',
    status = CASE status WHEN 'superseded' THEN status ELSE 'dirty' END,
    dirty_reason = CASE status WHEN 'superseded' THEN dirty_reason ELSE 'deleted' END
WHERE session_id = %(chat)s AND to_message_id >= (SELECT min(id) FROM unnest(%(ids)s::bigint[]) AS g (id))

-- name: empty_session
UPDATE conversation_sessions s SET running_summary = '', running_token_count = 0, running_fold_id = NULL,
    dirty_folds = (SELECT count(*) FROM session_summaries f WHERE f.session_id = s.id AND f.status = 'dirty')
WHERE id = %(chat)s

-- name: delete_topics
DELETE FROM memory_topics WHERE session_id = %(chat)s

-- name: delete_messages
DELETE FROM messages WHERE id = ANY(%(ids)s)

-- name: mark_chat
-- What is left is cut, read, summarised and searched anew.
INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)
SELECT 'interactions', m.chat_id::text, 'messages forgotten', min(m.sent_at), max(m.sent_at)
FROM messages m WHERE m.chat_id = %(chat)s GROUP BY m.chat_id

-- name: mark_days
INSERT INTO dirty_partitions (asset, partition_key, reason)
SELECT DISTINCT asset, day_key(i.day), 'messages forgotten'
FROM interactions i CROSS JOIN unnest('{interaction_summaries,memory_chunks}'::text[]) AS a (asset)
WHERE i.chat_id = %(chat)s

-- name: leave_chats
DELETE FROM chat_members WHERE entity_id = %(person)s

-- name: unname_messages
DELETE FROM message_entities WHERE entity_id = %(person)s

-- name: leave_talks
DELETE FROM interaction_participants WHERE entity_id = %(person)s

-- name: unname_forwards
UPDATE messages SET forwarded_from = NULL WHERE forwarded_from = ANY(names_of(%(person)s))

-- name: delete_facts_of
DELETE FROM entity_facts WHERE entity_id = %(person)s OR told_by = %(person)s

-- name: delete_fact_verdicts_of
DELETE FROM fact_verdicts WHERE entity_id = %(person)s OR told_by = %(person)s

-- name: unname_items
DELETE FROM item_people WHERE entity_id = %(person)s

-- name: delete_profiles_of
DELETE FROM entity_relationship_profiles WHERE entity_id = %(person)s

-- name: delete_profile_attempts_of
DELETE FROM profile_attempts WHERE entity_id = %(person)s

-- name: delete_versions_of
DELETE FROM past_versions WHERE people @> ARRAY[%(person)s::uuid]

-- name: delete_receipts_of
DELETE FROM context_receipts WHERE entity_id = %(person)s

-- name: delete_marks_of
DELETE FROM dirty_partitions WHERE asset = 'entity_days' AND partition_key = %(person)s::text

-- name: delete_identities_of
DELETE FROM entity_identities WHERE entity_id = %(person)s

-- name: delete_person
DELETE FROM entities WHERE id = %(person)s AND NOT is_self

-- name: delete_organizations
-- Where nobody works any more.
DELETE FROM organizations o WHERE NOT EXISTS (SELECT FROM entities e WHERE e.organization_id = o.id)

-- name: tables
-- Every table of the memory that can hold words, and of LangGraph and Dagster beside it; partitions by themselves.
SELECT n.nspname AS schema, c.relname AS name
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\_%%' AND n.nspname <> 'information_schema'
ORDER BY 1, 2

-- name: owns_server
SELECT rolsuper FROM pg_roles WHERE rolname = current_user

-- name: drop_samples
-- ANALYZE makes them anew, but not of tables without rows.
DELETE FROM pg_catalog.pg_statistic s USING pg_class c
WHERE c.oid = s.starelid AND c.relnamespace = %(schema)s::regnamespace

-- name: switch_log
SELECT pg_switch_wal()

-- name: checkpoint
CHECKPOINT

-- name: log_files_ahead
SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_lsn())
