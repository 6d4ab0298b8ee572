"""The prompt of one interaction's summary (P13): its version, its answer model and its schema. No client."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION = "interaction_summary/1"
"""Part of the input hash and of the asset's code version: a change makes what it made stale (B5)."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerDecision(_Strict):
    description: str = Field(min_length=1, max_length=500)
    date: str = Field(description="ISO date on which it was decided")
    importance: Literal["high", "medium", "low"] = Field(
        description="high: money, deadlines, obligations; medium: ordinary agreement; low: minor"
    )
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1, description="numbers of the messages it rests on")


class AnswerActionItem(_Strict):
    description: str = Field(min_length=1, max_length=500)
    owner: Literal["self", "them", "both"]
    owner_name: str | None = Field(default=None, description="who of them, as named in the list of participants")
    status: Literal["open", "closed"]
    due_date: str | None = Field(default=None, description="ISO date, if one was named")
    closed_at: str | None = Field(default=None, description="ISO date, if it was done within this conversation")
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1)


class AnswerFact(_Strict):
    fact_type: str = Field(min_length=1, max_length=60, description="phone, email, birthday, position, address …")
    value: str = Field(min_length=1, max_length=300)
    about: str | None = Field(default=None, description="whom it is about, as named in the list of participants")
    confidence: float = Field(ge=0, le=1)
    quote: str = Field(min_length=1, max_length=600)
    message_ids: list[int] = Field(min_length=1)


class Answer(_Strict):
    """What a model has to answer. Messages are cited by their number in the prompt."""

    summary: str = Field(
        min_length=1, description="2-4 sentences, at most 200 words: about what, what result, what tone"
    )
    key_points: list[str] = Field(min_length=1, max_length=7)
    tone: Literal["positive", "neutral", "negative", "formal", "informal"]
    decisions: list[AnswerDecision]
    action_items: list[AnswerActionItem]
    facts: list[AnswerFact]
    important_message_ids: list[int] = Field(
        description="numbers of messages with concrete dates, deadlines, sums, prices, agreements, contact data"
    )


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it; adapters adapt it to what their API accepts."""
    return Answer.model_json_schema()
