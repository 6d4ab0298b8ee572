"""The frozen records that travel between layers. Data only: no rule, no I/O.

All times are timezone-aware UTC datetimes. ``*_tokens`` are counts by the configured tokenizer.
"""

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


# ── what a parser of an export yields ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """One chat as an export names it. ``source`` + ``external_id`` is its key for ever.

    ``category`` is None where neither
    the export nor its kind decides it (P34: channels, bots, verification codes are ``mass``). ``peer_external_id`` is
    the other account of a direct chat where the export names it: whoever else writes there is me. ``is_whole``: the
    export shows every message of it between the first and the last (``memory.vanished``).
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
class ParsedMessage:
    """One message as an export tells it, before cleaning, scoring and storing.

    ``sender_external_id`` is None where the export names nobody (service entries). ``is_self`` is None where the
    export does not say whose words these are. ``where`` is the place in the file, for error reports: ``line 12``,
    ``chats.list[3].messages[17]``. ``time_assumed`` marks a wall time whose zone had to be assumed.
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


@dataclass(frozen=True, slots=True)
class ParsedOwner:
    """The account an export belongs to, where the file says so; yielded before its messages."""

    source: str
    external_id: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """One piece of input that was not taken in; everything around it was.

    Of a message the chat and, where it could be read, its id are given. ``is_damage``: the file itself is broken or cut
    off at this place, and nobody knows how much is missing.
    """

    where: str
    reason: str
    chat_external_id: str | None = None
    external_id: str | None = None
    is_damage: bool = False


ExportItem = ParsedOwner | ParsedChat | ParsedMessage | Rejected
"""What a reader of exports yields."""


# ── what the stages hand to the rules ─────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Score:
    """P15. ``value`` in [0, 1]; ``reason`` is the first rule that fired, or None."""

    value: float
    reason: str | None


@dataclass(frozen=True, slots=True)
class Person:
    """A participant as prompts and summaries speak of them. ``is_self`` marks the owner of this memory."""

    entity_id: UUID
    name: str
    is_self: bool
    type: EntityType = "person"
    organization: str | None = None


@dataclass(frozen=True, slots=True)
class ContextChat:
    """Where something was said. ``label``-worthy: a group's title, a direct chat's source."""

    source: str
    external_id: str
    kind: ChatKind
    title: str | None


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """One message inside an interaction, as the summariser sees it.

    ``number`` counts from 1 inside the prompt and is what the model cites; ``external_id`` is what is stored.
    """

    number: int
    external_id: str
    sender: Person
    sent_at: datetime
    text: str
    importance_score: float = 0.0
    importance_reason: str | None = None


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """Everything one summary is made from: the interaction, who took part, the live messages in order.

    ``language`` is that of the conversation and decides the prompt's language; ``timezone`` is an IANA name for the
    words "today" and "tomorrow"; ``input_hash`` identifies the texts (B8).
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
    """Tokens of one LLM call as the API reports them; ``estimated`` where it reported none and we counted (T5)."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A part of an answer that the gate took out, with its reason (B9)."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """P13. ``message_ids`` are external ids inside the interaction's chat; ``quote`` is verbatim from one of them.

    ``text_hashes`` say what those messages said when the item was published; ``is_carried`` marks what a later summary
    did not say again and was kept from the one before (P28).
    """

    id: UUID
    description: str
    date: date
    importance: Literal["high", "medium", "low"]
    quote: str
    message_ids: tuple[str, ...]
    text_hashes: tuple[str, ...] = ()
    is_carried: bool = False


@dataclass(frozen=True, slots=True)
class ActionItem:
    """P13, P34. ``owner_entity_id`` names who of ``them`` it is where that is known.

    What was closed by a later message names it: ``closed_by`` are those of ``message_ids`` that say it is done, with
    ``closed_quote`` from one of them. Should they go, it is open again.
    """

    id: UUID
    description: str
    owner: Owner
    status: Literal["open", "closed"]
    due_date: date | None
    closed_at: date | None
    quote: str
    message_ids: tuple[str, ...]
    owner_entity_id: UUID | None = None
    closed_by: tuple[str, ...] = ()
    closed_quote: str = ""
    text_hashes: tuple[str, ...] = ()
    is_carried: bool = False


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """P13: something learnt about a participant, to be confirmed later (B2)."""

    id: UUID
    fact_type: str
    value: str
    confidence: float
    quote: str
    message_ids: tuple[str, ...]
    entity_id: UUID | None = None
    text_hashes: tuple[str, ...] = ()
    is_carried: bool = False


@dataclass(frozen=True, slots=True)
class ImportantMessage:
    """P16: a message whose text lives in the summary for ever."""

    message_id: str
    content: str
    timestamp: datetime
    reason: Literal["decision", "agreement", "deadline", "important_info"]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """P13 after the gate: what may be published."""

    summary: str
    key_points: tuple[str, ...]
    tone: Literal["positive", "neutral", "negative", "formal", "informal"]
    decisions: tuple[DecisionItem, ...]
    action_items: tuple[ActionItem, ...]
    extracted_facts: tuple[FactCandidate, ...]
    important_messages: tuple[ImportantMessage, ...]
