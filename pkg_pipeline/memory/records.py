"""The frozen records that travel between layers. Datetimes are UTC; ``*_tokens`` use the configured tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

ChatKind = Literal["direct", "group", "channel", "thread"]
ChatCategory = Literal["personal", "work", "mass"]
MessageKind = Literal["message", "service"]
MessageRole = Literal["user", "assistant", "system", "tool"]
EntityType = Literal["person", "organization"]
Language = Literal["en", "ru", "zh"]
Owner = Literal["self", "them", "both"]
Tier = Literal["permanent", "relevant", "hot", "warm", "cold"]


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """One chat of an export, identified by ``source`` + ``external_id``.

    ``category``: None if undecided (P34: channels, bots, codes are ``mass``). ``peer_external_id``: the other account
    of a direct chat. ``is_whole``: all messages between first and last are there.
    """

    source: str
    external_id: str
    kind: ChatKind
    title: str | None = None
    category: ChatCategory | None = None
    peer_external_id: str | None = None
    peer_name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a message: ``type`` a media type or the source's own word, ``size`` in bytes; None if unsaid."""

    name: str | None = None
    type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message of an export, before cleaning, scoring and storing.

    ``sender_external_id``: None for service entries. ``is_self``: None if unknown. ``where``: place in the file, for
    errors. ``time_assumed``: the time zone was assumed.
    """

    chat_external_id: str
    external_id: str
    sent_at: datetime
    text: str
    sender_external_id: str | None = None
    sender_name: str | None = None
    is_self: bool | None = None
    kind: MessageKind = "message"
    role: MessageRole | None = None
    parts: list[Any] | None = None
    reply_to: str | None = None
    topic: str | None = None
    forwarded_from: str | None = None
    edited_at: datetime | None = None
    is_deleted: bool = False
    time_assumed: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    where: str = ""
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedOwner:
    """The account an export belongs to; yielded before its messages."""

    source: str
    external_id: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected piece of input.

    ``is_damage``: the file is broken or truncated here, an unknown amount is missing.
    """

    where: str
    reason: str
    chat_external_id: str | None = None
    external_id: str | None = None
    is_damage: bool = False


ExportItem = ParsedOwner | ParsedChat | ParsedMessage | Rejected


@dataclass(frozen=True, slots=True)
class Score:
    """P15. ``value`` in [0, 1]; ``reason`` is the first rule that fired, or None."""

    value: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class Person:
    """A participant; ``is_self`` marks the owner of this memory. ``other_names``: of other accounts, or added (B20)."""

    entity_id: UUID
    name: str
    is_self: bool
    type: EntityType = "person"
    organization: str | None = None
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.other_names)

    def __hash__(self) -> int:
        return hash(self.entity_id.int)


@dataclass(frozen=True, slots=True)
class ContextChat:
    """The chat of a message: a group's title or a direct chat's source."""

    source: str
    external_id: str
    kind: ChatKind
    title: str | None


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """One message of an interaction in a prompt; the model cites ``number``, from 1."""

    number: int
    external_id: str
    sender: Person
    sent_at: datetime
    text: str
    importance_score: float = 0.0
    importance_reason: str | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """Everything one summary is made from, live messages in order.

    ``language``: of the conversation and the prompt; ``timezone``: IANA; ``input_hash``: of the texts (B8).
    """

    interaction_id: UUID
    chat_key: str
    started_at: datetime
    ended_at: datetime
    participants: tuple[Person, ...]
    messages: tuple[SourceMessage, ...]
    language: Language
    timezone: str
    input_hash: str

    @property
    def self_person(self) -> Person | None:
        return next((person for person in self.participants if person.is_self), None)

    @property
    def others(self) -> tuple[Person, ...]:
        return tuple(person for person in self.participants if not person.is_self)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one LLM call as reported by the API, or ``estimated`` by us (T5)."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A removed part of an answer, with its reason (B9)."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """P13. ``message_ids``: external ids in the interaction's chat; ``quote``: verbatim from one of them."""

    id: UUID
    description: str
    date: date
    importance: Literal["high", "medium", "low"]
    quote: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """P13: a fact about a participant, to be confirmed (B2)."""

    id: UUID
    fact_type: str
    value: str
    confidence: float
    quote: str
    message_ids: tuple[str, ...]
    entity_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ImportantMessage:
    """P16: a message whose text is kept in the summary."""

    message_id: str
    content: str
    timestamp: datetime
    reason: Literal["decision", "agreement", "deadline", "important_info"]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """P13 after validation."""

    summary: str
    key_points: tuple[str, ...]
    tone: Literal["positive", "neutral", "negative", "formal", "informal"]
    important_messages: tuple[ImportantMessage, ...]
