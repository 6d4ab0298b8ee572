{#
  Whether one of these messages was deleted; what rests on it is then withheld, even before the memory says so.
  message_ids is an array of the source's message ids.
#}
{% macro rests_on_deleted(chat_id, message_ids) -%}
    exists (
        select 1
        from {{ source("memory", "messages") }} as deleted_messages
        where deleted_messages.chat_id = {{ chat_id }}
          and deleted_messages.deleted_at is not null
          and deleted_messages.external_id = any({{ message_ids }})
    )
{%- endmacro %}
