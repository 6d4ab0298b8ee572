"""Facts as they stand: lists by filter, one by its id (B2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from pkg_pipeline.memory.hashing import chat_key, message_key
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.phrases import Phrases
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.paging import Page, page_of, time_position
from pkg_pipeline.stages.reads.short_ids import id_of

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.fact_listing import PostgresFactReads

ListedStatus = Literal["candidate", "confirmed", "rejected", "closed"]
"""``closed``: confirmed, and held until a day that was."""

_LEAP_YEAR = 2000


class FactUnknown(Exception):
    """No fact of this id, or it rests on a deleted message."""


@dataclass(frozen=True, slots=True)
class FactFilter:
    """``statuses``: empty for all."""

    entity_id: UUID | None = None
    fact_type: str | None = None
    statuses: tuple[ListedStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A row of ``entity_facts``. ``at``: its place in the list; ``source``: None of a person's own."""

    id: UUID
    at: datetime
    entity_id: UUID | None
    entity_name: str | None
    about_name: str | None
    fact_type: str
    value: str
    read_value: str | None
    status: ListedStatus
    confidence: float
    decided_by: str
    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
    quote: str
    source: str | None
    chat_external_id: str | None
    message_ids: Sequence[str]
    is_stale: bool


def list_facts(store: PostgresFactReads, wanted: FactFilter, *, limit: int, cursor: str | None) -> Page:
    """The newest first. Raises BadCursor."""
    found = store.page(wanted, after=time_position(cursor), limit=limit + 1)
    return page_of(found, limit, fact_json, key=lambda one: (one.at, one.id))


def one_fact(store: PostgresFactReads, fact_id: UUID) -> dict[str, Any]:
    """Raises FactUnknown."""
    found = store.fact(fact_id)
    if found is None:
        raise FactUnknown(f"there is no fact {fact_id}")
    return fact_json(found)


def fact_id_of(store: PostgresFactReads, asked: str) -> UUID:
    """The id given in full, or by its first digits. Raises FactUnknown."""
    return id_of(asked, store.ids_between, what="fact", unknown=FactUnknown)


def fact_json(one: StoredFact) -> dict[str, Any]:
    messages: list[str] = []
    if one.source is not None and one.chat_external_id is not None:
        messages = [message_key(one.source, one.chat_external_id, key) for key in one.message_ids]
    return {
        "id": str(one.id),
        "entity_id": None if one.entity_id is None else str(one.entity_id),
        "entity_name": None if one.entity_name is None else clean_name(one.entity_name),
        "about": None if one.entity_id is not None or one.about_name is None else clean_name(one.about_name),
        "type": one.fact_type,
        "value": one.value,
        "display": display(one.fact_type, one.value),
        "read_value": one.read_value,
        "status": one.status,
        "probability": round(one.confidence, 3),
        "message_ids": messages,
        "chat": None if one.source is None else chat_key(one.source, one.chat_external_id or ""),
        "quote": one.quote,
        "true_from": _moment(one.valid_from),
        "true_to": _moment(one.valid_to),
        "known_from": iso(one.known_from),
        "known_to": _moment(one.known_to),
        "decided_by": one.decided_by,
        "stale": one.is_stale,
    }


def display(fact_type: str, value: str) -> str:
    """The value as it is shown to people: a birthday with the name of its month."""
    if fact_type.casefold() != "birthday":
        return one_line(value)
    has_year = value.count("-") > 1
    try:
        day = date.fromisoformat(value if has_year else f"{_LEAP_YEAR}-{value}")
    except ValueError:
        return one_line(value)
    words = Phrases("en")
    return words.day(day) if has_year else words.day_of_year(day.month, day.day)


def _moment(at: datetime | None) -> str | None:
    return None if at is None else iso(at)
