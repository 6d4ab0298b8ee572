"""Short forms for declaring tables: types, columns, keys, indexes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ColumnClause,
    ColumnElement,
    DateTime,
    ForeignKey,
    FromClause,
    Identity,
    Index,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    TableClause,
    Text,
    column,
    text,
)
from sqlalchemy.sql.base import SchemaEventTarget

SCHEMA = "pkg"
METADATA = MetaData(schema=SCHEMA)
VIEWS: dict[str, TableClause] = {}
MOMENT = DateTime(timezone=True)
KNOWN_NOW = (
    "COALESCE((NULLIF(current_setting('pkg.now'::text, true), ''::text))::timestamp with time zone, clock_timestamp())"
)
"""Now by the memory's clock (B11), as the function ``known_now()``; the tables can be made before it."""
TEXTS = ARRAY(Text)
NUMBERS = ARRAY(BigInteger)
USD = Numeric(12, 6)
RATIO = Numeric(12, 2)


def table(
    name: str,
    about: str,
    *parts: Any,
    key: str = "id",
    asset: str | None = None,
    fresh_by: str | None = None,
    **options: Any,
) -> Table:
    """A table of ``SCHEMA`` with ``about`` as its comment; ``key``: primary key columns; ``asset``: the dbt source's
    asset; ``fresh_by``: the column of its freshness.
    """
    info = {"asset": asset, "fresh_by": fresh_by}
    primary = PrimaryKeyConstraint(*key.split())
    return Table(name, METADATA, *parts, primary, comment=about, info=info, **options)


def col(
    name: str,
    kind: Any,
    about: str,
    *parts: SchemaEventTarget,
    null: bool = False,
    default: str | None = None,
    one_of: str | None = None,
) -> Column[Any]:
    """A column with ``about`` as its comment. ``default`` is SQL; ``one_of`` lists the allowed values."""
    checks = [] if one_of is None else [check(f"{name} IN ({', '.join(repr(value) for value in one_of.split())})")]
    given = None if default is None else text(default)
    counts = "auto" if any(isinstance(part, Identity) for part in parts) else False
    fixed: dict[str, Any] = {"nullable": null, "server_default": given, "comment": about, "autoincrement": counts}
    return Column(name, kind, *parts, *checks, **fixed, info={"one_of": (one_of or "").split()})


def view(name: str, of: Table, names: str = "", *more: ColumnClause[Any]) -> TableClause:
    """A view with columns of ``of``, all or those of ``names``, and with ``more``."""
    shown = [of.c[one] for one in names.split()] or list(of.c)
    VIEWS[name] = TableClause(name, *(column(one.name, one.type) for one in shown), *more, schema=SCHEMA)
    return VIEWS[name]


def pick(source: FromClause, names: str) -> list[ColumnElement[Any]]:
    """Columns of a table or subquery by name; ``id=key`` gives an alias."""
    pairs = [name.partition("=") for name in names.split()]
    return [source.c[name].label(given) if given else source.c[name] for name, _, given in pairs]


def check(condition: str) -> CheckConstraint:
    return CheckConstraint(condition)


def to(table: str, on_delete: str | None = None, *, column: str = "id") -> ForeignKey:
    """A foreign key."""
    return ForeignKey(f"{SCHEMA}.{table}.{column}", ondelete=on_delete)


def index(name: str, of: str, *, where: str | None = None, include: str = "", **options: Any) -> Index:
    """An index over comma-separated columns or expressions; ``include``: covered columns."""
    parts = [part if part.isidentifier() else text(part) for part in of.split(", ")]
    if where is not None:
        options["postgresql_where"] = text(where)
    return Index(name, *parts, postgresql_include=include.split() or None, **options)
