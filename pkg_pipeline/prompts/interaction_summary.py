"""The prompt of one interaction's summary (P13): its version, its words, its answer model and schema. No client.

The rules stand in the system turn and are the same for every conversation of a language; everything that somebody
else wrote, names included, stands in the user turn between fences (B15).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.gate.normalise import plain
from pkg_pipeline.memory.gate.records import (
    CandidateActionItem,
    CandidateDecision,
    CandidateFact,
    CandidateSummary,
)
from pkg_pipeline.memory.message.importance import MARKED_ABOVE
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, plain_problem, read_answer
from pkg_pipeline.prompts.interaction_summary_text import TEXTS, Wording

VERSION = "interaction_summary/1"
"""Part of the input hash and of the asset's code version: a change makes what it made stale (B5)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form, and stored beside what was made with it (B5)."""

MAX_OUTPUT_TOKENS = 3000
"""Room for one answer: 200 words of summary and some dozens of items with their quotes."""

PARTICIPANTS_BLOCK = "PARTICIPANTS"
MESSAGES_BLOCK = "MESSAGES"


class AnswerDecision(Strict):
    description: str = Field(min_length=1, max_length=500)
    date: str = Field(description="ISO date on which it was decided")
    importance: Literal["high", "medium", "low"] = Field(
        description="high: money, deadlines, obligations; medium: ordinary agreement; low: minor"
    )
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1, description="numbers of the messages it rests on")


class AnswerActionItem(Strict):
    description: str = Field(min_length=1, max_length=500)
    owner: Literal["self", "them", "both"]
    owner_name: str | None = Field(default=None, description="who of them, as named in the list of participants")
    status: Literal["open", "closed"]
    due_date: str | None = Field(default=None, description="ISO date, if one was named")
    closed_at: str | None = Field(default=None, description="ISO date, if it was done within this conversation")
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1)


class AnswerFact(Strict):
    fact_type: str = Field(min_length=1, max_length=60, description="phone, email, birthday, position, address …")
    value: str = Field(min_length=1, max_length=300)
    about: str | None = Field(default=None, description="whom it is about, as named in the list of participants")
    confidence: float = Field(ge=0, le=1)
    quote: str = Field(min_length=1, max_length=600)
    message_ids: list[int] = Field(min_length=1)


class Answer(Strict):
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


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    words = {language: wording.all_texts() for language, wording in sorted(TEXTS.items())}
    return hashlib.sha256(json.dumps([words, schema()], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(source: SummaryInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source`` (P13, P34).

    ``strict`` is the second rung of the ladder of P19: it insists on the form and names what was wrong last time, as
    ``AnswerInvalid.problem`` or the gate's ``quarantine_reason`` say it.
    """
    wording = TEXTS["ru" if source.language == "ru" else "en"]
    names_me = source.self_person is not None
    system = wording.system(names_me=names_me, in_chinese=source.language == "zh")
    seed = source.input_hash
    zone = ZoneInfo(source.timezone)
    says_whose = has_namesake(source.participants)
    lines = (message_line(message, zone, wording, says_whose=says_whose) for message in source.messages)
    parts = [
        wording.opening.format(
            count=len(source.messages),
            started=local_time(source.started_at, zone, wording),
            ended=local_time(source.ended_at, zone, wording),
            timezone=source.timezone,
        ),
        wording.participants_with_me if names_me else wording.participants_without_me,
        fencing.fence(PARTICIPANTS_BLOCK, (participant_line(person) for person in source.participants), seed=seed),
        wording.messages,
        fencing.fence(MESSAGES_BLOCK, lines, seed=seed),
        wording.closing,
    ]
    if strict:
        schema_text = json.dumps(schema(), ensure_ascii=False, separators=(",", ":"))
        parts.append(
            wording.strict.format(problem=plain_problem(problem) or wording.unnamed_problem, schema=schema_text)
        )
    return RenderedPrompt(system=system, user="\n\n".join(parts))


def parse(text: str) -> Answer:
    """The model's words as an ``Answer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema.

    Nothing is repaired: what cannot be read is a failure, never "no facts" (B9).
    """
    return read_answer(text, Answer, AnswerDecision, AnswerActionItem, AnswerFact)


def to_candidate(answer: Answer) -> CandidateSummary:
    """The answer in the gate's words: plain frozen records."""
    return CandidateSummary(
        summary=answer.summary,
        key_points=tuple(answer.key_points),
        tone=answer.tone,
        decisions=tuple(decision_candidate(item) for item in answer.decisions),
        action_items=tuple(
            CandidateActionItem(
                description=item.description,
                owner=item.owner,
                owner_name=item.owner_name,
                status=item.status,
                due_date=item.due_date,
                closed_at=item.closed_at,
                quote=item.quote,
                numbers=tuple(item.message_ids),
            )
            for item in answer.action_items
        ),
        facts=tuple(fact_candidate(item) for item in answer.facts),
        important_numbers=tuple(answer.important_message_ids),
    )


def decision_candidate(item: AnswerDecision) -> CandidateDecision:
    """One decision in the gate's words."""
    return CandidateDecision(
        description=item.description,
        date=item.date,
        importance=item.importance,
        quote=item.quote,
        numbers=tuple(item.message_ids),
    )


def fact_candidate(item: AnswerFact) -> CandidateFact:
    """One fact in the gate's words."""
    return CandidateFact(
        fact_type=item.fact_type,
        value=item.value,
        about=item.about,
        confidence=item.confidence,
        quote=item.quote,
        numbers=tuple(item.message_ids),
    )


def participant_line(person: Person) -> str:
    """One who took part, as a fenced line."""
    return fencing.encode(
        {"name": person.name, "is_me": person.is_self, "type": person.type, "organization": person.organization}
    )


def has_namesake(people: Sequence[Person]) -> bool:
    """Whether somebody bears the owner's name: then each message says whether it is the owner's."""
    own = {plain(person.name) for person in people if person.is_self}
    return any(plain(person.name) in own for person in people if not person.is_self)


def message_line(message: SourceMessage, zone: ZoneInfo, wording: Wording, *, says_whose: bool, **fields: bool) -> str:
    """One message, as a fenced line under its number; ``fields`` are said of it besides."""
    if says_whose:
        fields = {"is_me": message.sender.is_self, **fields}
    important = message.importance_score > MARKED_ABOVE
    record = fencing.encode(
        {
            "n": message.number,
            "speaker": message.sender.name,
            "time": local_time(message.sent_at, zone, wording),
            "important": important,
            **fields,
            "text": message.text,
        }
    )
    return f"[{message.number}] {'[!] ' if important else ''}{record}"


def local_time(moment: datetime, zone: ZoneInfo, wording: Wording) -> str:
    """As messages are dated: by the local clock, with the day of the week."""
    local = moment.astimezone(zone)
    return f"{wording.weekdays[local.weekday()]} {local:%Y-%m-%d %H:%M}"
