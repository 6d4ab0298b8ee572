"""``make docs``: columns in docs/tables.md, dbt's sources, compiled statements."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import yaml
from sqlalchemy import BindParameter, ClauseElement, Column, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql import visitors

from pkg_pipeline.adapters.postgres.queries import COMPILED
from pkg_pipeline.adapters.postgres.schema.tables import METADATA, SCHEMA

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "tables.md"
SOURCES = ROOT / "pkg_pipeline" / "dbt" / "models" / "sources" / "memory.yml"
BEGIN, END = "<!-- columns: written by `make docs` -->\n", "<!-- end of the columns -->\n"
NOTE = "# Written by `make docs` from the tables of pkg_pipeline.adapters.postgres.schema.\n"
STALE_DAYS = 31
"""Age of the newest row above which dbt warns about a source."""

COMPOSED = {
    "reads": ("statements",),
    "monitoring": ("figures", "queues"),
    "profiles": ("statements",),
    "sessions": ("statements",),
}
"""Room → its modules with ``STATEMENTS``."""


def tables() -> list[Table]:
    return sorted(METADATA.tables.values(), key=lambda table: table.name)


def page(text: str) -> str:
    """The page with the columns between its marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{''.join(map(_section, tables()))}{END}{after}"


def sources() -> str:
    """The tables that marts read, as dbt sources of the assets that write them."""
    listed = [_source(table) for table in tables() if table.info["asset"]]
    memory = {"name": "memory", "schema": SCHEMA, "description": "The memory's own tables.", "tables": listed}
    return NOTE + yaml.safe_dump({"version": 2, "sources": [memory]}, sort_keys=False, allow_unicode=True, width=120)


def statements() -> bytes:
    """Room → name → text with ``%(name)s`` parameters."""
    found: dict[str, dict[str, str]] = {room: {} for room in COMPOSED}
    for room, modules in COMPOSED.items():
        for module in modules:
            named = import_module(f"pkg_pipeline.adapters.postgres.{room}.{module}").STATEMENTS
            found[room] |= {name: text_of(one) for name, one in named.items()}
    return orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n"


def text_of(statement: ClauseElement) -> str:
    """The statement in PostgreSQL's dialect, constants inlined."""
    for part in visitors.iterate(statement):
        if isinstance(part, BindParameter):
            part.literal_execute, part.required = part.value is not None, False
    dialect = postgresql.dialect(paramstyle="pyformat")
    return " ".join(str(statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})).split())


def type_of(column: Column[Any]) -> str:
    named = column.type.compile(postgresql.dialect()).lower()
    return named.replace("timestamp with time zone", "timestamptz").replace("float(53)", "double precision")


def _section(table: Table) -> str:
    keys = ", ".join(f"`{column.name}`" for column in table.primary_key)
    rows = "".join(f"| `{column.name}` | {type_of(column)} | {_meaning(column)} |\n" for column in table.columns)
    head = "| column | type | what it holds |\n| --- | --- | --- |\n"
    return f"### `{table.name}`\n\n{table.comment} Key: {keys}.\n\n{head}{rows}\n"


def _meaning(column: Column[Any]) -> str:
    values = ", ".join(f"`{value}`" for value in column.info["one_of"])
    refers = ", ".join(f"→ `{key.column.table.name}`" for key in column.foreign_keys)
    given = [(column.comment or "").replace("|", "\\|"), values, refers, "may be null" if column.nullable else ""]
    return "; ".join(part for part in given if part)


def _source(table: Table) -> dict[str, Any]:
    config: dict[str, Any] = {"meta": {"dagster": {"asset_key": [table.info["asset"]]}}}
    if fresh_by := table.info["fresh_by"]:
        freshness = {"warn_after": {"count": STALE_DAYS, "period": "day"}}
        config = {"loaded_at_field": fresh_by, "freshness": freshness, **config}
    columns = [
        {"name": str(column.name), "data_type": type_of(column), "description": column.comment}
        for column in table.columns
    ]
    return {"name": str(table.name), "description": table.comment, "config": config, "columns": columns}


def write() -> None:
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    COMPILED.write_bytes(statements())
    SOURCES.write_text(sources(), encoding="utf-8")


if __name__ == "__main__":
    write()
