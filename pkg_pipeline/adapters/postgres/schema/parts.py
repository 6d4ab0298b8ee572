"""Short forms that the tables are declared with: types, columns, keys, indexes. No table is here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
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
    """A table of ``SCHEMA`` with ``about`` as its comment; ``key`` names the columns of its primary key.

    ``asset`` is the asset whose marts read it as a dbt source; ``fresh_by`` the column that says how new its rows are.
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
    """A column with ``about`` as its comment. ``default`` is SQL; ``one_of`` lists the values that it takes."""
    checks = [] if one_of is None else [check(f"{name} IN ({', '.join(repr(value) for value in one_of.split())})")]
    given = None if default is None else text(default)
    counts = "auto" if any(isinstance(part, Identity) for part in parts) else False
    fixed: dict[str, Any] = {"nullable": null, "server_default": given, "comment": about, "autoincrement": counts}
    return Column(name, kind, *parts, *checks, **fixed, info={"one_of": (one_of or "").split()})


def view(name: str, of: Table, names: str = "") -> TableClause:
    """A view of the schema that shows columns of ``of``: all of them, or those of ``names``."""
    shown = [of.c[one] for one in names.split()] or list(of.c)
    VIEWS[name] = TableClause(name, *(column(one.name, one.type) for one in shown), schema=SCHEMA)
    return VIEWS[name]


def pick(source: FromClause, names: str) -> list[ColumnElement[Any]]:
    """Columns of a table or subquery by name; ``id=key`` gives one another name."""
    pairs = [name.partition("=") for name in names.split()]
    return [source.c[name].label(given) if given else source.c[name] for name, _, given in pairs]


def check(condition: str) -> CheckConstraint:
    """What always holds of a row."""
    return CheckConstraint(condition)


def to(table: str, on_delete: str | None = None, *, column: str = "id") -> ForeignKey:
    """The column holds an id of ``table``."""
    return ForeignKey(f"{SCHEMA}.{table}.{column}", ondelete=on_delete)


def index(name: str, of: str, *, where: str | None = None, include: str = "", **options: Any) -> Index:
    """An index over columns or expressions, separated by commas; ``include`` names columns it carries along."""
    parts = [part if part.isidentifier() else text(part) for part in of.split(", ")]
    if where is not None:
        options["postgresql_where"] = text(where)
    return Index(name, *parts, postgresql_include=include.split() or None, **options)
