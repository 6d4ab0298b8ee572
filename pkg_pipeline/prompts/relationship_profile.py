"""The prompt of a relationship's profile (P21). Counted parts are input only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.profile.gate import CandidateMilestone, CandidateProfile
from pkg_pipeline.memory.profile.records import DatedSummary, ProfileAggregate, ProfileInput
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, candidate, digest_of, insisting, words_of
from pkg_pipeline.prompts.conversation import person_line

VERSION = "relationship_profile/1"
"""Part of the input hash and code version: a change makes profiles stale (B5)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 2000
"""For 150 words of summary, a timeline and ten milestones."""

MOST_LISTED = 60
"""Most key decisions and open items in the prompt, each, newest first."""


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


schema, parse = Answer.model_json_schema, Answer.read


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
        words["opening"].format(week=source.week.isoformat(), timezone=source.timezone),
        *block("people", map(person_line, people)),
        *block("counted", _counted_lines(source.aggregate, ZoneInfo(source.timezone))),
        *(block("facts", (fencing.encode({"fact": fact}) for fact in source.facts)) if source.facts else []),
        *block("summaries", map(_summary_line, source.summaries)),
        *([words["omitted"].format(count=omitted)] if omitted else []),
        words["closing"],
        *([insisting(words, Answer, problem)] if strict else []),
    ]
    system = f"{words['rules']}\n{words['with_me' if source.self_person is not None else 'without_me']}"
    return RenderedPrompt(system, "\n\n".join(parts))


def to_candidate(answer: Answer) -> CandidateProfile:
    return CandidateProfile(
        relationship_type=answer.relationship_type,
        summary=answer.summary,
        timeline=answer.timeline,
        milestones=tuple(candidate(CandidateMilestone, item) for item in answer.milestones),
    )


def _counted_lines(counted: ProfileAggregate, zone: ZoneInfo) -> list[str]:
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
