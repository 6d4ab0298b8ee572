{#
  Whether a source message of an item was deleted; the item is then withheld, even before the summary is made anew.
  message_ids is a jsonb array of the source's message ids.
#}
{% macro rests_on_deleted(chat_id, message_ids) -%}
    exists (
        select 1
        from {{ source("memory", "messages") }} as deleted_messages
        where deleted_messages.chat_id = {{ chat_id }}
          and deleted_messages.deleted_at is not null
          and deleted_messages.external_id in (select jsonb_array_elements_text({{ message_ids }}))
    )
{%- endmacro %}
