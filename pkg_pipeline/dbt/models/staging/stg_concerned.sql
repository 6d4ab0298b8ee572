-- The entities an item concerns besides me, one or more.
select
    items.item_id,
    array_agg(items.entity_id order by entities.name, items.entity_id) as entity_ids,
    array_agg(entities.name order by entities.name, items.entity_id) as entity_names,
    bool_or(items.is_withheld) as is_withheld
from {{ source('memory', 'summary_items') }} as items
inner join {{ source('memory', 'entities') }} as entities on entities.id = items.entity_id
group by items.item_id
