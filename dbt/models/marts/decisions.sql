-- One row a decision of a live summary. A decision that rests on a message deleted at its source is withheld.
with live as (
    select
        summaries.id as summary_id,
        summaries.interaction_id,
        summaries.status as summary_status,
        decision.*
    from {{ source('memory', 'interaction_summaries') }} as summaries
    cross join lateral jsonb_to_recordset(summaries.decisions) as decision (
        id uuid, description text, date date, importance text, quote text, message_ids jsonb
    )
    where summaries.status in ('completed', 'dirty')
),

-- who it concerns; a decision among several people has several
concerned as (
    select
        items.item_id,
        array_agg(items.entity_id order by entities.name, items.entity_id) as entity_ids,
        array_agg(entities.name order by entities.name, items.entity_id) as entity_names
    from {{ source('memory', 'summary_items') }} as items
    inner join {{ source('memory', 'entities') }} as entities on entities.id = items.entity_id
    where items.kind = 'decision'
    group by items.item_id
)

select
    live.id as decision_id,
    live.description,
    live.date as decided_on,
    live.importance,
    live.quote,
    chats.id as chat_id,
    chats.source as chat_source,
    chats.external_id as chat_external_id,
    chats.title as chat_title,
    coalesce(concerned.entity_ids, array[]::uuid[]) as entity_ids,
    coalesce(concerned.entity_names, array[]::text[]) as entity_names,
    live.interaction_id,
    interactions.started_at as interaction_started_at,
    interactions.ended_at as interaction_ended_at,
    live.summary_id,
    live.summary_status = 'dirty' as is_outdated,
    array(select jsonb_array_elements_text(live.message_ids)) as message_ids
from live
inner join {{ source('memory', 'interactions') }} as interactions on interactions.id = live.interaction_id
inner join {{ source('memory', 'chats') }} as chats on chats.id = interactions.chat_id
left join concerned on concerned.item_id = live.id
where not exists (
    select 1
    from {{ source('memory', 'messages') }} as messages
    where messages.chat_id = interactions.chat_id
      and messages.deleted_at is not null
      and messages.external_id in (select jsonb_array_elements_text(live.message_ids))
)
