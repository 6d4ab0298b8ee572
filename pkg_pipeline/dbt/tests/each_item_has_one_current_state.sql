{{ config(meta={'dagster': {'ref': {'name': 'action_item_states'}}}) }}
-- The newest state of an item in the history is the one in action_items; what lapsed was left open.
select coalesce(items.item_id, states.item_id) as item_id
from {{ ref('action_items') }} as items
full join (
    select item_id, count(*) as states, max(state) as state
    from {{ ref('action_item_states') }}
    where is_current
    group by item_id
) as states on states.item_id = items.item_id
where states.states is distinct from 1
   or states.state is distinct from case items.state when 'lapsed' then 'open' else items.state end
