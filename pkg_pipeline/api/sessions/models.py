"""Bodies and answers of the session routes for OpenAPI; a test compares them with what is served. Messages of a request
are not parsed by them: a wrong one among a thousand must not reject the others.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from pkg_pipeline.api.models import Answer
from pkg_pipeline.memory.records import MessageRole
from pkg_pipeline.memory.session.records import Policy, SessionEvent, Strategy
from pkg_pipeline.memory.window.records import WindowReason
from pkg_pipeline.memory.window.rendering import Form

SESSION_ID = "2c1c7a54-7a0e-5c35-9a52-0f6f6d1b7e21"


# ── requests ──────────────────────────────────────────────────────────────────────────────────


class NewMessage(BaseModel):
    """One message. What is sent again under its `id` changes nothing; with other words it is an edit."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"id": "m-17", "role": "user", "text": "Which port?", "sent_at": "2026-03-15T12:00:00Z"}
        }
    )
    id: str | int = Field(description="Of this message in its session (also `message_id`)")
    text: str | None = Field(default=None, description="Its words (also `content`, a text or a list of content blocks)")
    parts: list[dict[str, Any]] | None = Field(
        default=None, description="Content blocks: `text`, `thinking`, `tool_use`, `tool_result`, others as they are"
    )
    role: MessageRole | None = Field(default=None, description="In chats with assistants; it is `sender_id` too")
    sent_at: str | float | None = Field(
        default=None, description="ISO time or unix seconds; by default now (also `created_at`)"
    )
    sender_id: str | None = Field(default=None, description="Needed where there is no `role`")
    sender_name: str | None = None
    is_self: bool | None = Field(default=None, description="Said by the owner of the memory; by default `role` user")
    reply_to: str | int | None = None
    edited_at: str | float | None = None
    deleted: bool = False
    metadata: dict[str, Any] | None = None
    usage: dict[str, Any] | None = Field(
        default=None, description="Of an answer: `input_tokens` and `output_tokens` by the model's own count"
    )


class AppendBody(BaseModel):
    """Messages in order. A bare list of them will do as well."""

    messages: list[NewMessage] = Field(max_length=1_000)


class EventBody(BaseModel):
    model_config = ConfigDict(extra="forbid")
    event: SessionEvent = Field(description="What happened: each asks for a fold at once")


class SessionChanges(BaseModel):
    """What is to be otherwise; what is left out stays. An unknown key makes the session."""

    model_config = ConfigDict(extra="forbid")
    policy: Literal["hysteresis", "sliding", "interval"] | None = None
    strategy: Strategy | None = None
    summary_interval: int | None = Field(
        strict=True,
        default=None,
        ge=0,
        le=100_000,
        description="Messages a fold, for `interval`; 0 takes the setting again",
    )
    label: str | None = Field(default=None, max_length=300, description="Empty takes it away")


# ── answers ───────────────────────────────────────────────────────────────────────────────────


class Session(Answer):
    """One session. `messages` and `tokens` are of its whole history, `unfolded` of them are in no fold yet."""

    session: str = Field(description="Its key, `source:external-id`")
    id: UUID
    label: str | None
    policy: Policy
    strategy: Strategy
    summary_interval: int | None = Field(description="Its own, null takes the setting")
    messages: int
    tokens: int
    folded: int
    unfolded: int
    unfolded_tokens: int
    first_unfolded_at: datetime | None
    messages_since_fold: int = Field(description="Arrived after the last fold was made")
    last_message_at: datetime | None
    last_fold_at: datetime | None
    next_due_at: datetime | None = Field(description="When its policy is asked next; null: not before a new message")
    hwm: int = Field(description="The last message that a fold covers, 0 for none")
    event: SessionEvent | None = Field(description="What asked for a fold and was not looked at yet")
    pending: bool = Field(description="Something came during a fold: there is one more look after it")
    folds: int
    dirty_folds: int = Field(description="Over messages that were edited or deleted since; made anew")
    summary_tokens: int = Field(description="Of the running summary")
    attempts: int = Field(description="Failed folds in a row")
    retry_at: datetime | None
    last_error: str | None = Field(description="Why the last fold failed")


class SessionList(Answer):
    items: list[Session]
    next: str | None = Field(description="Cursor of the next page, null at the end")


class SessionMessage(Answer):
    """One message as it was said. `key` is its name in every answer of the memory."""

    id: int
    key: str
    role: MessageRole | None
    sender: str
    self: bool
    sent_at: datetime
    text: str
    parts: list[dict[str, Any]] | None
    tokens: int
    folded: bool


class SessionMessageList(Answer):
    items: list[SessionMessage]
    next: str | None


class ShownSession(Session):
    recent: list[SessionMessage] = Field(description="The last messages, oldest first")


class RejectedMessage(Answer):
    where: str = Field(examples=["messages[3]"])
    reason: str


class Counters(Answer):
    """What the policy goes by."""

    messages: int
    tokens: int
    messages_since_hwm: int
    tokens_since_hwm: int
    messages_since_fold: int


class Appended(Answer):
    """What became of the messages. What is in `rejected` was left out, everything around it went in."""

    session: str
    id: UUID
    new: int
    updated: int
    unchanged: int
    deleted: int
    rejected: list[RejectedMessage]
    rejected_count: int
    replaced_characters: int
    counters: Counters
    next_due_at: datetime | None = Field(description="When its policy is asked next; the past means at once")


class WindowBudget(Answer):
    """Tokens. `available` is what is left for messages, by the local count; the model's is `calibration` times it."""

    window: int
    margin: int
    output: int
    system: int
    available: int
    calibration: float


class WindowTier(Answer):
    tier: Literal["summary", "condensed", "recent"]
    tokens: int
    messages: list[str] = Field(description="Keys of its messages, in order")


class WindowLeftOut(BaseModel):
    """Something of the session that is not in the window, or not in full. `id` is null where it only counts."""

    kind: Literal["message", "tool_call", "summary", "recalled", "topics"]
    id: str | None
    reason: WindowReason
    count: int = 1


class Window(Answer):
    """`messages` are ready for a model, in the asked form."""

    receipt_id: UUID | None
    session: str
    id: UUID
    strategy: Strategy
    form: Form = Field(alias="as")
    messages: list[dict[str, Any]]
    tokens: int
    budget: WindowBudget
    tiers: list[WindowTier] = Field(description="Always all three, in this order")
    hypothetical_tokens: int = Field(description="What the whole history would take")
    topics: list[str]
    summaries: list[UUID] = Field(description="Folds whose words are in it")
    recalled: list[UUID] = Field(description="Recalled pieces that are in it")
    left_out: list[WindowLeftOut]
    warnings: list[str]


class Folded(Answer):
    """What folding at once brought. `busy`: another worker has the session, which is looked at once more after it."""

    session: str
    id: UUID
    folds: int
    refolds: int = Field(description="Folds made anew, since their messages changed")
    messages: int = Field(description="How many messages they cover")
    busy: int
    failed: int
    deferred: int = Field(description="Put off, by a budget or a service that does not answer")
    pending: int
    quarantined: int
    reasons: list[str]
    warnings: list[str]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    source_tokens: int
    summary_tokens: int
    seconds: float
