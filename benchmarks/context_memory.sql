-- A synthetic memory for benchmarks/context_latency.py. plan(k, messages) says how much each entity has; k < 0 are the
-- probes, of equal size in every database. Dialogs of ten messages spread evenly over two years before :now.

-- name: entities
INSERT INTO entities (id, name, name_at, is_self)
SELECT md5('entity ' || k)::uuid, CASE WHEN k = 0 THEN 'Me' ELSE 'Person ' || k END, %(now)s, k = 0 FROM plan;
INSERT INTO entity_identities SELECT 'telegram', 'user' || k, md5('entity ' || k)::uuid FROM plan;
INSERT INTO chats (id, source, external_id, kind, title, title_at)
SELECT md5('chat ' || k)::uuid, 'telegram', 'personal_chat:' || k, 'direct', 'Person ' || k, %(now)s FROM plan WHERE k <> 0;
INSERT INTO chat_members
SELECT md5('chat ' || k)::uuid, md5('entity ' || who)::uuid FROM plan, unnest(ARRAY[k, 0]) AS who WHERE k <> 0

-- name: interactions
CREATE TEMP TABLE talk AS
SELECT k, j, md5('talk ' || k || ' ' || j)::uuid AS id, md5('chat ' || k)::uuid AS chat_id,
       %(now)s::timestamptz - interval '3 hours' - make_interval(secs => (j + abs(hashtext(k || ' at ' || j)) / 2147483648.0) * 730 * 86400.0 / (messages / 10)) AS started_at
FROM plan, generate_series(0, messages / 10 - 1) AS j WHERE k <> 0;
INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
                          first_external_id, input_hash)
SELECT id, chat_id, started_at::date, started_at, started_at + interval '27 minutes', 'completed', 10, 300, 'ru', j || '.0', 'h'
FROM talk;
INSERT INTO interaction_participants
SELECT t.id, md5('entity ' || who)::uuid, CASE WHEN who = 0 THEN 'self' ELSE 'other' END, 10, 300, t.started_at,
       t.started_at + interval '27 minutes'
FROM talk t, unnest(ARRAY[t.k, 0]) AS who

-- name: messages
INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,
                      is_outgoing, external_id, content, content_hash)
SELECT t.chat_id, md5('entity ' || CASE WHEN n %% 2 = 0 THEN t.k ELSE 0 END)::uuid,
       t.started_at + n * interval '3 minutes', %(now)s, 30, (abs(hashtext(t.j || ' ' || n)) %% 10) / 10.0, n %% 2 = 1,
       t.j || '.' || n,
       (%(sentences)s::text[])[1 + abs(hashtext(t.k || ' ' || t.j || ' ' || n)) %% %(count)s] || ' ' || t.j || '.' || n, 'h'
FROM talk t, generate_series(0, 9) AS n
ORDER BY t.started_at, n

-- name: summaries
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language, summary,
    message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd, generation_seconds)
SELECT md5('summary ' || id)::uuid, id, 'completed', 'h', 'p', 'offline', 'ru',
       %(summary)s::text || ' ' || k || '.' || j, ARRAY[j || '.0', j || '.1'], 10, 300, 80, 3.75, 0, 0.1
FROM talk WHERE started_at < %(now)s::timestamptz - interval '8 days' AND j %% 20 <> 7;
INSERT INTO items (id, kind, status, text, owner, due_date, importance, probability, chat_id, interaction_id, quote,
                   message_ids, first_at, last_at, settled_at)
SELECT md5('decision ' || t.id)::uuid, 'decision', 'open', 'Договорились о поставке номер ' || j, 'both', NULL,
       CASE WHEN j %% 10 = 0 THEN 'high' WHEN j %% 10 < 7 THEN 'medium' ELSE 'low' END, 1, chat_id, id, 'q',
       ARRAY[j || '.3'], t.started_at + interval '27 minutes', t.started_at + interval '27 minutes', NULL
FROM talk t WHERE started_at < %(now)s::timestamptz - interval '8 days';
INSERT INTO items (id, kind, status, text, owner, due_date, importance, probability, chat_id, interaction_id, quote,
                   message_ids, first_at, last_at, settled_at)
