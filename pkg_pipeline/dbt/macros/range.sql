{#
  The range that a build replaces: the same condition selects the rows and clears the table. Whole stretches may be left
  out of it by the variable "stretches": a list of [first, last].
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
  Before the insert and in its transaction: what the range held goes, also where nothing comes in its place, since a day
  that became empty must vanish. The lock lets a second build of the same table wait, so that its rows are not doubled;
  readers go on reading the rows from before.
#}
{% macro clear_range(column) -%}
    {%- if is_incremental() -%}
        lock table {{ this }} in share row exclusive mode;
        delete from {{ this }} where {{ in_range(column) }};
    {%- endif -%}
{%- endmacro %}
