"""Records and errors of the reads, and the receipt sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from uuid import UUID

from pkg_pipeline.memory.text.timestamps import iso

if TYPE_CHECKING:
    from pkg_pipeline.memory.records import ChatCategory, ChatKind, EntityType, Language

SummaryStatus = Literal["candidate", "completed", "dirty", "superseded", "quarantined"]


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """Edges of the tiers, local day at ``as_of``, and characters read of one message. ``is_past``: what was edited
    since ``as_of`` stands for what was said then nowhere (P9).
    """

    entity_id: UUID
    as_of: datetime
    today: date
    hot_from: datetime
    warm_from: datetime
    hot_limit: int
    summary_limit: int
    max_tokens: int
    text_chars: int
    is_past: bool = False
    known_as_of: datetime | None = None
    """Nothing that the memory learnt later; None: all that it knows (B11)."""
    served_at: datetime | None = None
    """By the database's clock, where a block of that moment is made again: the memory's may have stood."""


class StoreUnavailable(Exception):
    """The database cannot be read now; try again later."""


class EntityUnknown(Exception):
    """No entity of this id."""


class ChatUnknown(Exception):
    """No chat of this id."""


class ChatAmbiguous(Exception):
    """The person with this key has several direct chats; the message lists their keys."""


class ChatKey(NamedTuple):
    source: str
    external_id: str


class Named(NamedTuple):
    id: UUID
    name: str


class BadRequest(ValueError):
    """An invalid request; ``field`` is the parameter."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def require_past(now: datetime, **moments: datetime | None) -> None:
    """Raises BadRequest for a moment to come."""
    for name, moment in moments.items():
        if moment is not None and moment > now:
            raise BadRequest(name, f"{name} lies in the future: it is {iso(now)} now")


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """A row of the list; ``identities`` are ``source:external-id``."""

    id: UUID
    name: str
    type: EntityType
    is_self: bool
    identities: Sequence[str]
    messages: int
    first_contact: datetime | None
    last_contact: datetime | None


@dataclass(frozen=True, slots=True)
class ListedChat:
    """A row of the list. ``category`` None: an ordinary chat; ``category_source``: who says so."""

    id: UUID
    source: str
    external_id: str
    kind: ChatKind
    title: str | None
    category: ChatCategory | None
    category_source: Literal["rule", "export", "user"]


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """Local days of its start, both included; ``chat``: (source, external id); served statuses by default."""

    entity_id: UUID | None = None
    chat: tuple[str, str] | None = None
    day_from: date | None = None
    day_to: date | None = None
    statuses: tuple[SummaryStatus, ...] = ("completed", "dirty")


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary as stored (P13, P14), with external message ids, and what its conversation said of items and facts.

    ``is_withheld``: a covered message was deleted (P29).
    """

    id: UUID
    interaction_id: UUID
    source: str
    chat_external_id: str
    started_at: datetime
    ended_at: datetime
    status: SummaryStatus
    revision: int
    summary: str
    tone: str | None
    key_points: Sequence[str]
    important_messages: Sequence[Mapping[str, Any]]
    is_withheld: bool
    model_version: str
    cost_usd: float
    decisions: Sequence[Mapping[str, Any]] = ()
    action_items: Sequence[Mapping[str, Any]] = ()
    extracted_facts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """An interaction of an entity with its served summary, if any."""

    interaction_id: UUID
    source: str
    chat_external_id: str
    chat_kind: str
    chat_title: str | None
    started_at: datetime
    ended_at: datetime
    status: str
    language: Language
    messages: int
    summary_id: UUID | None
    summary_status: str | None
    is_withheld: bool
    summary: str | None


Position = tuple[datetime, UUID]
"""Keyset position: start and id of the last interaction read."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was served: ids and tokens (B11). ``text`` is not stored, only fingerprints of its lines (B14)."""

    id: UUID
    entity_id: UUID
    request: Mapping[str, Any]
    tiers: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]
    tokens: int
    hypothetical_tokens: int
    text: str = field(default="", repr=False)


class ReceiptSink(Protocol):
    def put(self, receipt: Receipt) -> None:
        """Store it now or soon; never raises, a lost receipt is counted."""
        ...
