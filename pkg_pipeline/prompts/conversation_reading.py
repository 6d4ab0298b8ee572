"""The prompt of a reading: talks of the same people in time order, with what is open and settled (B16, B17)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.items.records import (
    CandidateChange,
    CandidateEnd,
    CandidateItem,
    CandidateReading,
)
from pkg_pipeline.prompts.answers import Strict

VERSION = "conversation_reading/1"
"""Part of the code version: a change makes readings stale (B5)."""

SCHEMA_VERSION = 1

FactType = Literal[
    "phone", "email", "address", "birthday", "position", "organization", "family", "preference", "account", "other"
]

Numbers = list[int]

Sure = Annotated[SkipJsonSchema[float | None], Field(default=None, ge=0, le=1)]
"""How probable a reader without a model holds what it says; models are not asked for it, and the schema is silent."""


class AnswerEnd(Strict):
    state: Literal["done", "perhaps_done", "cancelled"]
    quote: str = Field(min_length=1, max_length=300)
    messages: Numbers = Field(min_length=1)
    sure: Sure = None


class AnswerItem(Strict):
    kind: Literal["task", "decision"]
    text: str = Field(min_length=1, max_length=300)
    owner: Literal["me", "them", "both", "other"]
    who: str | None = None
    due: str | None = None
    importance: Literal["high", "medium", "low"]
    proposed: str | None = None
    agreed: list[str] = Field(default_factory=list)
    replaces: str | None = None
    quote: str = Field(min_length=1, max_length=300)
    messages: Numbers = Field(min_length=1)
    end: AnswerEnd | None = None
    sure: Sure = None


class AnswerChange(Strict):
    id: str
    state: Literal["done", "perhaps_done", "cancelled", "renewed"]
    text: str | None = Field(default=None, max_length=300)
    due: str | None = None
    quote: str = Field(min_length=1, max_length=300)
    messages: Numbers = Field(min_length=1)
    sure: Sure = None


class AnswerFact(Strict):
    type: FactType
    value: str = Field(min_length=1, max_length=200)
    about: str | None = None
    quote: str = Field(min_length=1, max_length=300)
    messages: Numbers = Field(min_length=1)
    sure: Sure = None


class Answer(Strict):
    """What a model has to answer; messages are cited by their number in the prompt."""

    items: list[AnswerItem]
    changes: list[AnswerChange]
    facts: list[AnswerFact]


schema, parse = Answer.model_json_schema, Answer.read

_OWNERS = {"me": "self", "them": "them", "both": "both", "other": "other"}


def to_candidate(answer: Answer) -> CandidateReading:
    return CandidateReading(
        items=tuple(_item(item) for item in answer.items),
        changes=tuple(
            CandidateChange(
                ref=change.id,
                to=change.state,
                quote=change.quote,
                numbers=tuple(change.messages),
                due_date=change.due,
                text=change.text,
                probability=_probability(change.sure),
            )
            for change in answer.changes
        ),
        facts=tuple(
            CandidateFact(
                fact_type=fact.type,
                value=fact.value,
                confidence=_probability(fact.sure),
                quote=fact.quote,
                numbers=tuple(fact.messages),
                about=fact.about,
            )
            for fact in answer.facts
        ),
    )


def _item(item: AnswerItem) -> CandidateItem:
    end = item.end
    return CandidateItem(
        kind="action_item" if item.kind == "task" else "decision",
        text=item.text,
        owner=_OWNERS[item.owner],  # type: ignore[arg-type]
        quote=item.quote,
        numbers=tuple(item.messages),
        owner_name=item.who,
        due_date=item.due,
        importance=item.importance,
        proposed_by=item.proposed,
        agreed_by=tuple(item.agreed),
        end=None if end is None else CandidateEnd(end.state, end.quote, tuple(end.messages), _probability(end.sure)),
        replaces=item.replaces,
        probability=_probability(item.sure),
    )


def _probability(sure: float | None) -> float:
    return 1.0 if sure is None else sure
