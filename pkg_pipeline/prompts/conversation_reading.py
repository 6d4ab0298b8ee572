"""The prompt of a reading: talks of the same people in time order, with what is open and settled (B16, B17)."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.items.records import (
    CandidateChange,
    CandidateEnd,
    CandidateItem,
    CandidateReading,
    ReadingInput,
    ShownItem,
)
from pkg_pipeline.prompts import conversation, fencing, lines
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, insisting, words_of

VERSION = "conversation_reading/3"
"""Part of the code version: a change makes readings stale (B5)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 8000
"""For some eighty items, changes and facts."""

ITEMS_BLOCK = "ITEMS"
LONGEST_QUOTE = 300
"""Characters; of a longer quote its beginning is taken."""

FactType = Literal[
    "phone", "email", "address", "birthday", "position", "organization", "family", "preference", "account", "other"
]

Numbers = list[int]
Quote = Annotated[str, Field(max_length=4000)]
Text = Annotated[str, Field(max_length=1000)]
"""Wide: an entry that is too long costs itself in the gate, not the answer."""

Sure = Annotated[SkipJsonSchema[float | None], Field(default=None, ge=0, le=1)]
"""How probable a reader without a model holds what it says; models are not asked for it, and the schema is silent."""

Told = Annotated[SkipJsonSchema[bool], Field(default=False)]
"""Whether a fact is told to hold no longer or to take the place of an earlier one, or a task is too unlikely to be
shown unless a later talk keeps it; as ``Sure``. So is ``AnswerItem.until``: the last day on which a decision is
probably of use.
"""


class AnswerEnd(Strict):
    state: Literal["done", "perhaps_done", "cancelled"]
    quote: Quote
    messages: Numbers
    sure: Sure = None


class AnswerItem(Strict):
    id: str | None = None
    kind: Literal["task", "decision"]
    text: Text
    owner: Literal["me", "them", "both", "other"]
    who: str | None = None
    due: str | None = None
    importance: Literal["high", "medium", "low"]
    proposed: str | None = None
    agreed: list[str] = Field(default_factory=list)
    replaces: str | None = None
    quote: Quote
    messages: Numbers
    end: AnswerEnd | None = None
    sure: Sure = None
    silent: Told = False
    until: SkipJsonSchema[date | None] = None


class AnswerChange(Strict):
    id: str
    state: Literal["done", "perhaps_done", "cancelled", "renewed"]
    text: Text | None = None
    due: str | None = None
    quote: Quote
    messages: Numbers
    sure: Sure = None


class AnswerFact(Strict):
    type: FactType
    value: Text
    about: str | None = None
    quote: Quote
    messages: Numbers
    sure: Sure = None
    ended: Told = False
    renewed: Told = False


class Answer(Strict):
    """What a model has to answer; messages are cited by their number in the prompt."""

    items: list[AnswerItem]
    changes: list[AnswerChange]
    facts: list[AnswerFact]

    @property
    def told(self) -> list[AnswerItem]:
        """The items that are shown at once."""
        return [item for item in self.items if not item.silent]


schema, parse = Answer.form, Answer.read

_OWNERS = {"me": "self", "them": "them", "both": "both", "other": "other"}


def template_digest() -> str:
    return digest_of(conversation.all_words("conversation_reading"), Answer)


def render(source: ReadingInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``, messages by their numbers, shown items by their refs; ``strict`` and ``problem`` as
    ``answers.insisting`` (P19).
    """
    language = conversation.rules_language(source.language)
    words, shared = words_of("conversation_reading", language), words_of("conversation", language)
    seed = source.input_hash
    zone = ZoneInfo(source.timezone)
    shown = [words["shown"], fencing.fence(ITEMS_BLOCK, (_shown_line(item, zone) for item in source.shown), seed=seed)]
    parts = [
        *conversation.people(source.talks, timezone=source.timezone, words=shared, seed=seed),
        *(shown if source.shown else [words["nothing_shown"]]),
        *conversation.talks(source.talks, timezone=source.timezone, words=shared, seed=seed),
        shared["closing"],
        *([insisting(shared, Answer, problem)] if strict else []),
    ]
    with_me = any(person.is_self for person in lines.people_of(source.talks))
    more = () if with_me else (words["without_me"],)
    return RenderedPrompt(conversation.system(words, shared, source.language, *more), "\n".join(parts))


def _shown_line(item: ShownItem, zone: ZoneInfo) -> str:
    owner = {"self": "me", "both": "both"}.get(item.owner) or item.owner_name or item.owner
    status = "in_force" if item.kind == "decision" and item.status == "open" else item.status
    due = None if item.due_date is None else item.due_date.isoformat()
    return fencing.encode([item.ref, status, owner, due, item.said_at.astimezone(zone).date().isoformat(), item.text])


def to_candidate(answer: Answer) -> CandidateReading:
    return CandidateReading(
        items=tuple(_item(item) for item in answer.items),
        changes=tuple(
            CandidateChange(
                ref=change.id,
                to=change.state,
                quote=change.quote[:LONGEST_QUOTE],
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
                quote=fact.quote[:LONGEST_QUOTE],
                numbers=tuple(fact.messages),
                about=fact.about,
                is_ended=fact.ended,
                replaces=fact.renewed,
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
        quote=item.quote[:LONGEST_QUOTE],
        numbers=tuple(item.messages),
        owner_name=item.who,
        due_date=item.due,
        importance=item.importance,
        proposed_by=item.proposed,
        agreed_by=tuple(item.agreed),
        end=None if end is None else _end(end),
        replaces=item.replaces,
        probability=_probability(item.sure),
        ref=item.id,
        is_silent=item.silent,
        holds_until=item.until,
    )


def _end(end: AnswerEnd) -> CandidateEnd:
    return CandidateEnd(end.state, end.quote[:LONGEST_QUOTE], tuple(end.messages), _probability(end.sure))


def _probability(sure: float | None) -> float:
    return 1.0 if sure is None else sure
