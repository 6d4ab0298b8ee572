"""The prompt of one relationship's profile (P21): its version, its words, its answer model and schema. No client.

What is counted is given to the model as facts and is not part of the answer: no count, day of first contact, topic, key
decision or open item comes back from it. Everything that goes back to what somebody wrote stands between fences (B15).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.profile.gate import CandidateMilestone, CandidateProfile
from pkg_pipeline.memory.profile.records import DatedSummary, ProfileAggregate, ProfileInput
from pkg_pipeline.memory.records import Person
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, plain_problem, read_answer
from pkg_pipeline.prompts.relationship_profile_text import TEXTS

VERSION = "relationship_profile/1"
"""Part of the input hash and of the asset's code version: a change makes what it made stale (B5)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form, and stored beside what was made with it (B5)."""

MAX_OUTPUT_TOKENS = 2000
"""Room for one answer: 150 words of summary, a timeline and ten milestones, in any of the languages."""

MOST_LISTED = 60
"""So many key decisions, and so many open items, are shown to the model, the newest; the profile keeps all."""

PEOPLE_BLOCK = "PEOPLE"
COUNTED_BLOCK = "COUNTED"
FACTS_BLOCK = "FACTS"
SUMMARIES_BLOCK = "SUMMARIES"


class AnswerMilestone(Strict):
    date: str = Field(description="ISO day of one of the cited summaries")
    title: str = Field(min_length=1, max_length=300, description="at most 15 words")
    importance: Literal["high", "medium"]
    summary_numbers: list[int] = Field(min_length=1, description="numbers of the summaries it rests on")


class Answer(Strict):
    """What a model has to answer. Conversations are cited by the number of their summary in the prompt."""

    relationship_type: Literal["client", "partner", "colleague", "friend", "acquaintance", "vendor", "other"]
    summary: str = Field(min_length=1, description="2-4 sentences, at most 150 words")
    timeline: str = Field(min_length=1, description="1-6 short sentences, oldest phase first")
    milestones: list[AnswerMilestone]


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it; adapters adapt it to what their API accepts."""
    return Answer.model_json_schema()


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    words = {language: wording.all_texts() for language, wording in sorted(TEXTS.items())}
    return hashlib.sha256(json.dumps([words, schema()], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(source: ProfileInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``, in its language (P21).

    ``strict`` is the second rung of the ladder of P19: it insists on the form and names what was wrong last time, as
    ``AnswerInvalid.problem`` or the gate's ``quarantine_reason`` say it.
    """
    wording = TEXTS[source.language]
    people = [person for person in (source.entity, source.self_person) if person is not None]

    def block(name: str, lines: Iterable[str]) -> str:
        return fencing.fence(name, lines, seed=source.input_hash)

    parts = [
        wording.opening.format(week=source.week.isoformat(), timezone=source.timezone),
        wording.people,
        block(PEOPLE_BLOCK, map(_person_line, people)),
        wording.counted,
        block(COUNTED_BLOCK, _counted_lines(source.aggregate, ZoneInfo(source.timezone))),
    ]
    if source.facts:
        parts += [wording.facts, block(FACTS_BLOCK, (fencing.encode({"fact": fact}) for fact in source.facts))]
    parts += [wording.summaries, block(SUMMARIES_BLOCK, map(_summary_line, source.summaries))]
    if source.omitted_summaries:
        parts.append(wording.omitted.format(count=source.omitted_summaries))
    parts.append(wording.closing)
    if strict:
        schema_text = json.dumps(schema(), ensure_ascii=False, separators=(",", ":"))
        parts.append(
            wording.strict.format(problem=plain_problem(problem) or wording.unnamed_problem, schema=schema_text)
        )
    return RenderedPrompt(wording.system(names_me=source.self_person is not None), "\n\n".join(parts))


def parse(text: str) -> Answer:
    """The model's words as an ``Answer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema.

    Nothing is repaired: what cannot be read is a failure, never "no profile" (B9).
    """
    return read_answer(text, Answer, AnswerMilestone)


def to_candidate(answer: Answer) -> CandidateProfile:
    """The answer in the gate's words: plain frozen records."""
    return CandidateProfile(
        relationship_type=answer.relationship_type,
        summary=answer.summary,
        timeline=answer.timeline,
        milestones=tuple(
            CandidateMilestone(item.date, item.title, item.importance, tuple(item.summary_numbers))
            for item in answer.milestones
        ),
    )


def _person_line(person: Person) -> str:
    return fencing.encode(
        {"name": person.name, "is_me": person.is_self, "type": person.type, "organization": person.organization}
    )


def _counted_lines(counted: ProfileAggregate, zone: ZoneInfo) -> list[str]:
    """The totals in one record, then a record for each topic, decision and open item."""

    def day(moment: datetime | None) -> str | None:
        return None if moment is None else moment.astimezone(zone).date().isoformat()

    gap = counted.mean_gap_days
    totals = {
        "first_conversation": day(counted.first_interaction_at),
        "last_conversation": day(counted.last_interaction_at),
        "last_meaningful_contact": day(counted.last_meaningful_contact_at),
        "conversations": counted.total_interactions,
        "messages": counted.total_messages,
        "summarized": counted.summarized_interactions,
        "frequency": counted.frequency,
        "mean_gap_days": None if gap is None else round(gap, 1),
    }
    decisions = sorted(counted.key_decisions, key=lambda made: (made.decided_on, str(made.id)))[-MOST_LISTED:]
    items = sorted(counted.open_action_items, key=lambda item: (item.since, str(item.id)))[-MOST_LISTED:]
    records: list[dict[str, Any]] = [totals]
    records += [
        {"topic": topic.name, "conversations": topic.mentions, "last": day(topic.last_at)}
        for topic in counted.top_topics
    ]
    records += [{"key_decision": made.description, "day": made.decided_on.isoformat()} for made in decisions]
    records += [
        {
            "open_item": item.description,
            "owner": item.owner,
            "since": item.since.isoformat(),
            "due": None if item.due_date is None else item.due_date.isoformat(),
        }
        for item in items
    ]
    return [fencing.encode(record) for record in records]


def _summary_line(summary: DatedSummary) -> str:
    record = fencing.encode(
        {
            "n": summary.number,
            "day": summary.day.isoformat(),
            "text": summary.text,
            "tone": summary.tone,
            "decisions": list(summary.decisions),
        }
    )
    return f"[{summary.number}] {record}"