SELECT md5('action ' || t.id)::uuid, 'action_item', CASE WHEN j %% 9 = 0 THEN 'open' ELSE 'done' END,
       'Отправить документы по поставке ' || j, CASE WHEN j %% 2 = 0 THEN 'self' ELSE 'them' END, t.started_at::date + 14,
       'medium', 1, chat_id, id, 'q', ARRAY[j || '.4'], t.started_at + interval '27 minutes',
       t.started_at + CASE WHEN j %% 9 = 0 THEN interval '27 minutes' ELSE interval '10 days' END,
       CASE WHEN j %% 9 = 0 THEN NULL ELSE t.started_at + interval '10 days' END
FROM talk t WHERE started_at < %(now)s::timestamptz - interval '8 days';
INSERT INTO item_people (item_id, entity_id)
SELECT md5(kind || id)::uuid, md5('entity ' || k)::uuid FROM talk, unnest(ARRAY['decision ', 'action ']) AS kind
WHERE started_at < %(now)s::timestamptz - interval '8 days';
INSERT INTO item_states (item_id, place, at, event, status, text, owner, due_date, probability, decided_by, chat_id, quote,
                         message_ids)
SELECT i.id, s.place, CASE s.place WHEN 0 THEN i.first_at ELSE i.last_at END, CASE s.place WHEN 0 THEN 'opened' ELSE 'done' END,
       CASE s.place WHEN 0 THEN 'open' ELSE i.status END, i.text, i.owner, i.due_date, 1, 'memory', i.chat_id, i.quote,
       i.message_ids
FROM items i, generate_series(0, CASE WHEN i.settled_at IS NULL THEN 0 ELSE 1 END) AS s (place);
INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, valid_from, quote, message_ids)
SELECT md5('fact ' || k || kind)::uuid, md5('entity ' || k)::uuid, kind, kind || ' of ' || k, 1, 'confirmed',
       %(now)s::timestamptz - interval '300 days', 'q', ARRAY['0.0']
FROM plan, unnest(ARRAY['birthday', 'city', 'email', 'phone', 'position']) AS kind

-- name: groups
-- every ten entities share a group that talked on each of the last thirty days; half of it belongs to each of them
CREATE TEMP TABLE team AS
SELECT g, d, md5('group ' || g)::uuid AS chat_id, md5('team talk ' || g || ' ' || d)::uuid AS id,
       %(now)s::timestamptz - interval '90 minutes' - d * interval '1 day' AS started_at
FROM (SELECT DISTINCT abs(k) / 10 * sign(k + 0.5)::int AS g FROM plan WHERE k <> 0) AS teams, generate_series(0, 29) AS d;
INSERT INTO chats (id, source, external_id, kind, title, title_at)
SELECT DISTINCT chat_id, 'telegram', 'group:' || g, 'group', 'Team ' || g, %(now)s::timestamptz FROM team;
INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
                          first_external_id, input_hash)
SELECT id, chat_id, started_at::date, started_at, started_at + interval '9 minutes', 'completed', 10, 300, 'ru', d || '.0', 'h'
FROM team;
INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,
                      is_outgoing, external_id, content, content_hash)
SELECT t.chat_id, md5('entity ' || (SELECT k FROM plan WHERE abs(k) / 10 * sign(k + 0.5)::int = t.g AND k <> 0 LIMIT 1))::uuid,
       t.started_at + n * interval '1 minute', %(now)s, 30, 0.1, false, t.d || '.' || n,
       (%(sentences)s::text[])[1 + abs(hashtext(t.g || ' ' || t.d || ' ' || n)) %% %(count)s], 'h'
FROM team t, generate_series(0, 9) AS n;
INSERT INTO interaction_participants
SELECT t.id, md5('entity ' || p.k)::uuid, 'other', 5, 150, t.started_at, t.started_at + interval '9 minutes'
FROM team t JOIN plan p ON abs(p.k) / 10 * sign(p.k + 0.5)::int = t.g AND p.k <> 0;
INSERT INTO message_entities
SELECT md5('entity ' || p.k)::uuid, m.id, t.id, m.sent_at
FROM team t JOIN plan p ON abs(p.k) / 10 * sign(p.k + 0.5)::int = t.g AND p.k <> 0
JOIN messages m ON m.chat_id = t.chat_id AND m.sent_at BETWEEN t.started_at AND t.started_at + interval '9 minutes' AND right(m.external_id, 1)::int %% 2 = 0

-- name: totals
INSERT INTO entity_days
SELECT entity_id, day, messages, tokens, sum(messages) OVER w, sum(tokens) OVER w FROM (
    SELECT entity_id, (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages, sum(token_count) AS tokens
    FROM interaction_participants GROUP BY 1, 2) AS days
WINDOW w AS (PARTITION BY entity_id ORDER BY day)
