-- Action items and decisions that may be shown, as they stand now, each with its chat and interaction.
select
    items.id as item_id,
    items.kind,
    items.text as description,
    items.quote,
    {{ item_status('items') }} as status,
    items.owner,
    items.owner_entity_id,
    items.owner_name,
    items.due_date as due_on,
    items.importance,
    items.probability,
    items.decided_by,
    items.proposed_by,
    items.agreed_by,
    items.superseded_by,
    items.message_ids,
    items.first_at,
    items.last_at,
    {{ local_day('items.first_at') }} as first_on,
    {{ local_day('items.settled_at') }} as settled_on,
    coalesce(concerned.entity_ids, array[]::uuid[]) as entity_ids,
    coalesce(concerned.entity_names, array[]::text[]) as entity_names,
    items.chat_id,
    chats.source as chat_source,
    chats.external_id as chat_external_id,
    chats.title as chat_title,
    items.interaction_id,
    interactions.started_at as interaction_started_at,
    interactions.ended_at as interaction_ended_at,
    summaries.id as summary_id,
    coalesce(readings.input_hash <> interactions.input_hash or not readings.is_checked, false) as is_outdated
from {{ source('memory', 'items') }} as items
inner join {{ source('memory', 'chats') }} as chats on chats.id = items.chat_id
inner join {{ source('memory', 'interactions') }} as interactions on interactions.id = items.interaction_id
left join {{ source('memory', 'interaction_readings') }} as readings on readings.interaction_id = items.interaction_id
left join {{ source('memory', 'interaction_summaries') }} as summaries
    on summaries.interaction_id = items.interaction_id and summaries.status in ('completed', 'dirty')
left join {{ ref('stg_concerned') }} as concerned on concerned.item_id = items.id
where not items.is_withheld
  and not {{ rests_on_deleted('items.chat_id', 'items.message_ids') }}
  and not exists (
      select 1
      from {{ source('memory', 'item_states') }} as states
      where states.item_id = items.id and {{ rests_on_deleted('states.chat_id', 'states.message_ids') }}
  )
