{{ config(meta={'dagster': {'ref': {'name': 'action_items'}}}) }}
-- The mart has nothing that is withheld or rests on a message deleted at its source.
select mart.item_id
from {{ ref('action_items') }} as mart
where exists (
    select 1
    from {{ source('memory', 'items') }} as items
    where items.id = mart.item_id and items.is_withheld
)
or exists (
    select 1
    from {{ source('memory', 'messages') }} as messages
    where messages.chat_id = mart.chat_id and messages.deleted_at is not null
      and messages.external_id = any(mart.message_ids)
)
