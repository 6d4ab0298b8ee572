"""Answers for OpenAPI. Routes render JSON themselves; a test compares it with these models."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pkg_pipeline.memory.context.records import Mark
from pkg_pipeline.memory.profile.records import Frequency, RelationshipType

ANNA = "3f0e7f2e-7a52-5d55-9d8b-0d1f6a6b8c11"


class Answer(BaseModel):
    """What every answer is: nothing in it is undocumented."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """RFC 9457. Further members say more where there is more to say (`errors`, `nearest`, `candidates`)."""

    model_config = ConfigDict(extra="allow")
    type: str
    title: str
    status: int
    detail: str


class Entity(Answer):
    """A person or organisation. `identities` are `source:external-id`."""

    id: UUID
    name: str
    type: Literal["person", "organization"]
    is_self: bool
    identities: list[str]
    messages: int
    first_contact: datetime | None
    last_contact: datetime | None


class EntityList(Answer):
    items: list[Entity]
    next: str | None = Field(description="Cursor of the next page, null at the end")


class ContextEntity(Answer):
    id: UUID
    name: str
    type: Literal["person", "organization"]


class CardFact(Answer):
    type: str
    value: str
    id: UUID
    stale: bool = Field(description="A message that it rests on was edited since")


class Card(Answer):
    """Who somebody is: what is not known is null, empty or `unknown`."""

    relationship: RelationshipType
    frequency: Frequency | None = Field(description="How often you are in touch; null after too few days of contact")
    organization: str | None
    languages: list[str] = Field(description="Of the newest conversations, the commonest first")
    facts: list[CardFact] = Field(description="Position, organisation, phone, e-mail, birthday, family, as said")
    messages: int
    first_contact: datetime | None
    last_contact: datetime | None = Field(description="Of all messages until then, summarised or not")


class ContextItem(Answer):
    """One printed item; its `text` occurs in the block."""

    kind: Literal["fact", "decision", "action_item", "message", "summary", "profile", "milestone"]
    id: str
    text: str
    at: datetime
    message_ids: list[str] = Field(description="`source:chat/message`, each part percent-encoded")
    marks: list[Mark]


class ContextTier(Answer):
    tier: Literal["permanent", "hot", "warm", "cold", "relevant"]
    tokens: int
    items: list[ContextItem]


class LeftOut(BaseModel):
    """Something known that is not in the block, or not in full."""

    kind: str
    id: str | None
    reason: Literal["budget", "limit", "withheld", "shortened", "more", "not_kept", "over"]
    count: int | None = Field(default=None, description="How many others, in the entry with reason `more`")


class BriefItem(BaseModel):
    """A line of the block, or the card (`card`, with the entity's id)."""

    kind: str
    id: str


class BriefSentence(BaseModel):
    text: str
    items: list[BriefItem] = Field(description="What it rests on; never empty")


class BriefPart(BaseModel):
    part: Literal["state", "current", "open", "facts"]
    sentences: list[BriefSentence]


class BriefParts(BaseModel):
    """The block in brief, part by part. `warning` says why no model worded it where one is set."""

    parts: list[BriefPart] = Field(description="Always all four, in this order")
    model: str | None = Field(description="Null where it was chosen from the block's own lines")
    warning: str | None


class Context(Answer):
    """What matters about an entity within a token budget: `text` is the block to give to a model or to read."""

    receipt_id: UUID | None = Field(description="Null where receipts are switched off")
    entity: ContextEntity
    card: Card | None = Field(description="Null for channels, bots, organisations and yourself")
    as_of: datetime
    known_as_of: datetime | None = Field(description="By what the memory knew then; null: by all that it knows")
    text: str
    tokens: int
    max_tokens: int
    hypothetical_tokens: int = Field(description="What all messages until then would have cost")
    tiers: list[ContextTier] = Field(description="Always all five, in this order")
    left_out: list[LeftOut]
    brief: str | None = Field(description="The block in brief; null unless asked for")
    brief_parts: BriefParts | None = Field(description="The same, each sentence with what it rests on")


class TimelineSummary(Answer):
    id: UUID
    status: Literal["completed", "dirty"]
    text: str | None = Field(description="Null while withheld, because a message it rests on was deleted")


class TimelineItem(Answer):
    """One interaction. `chat` is `source:external-id`."""

    interaction_id: UUID
    chat: str
    chat_kind: Literal["direct", "group", "channel", "thread"]
    chat_title: str | None
    started_at: datetime
    ended_at: datetime
    status: Literal["active", "completed"]
    language: Literal["en", "ru", "zh"]
    messages: int
    summary: TimelineSummary | None


class Timeline(Answer):
    items: list[TimelineItem]
    next: str | None


class SummaryDecision(BaseModel):
    id: UUID
    description: str
    date: date
    importance: Literal["high", "medium", "low"]
    quote: str
    message_ids: list[str]


class SummaryActionItem(BaseModel):
    id: UUID
    description: str
    owner: Literal["self", "them", "both", "other"]
    status: Literal["open", "closed", "perhaps_done", "lapsed"]
    due_date: date | None
    closed_at: date | None
    quote: str
    message_ids: list[str]


class ImportantMessage(BaseModel):
    message_id: str
    content: str
    timestamp: datetime
    reason: Literal["decision", "agreement", "deadline", "important_info"]


class Summary(Answer):
    """One version of one interaction's summary with all that was extracted from it."""

    id: UUID
    interaction_id: UUID
    chat: str
    started_at: datetime
    ended_at: datetime
    status: Literal["candidate", "completed", "dirty", "superseded", "quarantined"]
    revision: int
    summary: str | None
    key_points: list[str]
    tone: Literal["positive", "neutral", "negative", "formal", "informal"] | None
    decisions: list[SummaryDecision]
    action_items: list[SummaryActionItem]
    extracted_facts: list[dict[str, Any]]
    important_messages: list[ImportantMessage]
    model_version: str
    cost_usd: float
    withheld: bool = Field(description="True while its text is withheld, because a message it rests on was deleted")


class SummaryList(Answer):
    items: list[Summary]
    next: str | None


class Disk(Answer):
    """Room on the disk of a database that the program runs itself; below the minimum it imports and runs nothing."""

    free_bytes: int
    minimum_bytes: int
    is_low: bool


class Health(Answer):
    """The database answers and its schema is the one this program works with."""

    status: Literal["ok"]
    revision: str
    expected_revision: str
    disk: Disk | None = None
