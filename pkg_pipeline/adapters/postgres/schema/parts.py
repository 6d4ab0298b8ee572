"""What the tables of record are written with: the metadata, column types and two short forms. No table is here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Column,
    DateTime,
    ForeignKeyConstraint,
    MetaData,
    Numeric,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

SCHEMA = "pkg"
METADATA = MetaData(schema=SCHEMA)
MOMENT = DateTime(timezone=True)
TEXTS = ARRAY(Text)
USD = Numeric(12, 6)
RATIO = Numeric(12, 2)


def columns_of(kind: Any, names: str, *, null: bool = False, default: str | None = None) -> list[Column[Any]]:
    """One column for each of ``names``; ``default`` is SQL."""
    given = None if default is None else text(default)
    return [Column(name, kind, nullable=null, server_default=given) for name in names.split()]


def refers_to(column: str, table: str, on_delete: str | None = None) -> ForeignKeyConstraint:
    """``column`` holds an ``id`` of ``table``."""
    return ForeignKeyConstraint([column], [f"{SCHEMA}.{table}.id"], ondelete=on_delete)
