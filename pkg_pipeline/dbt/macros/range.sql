{#
  The range that a build replaces: the same condition selects the rows and clears the table. The variable "stretches", a
  list of [first, last], narrows it to several ranges.
#}

{% macro in_range(column) -%}
    {%- if var("stretches", none) is none -%}
    {{ column }} between date '{{ var("min_date") }}' and date '{{ var("max_date") }}'
    {%- else -%}
    ({% for first, last in var("stretches") -%}
    {{ column }} between date '{{ first }}' and date '{{ last }}'{{ " or " if not loop.last }}
    {%- endfor %})
    {%- endif -%}
{%- endmacro %}

{#
  Deletes the range's rows before the insert, in its transaction, so that days that became empty have no row. The lock
  makes a second build of the same table wait, which would insert rows twice; readers see the old rows.
#}
{% macro clear_range(column) -%}
    {%- if is_incremental() -%}
        lock table {{ this }} in share row exclusive mode;
        delete from {{ this }} where {{ in_range(column) }};
    {%- endif -%}
{%- endmacro %}
