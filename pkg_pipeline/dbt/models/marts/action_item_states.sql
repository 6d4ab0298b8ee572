-- History of each action item: one row per change, over all conversations. Texts are in action_items.
with states as (
    select
        states.item_id,
        states.place,
        coalesce(states.interaction_id, items.interaction_id) as interaction_id,
        states.event,
        states.status,
        states.decided_by,
        states.due_date,
        states.day,
        states.at
    from {{ ref('stg_item_states') }} as states
    inner join {{ ref('stg_items') }} as items on items.item_id = states.item_id
    where items.kind = 'action_item'
),

followed as (
    select
        states.*,
        lead(at) over (partition by item_id order by place) as next_at,
        lead(place) over (partition by item_id order by place) is null as is_current
    from states
)

select
    md5(followed.item_id::text || ':' || (followed.place + 1)::text) as state_id,
    followed.item_id,
    followed.interaction_id,
    summaries.id as summary_id,
    followed.place::bigint + 1 as version,
    followed.event,
    {{ item_state('followed.status') }} as state,
    followed.decided_by,
    followed.due_date as due_on,
    case when followed.status in ('done', 'cancelled') then followed.day end as closed_on,
    followed.at as recorded_from,
    followed.next_at as recorded_to,
    followed.is_current
from followed
left join {{ source('memory', 'interaction_summaries') }} as summaries
    on summaries.interaction_id = followed.interaction_id and summaries.status in ('completed', 'dirty')
