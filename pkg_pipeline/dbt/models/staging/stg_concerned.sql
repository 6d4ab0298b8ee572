-- The entities an item concerns besides me, one or more.
select
    people.item_id,
    array_agg(people.entity_id order by entities.name, people.entity_id) as entity_ids,
    array_agg(entities.name order by entities.name, people.entity_id) as entity_names
from {{ source('memory', 'item_people') }} as people
inner join {{ source('memory', 'entities') }} as entities on entities.id = people.entity_id
group by people.item_id
