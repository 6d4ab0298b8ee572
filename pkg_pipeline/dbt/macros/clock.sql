{# The two clocks: the memory's, which PKG_NOW may pin, and the calendar of its time zone. #}

{% macro memory_now() -%}
    {%- if var("now", none) is none -%} now() {%- else -%} timestamptz '{{ var("now") }}' {%- endif -%}
{%- endmacro %}

{% macro memory_timezone() -%}
    coalesce((select value from {{ source("memory", "installation") }} where key = 'timezone'), 'UTC')
{%- endmacro %}

{% macro local_day(moment) -%}
    ({{ moment }} at time zone {{ memory_timezone() }})::date
{%- endmacro %}
