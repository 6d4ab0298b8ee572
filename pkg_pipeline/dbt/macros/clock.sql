{# The memory's clock, which PKG_NOW may pin, and its time zone's calendar. #}

{% macro memory_now() -%}
    {%- if var("now", none) is none -%} now() {%- else -%} timestamptz '{{ var("now") }}' {%- endif -%}
{%- endmacro %}

{% macro memory_timezone() -%}
    coalesce((select value from {{ source("memory", "installation") }} where key = 'timezone'), 'UTC')
{%- endmacro %}

{% macro local_day(moment) -%}
    ({{ moment }} at time zone {{ memory_timezone() }})::date
{%- endmacro %}
