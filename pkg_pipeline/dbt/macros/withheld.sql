{#
  Whether something rests on a message that was deleted at its source: it is withheld at once, whether or not the
  summary has been made anew. message_ids is a jsonb array of ids as the source numbers them.
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
