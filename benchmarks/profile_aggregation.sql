-- One person with so many talks of six messages, for profile_aggregation.py. Not spoken: one message of mine in each, no
-- decision, no item.
INSERT INTO entities (id, name, name_at, is_self) VALUES (md5('me')::uuid, 'Me', now(), true) ON CONFLICT DO NOTHING;
INSERT INTO entities (id, name, name_at) VALUES (md5(%(name)s)::uuid, %(name)s, now());
INSERT INTO chats (id, source, external_id, kind, title_at) VALUES (md5('chat ' || %(name)s)::uuid, 'b', %(name)s, 'direct', now());
CREATE TEMP TABLE talk ON COMMIT DROP AS
SELECT n, md5(%(name)s || ' talk ' || n)::uuid AS id, md5('chat ' || %(name)s)::uuid AS chat_id,
       timestamptz '2021-06-01 10:00Z' + n * interval '1800 days' / %(count)s AS at FROM generate_series(0, %(count)s - 1) AS n;
INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count, language,
                          first_external_id, input_hash)
SELECT id, chat_id, at::date, at, at + interval '25 minutes', 'completed', 6, 180, 'en', n || '.0', 'h' FROM talk;
INSERT INTO interaction_participants
SELECT t.id, who, CASE WHEN who = md5('me')::uuid THEN 'self' ELSE 'other' END, 6, 180, t.at, t.at + interval '25 minutes'
FROM talk t, unnest(ARRAY[md5(%(name)s)::uuid, md5('me')::uuid]) AS who;
INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score,
                      is_outgoing, external_id, content, content_hash)
SELECT t.chat_id, CASE WHEN mine THEN md5('me')::uuid ELSE md5(%(name)s)::uuid END, t.at + m * interval '5 minutes',
       now(), 30, 0.2, mine, t.n || '.' || m, 'Text number ' || t.n || ' of the talk, about this and that', 'h'
FROM talk t, generate_series(0, 5) AS m, LATERAL (SELECT CASE WHEN %(spoken)s THEN m %% 2 = 1 ELSE m = 1 END AS mine) o;
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language, summary,
    key_points, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds)
SELECT md5('summary ' || id)::uuid, id, 'completed', 'h', 'p', 'offline', 'en',
       'They talked about number ' || n || ' and agreed on how to go on with it.',
       (%(points)s::jsonb)->(n %% 500)::int, ARRAY[n || '.0'], 6, 180, 80, 2.25, 0, 0.1 FROM talk;
CREATE TEMP TABLE said ON COMMIT DROP AS
SELECT md5(kind || t.id)::uuid AS id, kind, t.id AS talk, t.chat_id, t.at + interval '25 minutes' AS at, t.n,
       CASE WHEN kind = 'decision' AND n %% 5 = 0 THEN 'high' ELSE 'low' END AS importance,
       CASE WHEN kind = 'action_item' AND n %% 9 > 0 THEN t.at + interval '10 days' END AS done_at,
       kind || ' number ' || n AS text, ARRAY[n || '.3'] AS message_ids
FROM talk t, unnest(ARRAY['decision', 'action_item']) AS kind WHERE %(spoken)s;
INSERT INTO items (id, kind, status, text, owner, due_date, importance, probability, chat_id, interaction_id, quote, message_ids,
                   first_at, last_at, settled_at)
SELECT id, kind, CASE WHEN done_at IS NULL THEN 'open' ELSE 'done' END, text, 'them',
       CASE WHEN kind = 'action_item' THEN at::date + 14 END, importance, 1, chat_id, talk, 'q', message_ids, at,
       coalesce(done_at, at), done_at FROM said;
INSERT INTO item_people (item_id, entity_id) SELECT id, md5(%(name)s)::uuid FROM said;
INSERT INTO item_states (item_id, place, at, event, status, text, owner, probability, decided_by, chat_id, interaction_id, quote,
                         message_ids)
SELECT id, place, CASE place WHEN 0 THEN at ELSE done_at END, CASE place WHEN 0 THEN 'opened' ELSE 'done' END,
       CASE place WHEN 0 THEN 'open' ELSE 'done' END, text, 'them', 1, 'memory', chat_id, talk, 'q', message_ids
FROM said, generate_series(0, 1) AS place WHERE place = 0 OR done_at IS NOT NULL
