{# The memory's own rule of what lapsed (B16), at the memory's clock. #}
{% macro item_status(item) -%}
    {{ source("memory", "items").schema }}.item_status_until(
        {{ item }}.kind, {{ item }}.status, {{ item }}.due_date, {{ item }}.holds_until, {{ item }}.last_at,
        {{ memory_now() }}, {{ local_day(memory_now()) }}
    )
{%- endmacro %}

{# The four words of a state: open and closed, and what is neither for sure. #}
{% macro item_state(status) -%}
    case when {{ status }} in ('open', 'perhaps_done', 'lapsed') then {{ status }} else 'closed' end
{%- endmacro %}
