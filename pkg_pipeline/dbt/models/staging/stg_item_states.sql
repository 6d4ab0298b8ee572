-- The history of items that may be shown: what each was from a moment on.
select
    states.*,
    {{ local_day('states.at') }} as day
from {{ source('memory', 'item_states') }} as states
where not states.is_withheld
  and not {{ rests_on_deleted('states.chat_id', 'states.message_ids') }}
