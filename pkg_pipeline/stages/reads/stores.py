"""What the reads give and are asked, and where receipts go. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from pkg_pipeline.memory.records import EntityType, Language

SummaryStatus = Literal["candidate", "completed", "dirty", "superseded", "quarantined"]


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """Which rows a context may draw on. ``hot_from`` and ``warm_from`` are the edges of the tiers at ``as_of``.

    ``today`` is the local day of ``as_of``; ``text_chars`` is the most that is read of one message.
    """

    entity_id: UUID
    as_of: datetime
    today: date
    hot_from: datetime
    warm_from: datetime
    hot_limit: int
    summary_limit: int
    text_chars: int


class StoreUnavailable(Exception):
    """The memory cannot be read now; it may be in a moment."""


class EntityUnknown(Exception):
    """No entity of that id."""


class ChatUnknown(Exception):
    """No chat of that id."""


class ChatAmbiguous(Exception):
    """Several direct chats are with the person whose key was given; the message lists their keys."""


class ChatKey(NamedTuple):
    """What a chat is called at its source."""

    source: str
    external_id: str


class Named(NamedTuple):
    """One name to compare a misspelt one with."""

    id: UUID
    name: str


class BadRequest(ValueError):
    """A question that cannot be answered as asked; ``field`` is the parameter at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """One row of the list of entities. ``identities`` are ``source:external-id``."""

    id: UUID
    name: str
    type: EntityType
    is_self: bool
    identities: Sequence[str]
    messages: int
    first_contact: datetime | None
    last_contact: datetime | None


@dataclass(frozen=True, slots=True)
class SummaryFilter:
    """Which summaries. ``day_from`` and ``day_to`` are local days on which the interaction started, both included.

    ``chat`` is (source, external id). ``statuses`` default to what is being served.
    """

    entity_id: UUID | None = None
    chat: tuple[str, str] | None = None
    day_from: date | None = None
    day_to: date | None = None
    statuses: tuple[SummaryStatus, ...] = ("completed", "dirty")


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """One summary as stored (P13, P14). The lists hold the stored objects; message ids are external ids of its chat.

    ``is_withheld``: a message that it covers was deleted; ``deleted_messages`` are those that it covers or cites (P29).
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
    decisions: Sequence[Mapping[str, Any]]
    action_items: Sequence[Mapping[str, Any]]
    extracted_facts: Sequence[Mapping[str, Any]]
    important_messages: Sequence[Mapping[str, Any]]
    is_withheld: bool
    deleted_messages: Sequence[str]
    model_version: str
    cost_usd: float


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One interaction of an entity with the summary that is served for it, if there is one."""

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
"""Where a page ended: the start of the last interaction looked at, and its id."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was served, without a word of it: ids and tokens (B11)."""

    id: UUID
    entity_id: UUID
    request: Mapping[str, Any]
    tiers: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]
    tokens: int
    hypothetical_tokens: int


class ReceiptSink(Protocol):
    def put(self, receipt: Receipt) -> None:
        """Keep it, at once or soon. Never fails a read: a receipt that cannot be kept is counted as lost."""
        ...
