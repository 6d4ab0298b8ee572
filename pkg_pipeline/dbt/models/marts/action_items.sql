-- One row per action item over all conversations with its people: who has to do what for whom until when.
with moves as (
    select
        item_id,
        place,
        due_date,
        lead(due_date) over (partition by item_id order by place) as next_due_date,
        lead(place) over (partition by item_id order by place) is null as is_current
    from {{ ref('stg_item_states') }}
),

moved as (
    select
        item_id,
        array_agg(due_date order by place) as due_dates
    from moves
    where due_date is not null and not is_current and due_date is distinct from next_due_date
    group by item_id
),

items as (
    select
        action_items.*,
        owners.name as named_owner,
        me.name as my_name,
        memory_day.today
    from {{ ref('stg_items') }} as action_items
    cross join {{ ref('memory_day') }} as memory_day
    left join {{ source('memory', 'entities') }} as owners on owners.id = action_items.owner_entity_id
    left join lateral (
        select entities.name
        from {{ source('memory', 'interaction_participants') }} as participants
        inner join {{ source('memory', 'entities') }} as entities on entities.id = participants.entity_id
        where participants.interaction_id = action_items.interaction_id and participants.role = 'self'
        order by entities.name, entities.id
        limit 1
    ) as me on true
    where action_items.kind = 'action_item'
),

sided as (
    select
        items.*,
        coalesce(named_owner, owner_name, array_to_string(entity_names, ', ')) as their_name,
        array_to_string(array_remove(entity_names, named_owner), ', ') as other_names
    from items
)

select
    item_id,
    description,
    owner,
    case owner
        when 'self' then my_name
        when 'both' then concat_ws(', ', my_name, nullif(array_to_string(entity_names, ', '), ''))
        else nullif(their_name, '')
    end as owner_name,
    case owner
        when 'self' then nullif(array_to_string(entity_names, ', '), '')
        when 'them' then coalesce(my_name, nullif(other_names, ''))
        else concat_ws(', ', my_name, nullif(array_to_string(entity_names, ', '), ''))
    end as owed_to_name,
    {{ item_state('status') }} as state,
    status,
    probability,
    decided_by,
    due_on,
    coalesce(moved.due_dates, array[]::date[]) as formerly_due_on,
    settled_on as closed_on,
    status = 'open' and coalesce(due_on < today, false) as is_overdue,
    case when status = 'open' and due_on < today then today - due_on end as days_overdue,
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
    message_ids
from sided
left join moved using (item_id)
