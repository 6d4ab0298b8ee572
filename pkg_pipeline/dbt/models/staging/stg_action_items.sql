-- The action items of live summaries that may be shown.
select
    item.id as item_id,
    item.description,
    item.quote,
    item.owner,
    item.owner_entity_id,
    item.status as state,
    item.due_date as due_on,
    item.closed_at as closed_on,
    item.message_ids,
    summaries.*
from {{ ref('stg_live_summaries') }} as summaries
cross join lateral jsonb_to_recordset(summaries.action_items) as item (
    id uuid, description text, quote text, owner text, owner_entity_id uuid, status text, due_date date,
    closed_at date, message_ids jsonb
)
where not {{ rests_on_deleted('summaries.chat_id', 'item.message_ids') }}
