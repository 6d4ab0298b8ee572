"""The prompt of a relationship's profile (P21). Counted parts are input only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.profile.gate import CandidateDoubt, CandidateMilestone, CandidateProfile
from pkg_pipeline.memory.profile.records import DatedSummary, ProfileInput, RelationshipType
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, candidate, digest_of, insisting, words_of

VERSION = "relationship_profile/6"
"""Part of the input hash and code version: a change makes profiles stale (B5)."""

SCHEMA_VERSION = 3
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 2000
"""For 150 words of summary, a timeline and ten milestones."""

MOST_LISTED = 60
"""Most key decisions in the prompt beside those of the conversations shown, the newest."""

TOPIC_MENTIONS = 2
"""A topic of one conversation stands in its summary."""


class AnswerMilestone(Strict):
    date: str
    title: str = Field(min_length=1, max_length=300)
    importance: Literal["high", "medium"]
    summary_numbers: list[int] = Field(min_length=1)


class AnswerDoubt(Strict):
    id: str
    why: str


class Answer(Strict):
    """What a model has to answer. Conversations are cited by the number of their summary in the prompt."""

    relationship_type: RelationshipType
    summary: str = Field(min_length=1)
    timeline: str = Field(min_length=1)
    milestones: list[AnswerMilestone]
    doubts: list[AnswerDoubt] = Field(default_factory=list[AnswerDoubt])


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of({language: words_of("relationship_profile", language) for language in LANGUAGES}, Answer)


def render(source: ProfileInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``, in its language (P21); ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    words = words_of("relationship_profile", source.language)
    people = [person for person in (source.entity, source.self_person) if person is not None]
    omitted = source.omitted_summaries

    def block(name: str, lines: Iterable[str]) -> list[str]:
        return [words[name], fencing.fence(name.upper(), lines, seed=source.input_hash)]

    parts = [
        words["opening"].format(week=source.week.isoformat()),
        *block("counted", _counted_lines(source, people, ZoneInfo(source.timezone))),
        *block("summaries", map(_summary_line, source.summaries)),
        *([words["omitted"].format(count=omitted)] if omitted else []),
        words["closing"],
        *([insisting(words, Answer, problem)] if strict else []),
    ]
    system = f"{words['rules']}\n{words['with_me' if source.self_person is not None else 'without_me']}"
    return RenderedPrompt(system, "\n".join(parts))


def to_candidate(answer: Answer) -> CandidateProfile:
    return CandidateProfile(
        relationship_type=answer.relationship_type,
        summary=answer.summary,
        timeline=answer.timeline,
        milestones=tuple(candidate(CandidateMilestone, item) for item in answer.milestones),
        doubts=tuple(CandidateDoubt(doubt.id, doubt.why) for doubt in answer.doubts),
    )


def _counted_lines(source: ProfileInput, people: Iterable[Person], zone: ZoneInfo) -> list[str]:
    counted = source.aggregate

    def day(moment: datetime | None) -> str | None:
        return None if moment is None else moment.astimezone(zone).date().isoformat()

    totals = {
        "first_conversation": day(counted.first_interaction_at),
        "last_conversation": day(counted.last_interaction_at),
        "last_meaningful_contact": day(counted.last_meaningful_contact_at),
        "conversations": counted.total_interactions,
        "messages": counted.total_messages,
        "frequency": counted.frequency,
    }
    told = {(summary.interaction_id, text) for summary in source.summaries for text in summary.decisions}
    elsewhere = [made for made in counted.key_decisions if (made.interaction_id, made.description) not in told]
    decisions = sorted(elsewhere, key=lambda made: (made.decided_on, str(made.id)))[-MOST_LISTED:]
    records: list[Any] = [totals, *map(_person, people)]
    topics = (topic for topic in counted.top_topics if topic.mentions >= TOPIC_MENTIONS)
    records += [["topic", topic.name, topic.mentions] for topic in topics]
    records += [["decision", made.decided_on.isoformat(), made.description] for made in decisions]
    records += [
        [ref, item.owner, item.since.isoformat(), item.due_date and item.due_date.isoformat(), item.description]
        for ref, item in source.open_items.items()
    ]
    records += [["fact", fact] for fact in source.facts]
    return list(map(fencing.encode, records))


def _person(person: Person) -> dict[str, Any]:
    more = {"me": True} if person.is_self else {}
    return {"name": person.name, **more, **({"from": person.organization} if person.organization else {})}


def _summary_line(summary: DatedSummary) -> str:
    decisions = [list(summary.decisions)] if summary.decisions else []
    tone = [] if summary.tone == "neutral" else [summary.tone]
    return fencing.encode([summary.number, summary.day.isoformat(), summary.text, *tone, *decisions])
