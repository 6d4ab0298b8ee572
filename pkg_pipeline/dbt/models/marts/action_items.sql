-- One row per action item of a live summary: who has to do what for whom until when.
with items as (
    select
        action_items.*,
        coalesce(concerned.entity_ids, array[]::uuid[]) as entity_ids,
        coalesce(concerned.entity_names, array[]::text[]) as entity_names,
        owners.name as named_owner,
        me.name as my_name,
        memory_day.today
    from {{ ref('stg_action_items') }} as action_items
    cross join {{ ref('memory_day') }} as memory_day
    left join {{ ref('stg_concerned') }} as concerned on concerned.item_id = action_items.item_id
    left join {{ source('memory', 'entities') }} as owners on owners.id = action_items.owner_entity_id
    left join lateral (
        select entities.name
        from {{ source('memory', 'interaction_participants') }} as participants
        inner join {{ source('memory', 'entities') }} as entities on entities.id = participants.entity_id
        where participants.interaction_id = action_items.interaction_id and participants.role = 'self'
        order by entities.name, entities.id
        limit 1
    ) as me on true
    where concerned.is_withheld is not true
),

sided as (
    select
        items.*,
        coalesce(named_owner, array_to_string(entity_names, ', ')) as their_name,
        array_to_string(array_remove(entity_names, named_owner), ', ') as other_names
    from items
)

select
    item_id,
    description,
    owner,
    case owner
        when 'self' then my_name
        when 'them' then nullif(their_name, '')
        else concat_ws(', ', my_name, nullif(array_to_string(entity_names, ', '), ''))
    end as owner_name,
    case owner
        when 'self' then nullif(array_to_string(entity_names, ', '), '')
        when 'them' then coalesce(my_name, nullif(other_names, ''))
        else concat_ws(', ', my_name, nullif(array_to_string(entity_names, ', '), ''))
    end as owed_to_name,
    state,
    due_on,
    closed_on,
    state = 'open' and coalesce(due_on < today, false) as is_overdue,
    case when state = 'open' and due_on < today then today - due_on end as days_overdue,
    today as as_of,
    quote,
    entity_ids,
    entity_names,
    chat_id,
    chat_source,
    chat_external_id,
    chat_title,
    interaction_id,
    interaction_started_at,
    interaction_ended_at,
    summary_id,
    is_outdated,
    array(select jsonb_array_elements_text(message_ids)) as message_ids
from sided
