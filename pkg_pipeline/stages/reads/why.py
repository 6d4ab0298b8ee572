"""From a served line back to its quote, messages, reader, gate, run and cost (B11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pkg_pipeline.memory.hashing import message_key
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.short_ids import full_or_short

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads


class LineUnknown(Exception):
    """No item, decision or fact of this id, nor a piece that says one; or what it rests on was deleted."""


@dataclass(frozen=True, slots=True)
class Line:
    """``interaction_id``: None of what a person added. ``is_deleted``: a message that it rests on was."""

    id: UUID
    kind: str
    text: str
    quote: str
    chat_id: UUID | None
    message_ids: Sequence[str]
    interaction_id: UUID | None
    decided_by: str
    probability: float
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class SaidMessage:
    source: str
    chat: str
    external_id: str
    sender: str | None
    sent_at: datetime
    content: str


@dataclass(frozen=True, slots=True)
class Reader:
    """``quarantined``: what the gate took out of the whole answer, by place and reason; ``calls``: paid ones."""

    model_version: str
    prompt_version: str
    schema_version: int
    read_at: datetime
    cost_usd: float
    quarantined: Sequence[Mapping[str, Any]]
    calls: Sequence[Mapping[str, Any]]


def line_id_of(store: PostgresWhyReads, asked: str) -> UUID:
    """The id given in full, or by its first digits, as lists print it. Raises LineUnknown."""
    return full_or_short(asked, store.ids_between, what="served line", unknown=LineUnknown)


def why(store: PostgresWhyReads, line_id: UUID) -> dict[str, Any]:
    """Raises LineUnknown."""
    line = store.line(line_id)
    if line is None:
        raise LineUnknown(
            f"there is no item, decision or fact {line_id}, nor a piece that says one;"
            " nothing is kept of what was forgotten or read otherwise since"
        )
    if line.is_deleted:
        raise LineUnknown(f"what {line_id} says is shown no more: a message that it rests on was deleted")
    said = [] if line.chat_id is None else store.said(line.chat_id, line.message_ids)
    reader = None if line.interaction_id is None else store.reading(line.interaction_id)
    return {
        "id": str(line.id),
        "kind": line.kind,
        "text": line.text,
        "decided_by": line.decided_by,
        "probability": round(line.probability, 3),
        "quote": line.quote,
        "messages": [_message_json(one, line.quote) for one in said],
        "reading": None if reader is None else _reader_json(reader),
    }


def _message_json(one: SaidMessage, quote: str) -> dict[str, Any]:
    return {
        "id": message_key(one.source, one.chat, one.external_id),
        "sender": None if one.sender is None else clean_name(one.sender),
        "at": iso(one.sent_at),
        "text": one.content,
        "has_quote": bool(quote) and quote in one.content,
    }


def _reader_json(one: Reader) -> dict[str, Any]:
    return {
        "model": one.model_version,
        "prompt_version": one.prompt_version,
        "schema_version": one.schema_version,
        "read_at": iso(one.read_at),
        "cost_usd": one.cost_usd,
        "gate": {"passed": True, "dropped_beside": [dict(entry) for entry in one.quarantined]},
        "calls": [dict(call) for call in one.calls],
    }
