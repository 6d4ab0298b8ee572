"""The columns of every table of ``frames`` from ``columns.toml``, and as docs/frames.md shows them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, get_args

from pkg_pipeline.memory.gate.records import Importance, Tone
from pkg_pipeline.memory.items.records import ItemEvent, ItemKind, ItemOwner, ItemStatus
from pkg_pipeline.memory.profile.records import Frequency, RelationshipType
from pkg_pipeline.memory.recall.records import ChunkSource
from pkg_pipeline.memory.records import ChatKind, Language, MessageRole

CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    "chat_kind": get_args(ChatKind),
    "frequency": get_args(Frequency),
    "importance": get_args(Importance),
    "importance_reason": ("has_date", "has_amount", "has_agreement", "has_deadline", "long_message"),
    "lane": ("live", "backfill"),
    "language": get_args(Language),
    "owner": get_args(ItemOwner),
    "relationship_type": get_args(RelationshipType),
    "role": get_args(MessageRole),
    "source": get_args(ChunkSource),
    "status": ("completed", "dirty"),
    "action_items.status": get_args(ItemStatus),
    "decisions.status": get_args(ItemStatus),
    "item_states.status": get_args(ItemStatus),
    "kind": get_args(ItemKind),
    "event": get_args(ItemEvent),
    "decided_by": ("memory", "person"),
    "tone": get_args(Tone),
}
"""By column, or by ``table.column`` where they differ."""

DTYPES: Final = {"moment": "datetime64[us, UTC]", "day": "datetime64[s]", "list": "object (list of str)"}
"""pandas dtypes of the own names in ``columns.toml``."""


@dataclass(frozen=True, slots=True)
class Column:
    """``dtype`` as in ``columns.toml``."""

    name: str
    dtype: str
    meaning: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """``row`` says what one row is; ``filters`` are its arguments."""

    name: str
    row: str
    filters: tuple[str, ...]
    columns: tuple[Column, ...]


@cache
def tables() -> dict[str, Table]:
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Table(name, given["row"], tuple(given["filters"]), tuple(_column(name, *one) for one in given["columns"]))
        for name, given in declared.items()
    }


def _column(table: str, name: str, dtype: str, meaning: str) -> Column:
    known = CATEGORIES.get(f"{table}.{name}", CATEGORIES.get(name, ())) if dtype == "category" else ()
    return Column(name, dtype, meaning, known)


def with_tables(page: str) -> str:
    """docs/frames.md with the current tables."""
    parts = [page.partition("## Tables\n")[0] + "## Tables\n"]
    for table in tables().values():
        narrowed = ", ".join(f"`{name}`" for name in table.filters)
        parts.append(f"### {table.name}\n\nOne row is {table.row}. Narrowed by {narrowed}.\n")
        parts.append("| column | dtype | meaning |\n| --- | --- | --- |")
        for one in table.columns:
            values = f" ({', '.join(one.categories)})" if one.categories else ""
            parts.append(f"| `{one.name}` | {DTYPES.get(one.dtype, one.dtype)}{values} | {one.meaning} |")
        parts.append("")
    return "\n".join(parts)
