"""The answers as OpenAPI documents them. Routes render JSON themselves; a test holds them to these models."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

ANNA = "3f0e7f2e-7a52-5d55-9d8b-0d1f6a6b8c11"
INTERACTION = "8a1c6f0a-2f1d-5b8f-9a44-51c1b1a0f7de"
MESSAGE = "telegram:personal_chat%3A1001/204"


class Answer(BaseModel):
    """What every answer is: nothing in it is undocumented."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """RFC 9457. Further members say more where there is more to say (`errors`, `nearest`, `candidates`)."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "urn:pkg-pipeline:problem:entity-not-found",
                "title": "Not Found",
                "status": 404,
                "detail": "nobody here is called 'Anan'; did you mean Anna Petrova?",
                "nearest": ["Anna Petrova"],
            }
        },
    )
    type: str
    title: str
    status: int
    detail: str


class Entity(Answer):
    """A person or organisation. `identities` are `source:external-id`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "id": ANNA,
                "name": "Anna Petrova",
                "type": "person",
                "is_self": False,
                "identities": ["telegram:user1001"],
                "messages": 1204,
                "first_contact": "2023-05-03T08:12:00Z",
                "last_contact": "2026-03-14T17:40:00Z",
            }
        },
    )
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


class ContextItem(Answer):
    """One printed item; its `text` occurs in the block."""

    kind: Literal["fact", "decision", "action_item", "message", "summary", "profile", "milestone"]
    id: str
    text: str
    at: datetime
    message_ids: list[str] = Field(description="`source:chat/message`, each part percent-encoded")
    marks: list[Literal["unsummarised", "stale", "shortened", "overdue"]]


class ContextTier(Answer):
    tier: Literal["permanent", "hot", "warm", "cold", "relevant"]
    tokens: int
    items: list[ContextItem]


class LeftOut(BaseModel):
    """Something known that is not in the block, or not in full."""

    kind: str
    id: str | None
    reason: Literal["budget", "limit", "withheld", "shortened", "more"]
    count: int | None = Field(default=None, description="How many others, in the entry with reason `more`")


class Context(Answer):
    """What matters about an entity within a token budget: `text` is the block to give to a model or to read."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "receipt_id": "f5b0b1a6-6a9f-4a3e-9c0a-1e9f1f3b7c55",
                "entity": {"id": ANNA, "name": "Anna Petrova", "type": "person"},
                "as_of": "2026-03-15T12:00:00Z",
                "text": "# Anna Petrova\n- As of 15 March 2026\n## Facts and agreements\n- birthday: 4 May 1988\n",
                "tokens": 34,
                "max_tokens": 4000,
                "hypothetical_tokens": 51230,
                "tiers": [
                    {
                        "tier": "permanent",
                        "tokens": 34,
                        "items": [
                            {
                                "kind": "fact",
                                "id": "0d3bd1f0-93ab-5c60-8a5e-7a0cbb5d0d52",
                                "text": "birthday: 4 May 1988",
                                "at": "2025-05-04T09:30:00Z",
                                "message_ids": [MESSAGE],
                                "marks": [],
                            }
                        ],
                    },
                    {"tier": "hot", "tokens": 0, "items": []},
                    {"tier": "warm", "tokens": 0, "items": []},
                    {"tier": "cold", "tokens": 0, "items": []},
                    {"tier": "relevant", "tokens": 0, "items": []},
                ],
                "left_out": [{"kind": "message", "id": MESSAGE, "reason": "budget"}],
                "brief": None,
            }
        },
    )
    receipt_id: UUID | None = Field(description="Null where receipts are switched off")
    entity: ContextEntity
    as_of: datetime
    text: str
    tokens: int
    max_tokens: int
    hypothetical_tokens: int = Field(description="What all messages until then would have cost")
    tiers: list[ContextTier] = Field(description="Always all five, in this order")
    left_out: list[LeftOut]
    brief: str | None


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
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "items": [
                    {
                        "interaction_id": INTERACTION,
                        "chat": "telegram:personal_chat:1001",
                        "chat_kind": "direct",
                        "chat_title": "Anna",
                        "started_at": "2026-02-13T12:00:00Z",
                        "ended_at": "2026-02-13T12:40:00Z",
                        "status": "completed",
                        "language": "en",
                        "messages": 14,
                        "summary": {
                            "id": "6b1f2f3a-5a0f-5b43-8e8a-8a4e0c1d2b3c",
                            "status": "completed",
                            "text": "Anna moved the delivery by a month.",
                        },
                    }
                ],
                "next": None,
            }
        },
    )
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
    owner: Literal["self", "them", "both"]
    status: Literal["open", "closed"]
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
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "items": [
                    {
                        "id": "6b1f2f3a-5a0f-5b43-8e8a-8a4e0c1d2b3c",
                        "interaction_id": INTERACTION,
                        "chat": "telegram:personal_chat:1001",
                        "started_at": "2026-02-13T12:00:00Z",
                        "ended_at": "2026-02-13T12:40:00Z",
                        "status": "completed",
                        "revision": 1,
                        "summary": "Anna moved the delivery by a month.",
                        "key_points": ["Delivery moves to April"],
                        "tone": "neutral",
                        "decisions": [
                            {
                                "id": "1f6c2f3a-5a0f-5b43-8e8a-8a4e0c1d2b3c",
                                "description": "Delivery on 20 April",
                                "date": "2026-02-13",
                                "importance": "high",
                                "quote": "then let us say 20 April",
                                "message_ids": [MESSAGE],
                            }
                        ],
                        "action_items": [],
                        "extracted_facts": [],
                        "important_messages": [],
                        "model_version": "offline-1",
                        "cost_usd": 0.0,
                        "withheld": False,
                    }
                ],
                "next": None,
            }
        },
    )
    items: list[Summary]
    next: str | None


class Disk(Answer):
    """Room on the disk of a database that the program runs itself; below the minimum it imports and runs nothing."""

    free_bytes: int
    minimum_bytes: int
    is_low: bool


class Health(Answer):
    """The database answers and its schema is the one this program works with."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"status": "ok", "revision": "0001", "expected_revision": "0001"}}
    )
    status: Literal["ok"]
    revision: str
    expected_revision: str
    disk: Disk | None = None
