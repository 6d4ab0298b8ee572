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
INSERT INTO messages (chat_id, sender_entity_id, interaction_id, sent_at, exported_at, token_count, importance_score,
                      is_outgoing, external_id, content, content_hash)
SELECT t.chat_id, CASE WHEN mine THEN md5('me')::uuid ELSE md5(%(name)s)::uuid END, t.id, t.at + m * interval '5 minutes',
       now(), 30, 0.2, mine, t.n || '.' || m, 'Text number ' || t.n || ' of the talk, about this and that', 'h'
FROM talk t, generate_series(0, 5) AS m, LATERAL (SELECT CASE WHEN %(spoken)s THEN m %% 2 = 1 ELSE m = 1 END AS mine) o;
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language, summary,
    key_points, message_ids, message_count, source_token_count, summary_token_count, compression_ratio, cost_usd,
    generation_seconds)
SELECT md5('summary ' || id)::uuid, id, 'completed', 'h', 'p', 'offline', 'en',
       'They talked about number ' || n || ' and agreed on how to go on with it.',
       (%(points)s::jsonb)->(n %% 500)::int, ARRAY[n || '.0'], 6, 180, 80, 2.25, 0, 0.1 FROM talk;
INSERT INTO summary_items (item_id, entity_id, interaction_id, summary_id, kind, at, decided_on, importance, owner, status,
                           due_date, closed_at, description, quote, message_ids)
SELECT md5(kind || id)::uuid, md5(%(name)s)::uuid, id, md5('summary ' || id)::uuid, kind, at + interval '25 minutes',
       CASE WHEN kind = 'decision' THEN at::date END, CASE WHEN kind = 'decision' THEN CASE WHEN n %% 5 = 0 THEN 'high' ELSE 'low' END END,
       CASE WHEN kind = 'action_item' THEN 'them' END,
       CASE WHEN kind = 'action_item' THEN CASE WHEN n %% 9 = 0 THEN 'open' ELSE 'closed' END END, at::date + 14,
       CASE WHEN kind = 'action_item' AND n %% 9 > 0 THEN at::date + 10 END, kind || ' number ' || n, 'q', ARRAY[n || '.3']
FROM talk, unnest(ARRAY['decision', 'action_item']) AS kind WHERE %(spoken)s
