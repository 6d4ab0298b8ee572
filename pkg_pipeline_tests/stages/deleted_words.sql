-- The text in everything that can be made of the two messages that will be deleted.
UPDATE interaction_summaries s SET summary = summary || ' The account is ' || %(iban)s::text,
        key_points = key_points || to_jsonb(%(iban)s::text),
    important_messages = important_messages || jsonb_build_array(jsonb_build_object('message_id',
        CASE c.external_id WHEN 'c1' THEN %(gone)s::text ELSE %(in_session)s END, 'content', %(iban)s::text,
        'timestamp', '2025-01-10T10:02:00Z', 'reason', 'important_info'))
FROM interactions i JOIN chats c ON c.id = i.chat_id WHERE i.id = s.interaction_id;
INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language, summary,
        message_ids,
    message_count, source_token_count, summary_token_count, compression_ratio, cost_usd, generation_seconds)
SELECT gen_random_uuid(), s.interaction_id, v.status, 'h', 'p', 'm', 'en', %(iban)s::text, s.message_ids, 6, 1, 1, 1, 0, 0
FROM interaction_summaries s CROSS JOIN (VALUES ('quarantined'), ('candidate')) v (status) WHERE s.status = 'completed';
INSERT INTO items (id, kind, status, text, owner, importance, probability, chat_id, interaction_id, quote, message_ids, first_at,
    last_at)
SELECT CASE c.external_id WHEN 'c1' THEN x.id::uuid ELSE gen_random_uuid() END, x.kind, 'open', 'transfer to ' || %(iban)s::text,
    'self', 'high', 1, c.id, i.id, %(iban)s::text, ARRAY[CASE c.external_id WHEN 'c1' THEN %(gone)s::text ELSE %(in_session)s END],
    i.ended_at, i.ended_at
FROM interactions i JOIN chats c ON c.id = i.chat_id
CROSS JOIN (VALUES ('decision', 'dddddddd-0000-0000-0000-000000000000'), ('action_item', 'aaaaaaaa-0000-0000-0000-000000000000'))
    x (kind, id) WHERE i.status = 'completed';
INSERT INTO item_states (item_id, place, at, event, status, text, owner, probability, decided_by, chat_id, interaction_id, quote,
    message_ids)
SELECT id, 0, first_at, 'opened', status, text, owner, 1, 'memory', chat_id, interaction_id, quote, message_ids FROM items
WHERE quote = %(iban)s::text;
INSERT INTO item_people (item_id, entity_id)
SELECT t.id, p.entity_id FROM items t JOIN interaction_participants p ON p.interaction_id = t.interaction_id AND p.role = 'other'
WHERE t.quote = %(iban)s::text;
INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, interaction_id, quote, message_ids)
SELECT gen_random_uuid(), p.entity_id, 'account', %(iban)s::text, 1, 'confirmed', p.interaction_id, %(iban)s::text,
        ARRAY[%(gone)s::text]
FROM interaction_participants p JOIN interactions i ON i.id = p.interaction_id JOIN chats c ON c.id = i.chat_id
WHERE p.role = 'other' AND c.external_id = 'c1';
INSERT INTO entity_relationship_profiles (entity_id, week, id, as_of, covers_until, input_hash, prompt_version,
        model_version, language,
    relationship_type, frequency, summary, timeline, first_interaction_at, last_interaction_at, total_interactions,
        total_messages,
    summarized_interactions, coverage, milestones, key_decisions, open_action_items, source_token_count, summary_token_count,
        cost_usd,
    generation_seconds)
SELECT p.entity_id, w.week, gen_random_uuid(), w.week + interval '7 days', w.week, 'h', 'p', 'm', 'en', 'client', 'rare',
        'Pays to ' || %(iban)s::text,
       %(iban)s::text, p.started_at, p.ended_at, 1, 6, 1, 1, jsonb_build_array(jsonb_build_object('day', '2025-01-10',
        'title', %(iban)s::text,
       'importance', 'high', 'interaction_ids', jsonb_build_array(p.interaction_id))), '[]', '[]', 1, 1, 0, 0
FROM interaction_participants p JOIN interactions i ON i.id = p.interaction_id JOIN chats c ON c.id = i.chat_id
CROSS JOIN (VALUES ('2025-02-02'::date), ('2025-03-02')) w (week) WHERE p.role = 'other' AND c.external_id = 'c1';
UPDATE session_summaries SET summary = summary || ' The account is ' || %(iban)s::text, topics = topics || %(iban)s::text,
    facts = jsonb_build_array(jsonb_build_object('id', gen_random_uuid(), 'fact_type', 'account', 'value', %(iban)s::text,
        'quote', %(iban)s::text,
        'message_ids', jsonb_build_array(%(in_session)s::text)));
UPDATE conversation_sessions SET running_summary = running_summary || ' The account is ' || %(iban)s::text;
INSERT INTO memory_topics (session_id, topic, mention_count, last_seen_at) SELECT id, %(iban)s::text, 9,
        now() FROM conversation_sessions;
UPDATE llm_calls SET reply = %(iban)s::text
