-- A memory of %(interactions)s interactions over ten years before :now for benchmarks/monitoring.py: dialogs in one chat
-- for every five hundred of them, all but a few summarised, one call in the ledger for each summary. No message is made:
-- no figure reads one.

-- name: people
INSERT INTO entities (id, name, name_at)
SELECT md5('entity ' || k)::uuid, 'Person ' || k, %(now)s FROM generate_series(0, %(interactions)s / 500) AS k;
INSERT INTO chats (id, source, external_id, kind, title_at)
SELECT md5('chat ' || k)::uuid, 'telegram', 'personal_chat:' || k, 'direct', %(now)s
FROM generate_series(0, %(interactions)s / 500) AS k

-- name: interactions
INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
                          first_external_id, input_hash)
SELECT md5('talk ' || j)::uuid, md5('chat ' || j / 500)::uuid, at::date, at, at + interval '27 minutes',
       CASE WHEN at > %(now)s::timestamptz - interval '6 hours' THEN 'active' ELSE 'completed' END, 2 + j %% 12, 300, 'ru',
       j || '.0', 'h'
FROM generate_series(0, %(interactions)s - 1) AS j
CROSS JOIN LATERAL (
    SELECT %(now)s::timestamptz - make_interval(secs => abs(hashtext('at ' || j)) / 2147483648.0 * 3650 * 86400.0) AS at
) t

-- name: summaries
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language, summary,
    key_points, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds)
SELECT md5('summary ' || id)::uuid, id, 'completed', 'h', 'interaction_summary/1', 'm', 'ru', repeat('Обсудили сроки. ', 20),
       '["Первая партия задерживается", "Приёмка в конце месяца", "Скидка после второй партии"]',
       ARRAY['1', '2', '3'], message_count, 300, 80, 3.75, 0.002, 1.5
FROM interactions
WHERE ended_at < %(now)s::timestamptz - interval '8 days' AND message_count >= 3 AND abs(hashtext(id::text)) %% 200 <> 7

-- name: items
INSERT INTO items (id, kind, status, text, owner, importance, probability, chat_id, interaction_id, quote, message_ids, first_at,
                   last_at)
SELECT md5(kind || s.id)::uuid, kind, CASE WHEN abs(hashtext(s.id::text)) %% 9 = 0 THEN 'open' ELSE 'done' END,
       'Отправить документы', 'them', 'medium', 1, i.chat_id, i.id, 'q', ARRAY['3'], i.ended_at, i.ended_at
FROM interactions i JOIN interaction_summaries s ON s.interaction_id = i.id, unnest(ARRAY['decision', 'action_item']) AS kind

-- name: attempts
INSERT INTO summary_attempts (interaction_id, input_hash, prompt_version, model_version, attempts, state, last_error)
SELECT i.id, 'h', 'interaction_summary/1', 'm', 3, 'failed', 'the gate let nothing pass'
FROM interactions i
WHERE ended_at < %(now)s::timestamptz - interval '8 days' AND message_count >= 3 AND abs(hashtext(id::text)) %% 2000 = 7

-- name: ledger
INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens, output_tokens, cost_usd,
                       duration_seconds, created_at)
SELECT 'h' || j, 'interaction_summary', 'm', 'interaction_summary/1', CASE WHEN j %% 3 = 0 THEN 'live' ELSE 'backfill' END,
       CASE WHEN j %% 50 = 0 THEN 'quarantined' ELSE 'ok' END, 2000, 300, 0.002, 1.5,
       clock_timestamp() - make_interval(secs => j * 730 * 86400.0 / %(interactions)s)
FROM generate_series(0, %(interactions)s - 1) AS j;
INSERT INTO budgets (day, lane, task, calls, spent_usd)
SELECT day, lane, 'interaction_summary', 20, 0.5
FROM generate_series(CURRENT_DATE - 730, CURRENT_DATE, interval '1 day') AS day, unnest(ARRAY['live', 'backfill']) AS lane

-- name: partitions
INSERT INTO partition_states (asset, partition_key, processed_version, attempts, pending, due_at, resume_at)
SELECT 'interaction_summaries', to_char(day, 'YYYY-MM-DD'), 1, 1, CASE WHEN row_number() OVER (ORDER BY day) %% 3 = 0 THEN 1 ELSE 0 END,
       NULL, clock_timestamp() + interval '1 hour'
FROM (SELECT DISTINCT day FROM interactions) AS days

-- name: marks_of_an_import
-- what a first import leaves: one mark for each chat and day
INSERT INTO dirty_partitions (asset, partition_key, reason, due_at)
SELECT 'interaction_summaries', to_char(day, 'YYYY-MM-DD'), 'interactions changed', min(ended_at)
FROM interactions GROUP BY chat_id, day
