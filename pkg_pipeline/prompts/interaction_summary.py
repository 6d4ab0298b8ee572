"""The prompt of an interaction's summary (P13)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateActionItem, CandidateDecision, CandidateFact, CandidateSummary
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.prompts import conversation
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import (
    RenderedPrompt,
    Strict,
    candidate,
    digest_of,
    insisting,
    words_of,
)
from pkg_pipeline.prompts.session_fold import AnswerDecision, AnswerFact

VERSION = "interaction_summary/1"
"""Part of the input hash and code version: a change makes summaries stale (B5)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 3000
"""For 200 words of summary and some dozens of items."""


class AnswerActionItem(Strict):
    description: str = Field(min_length=1, max_length=500)
    owner: Literal["self", "them", "both"]
    owner_name: str | None = Field(default=None, description="who of them, as named in the list of participants")
    status: Literal["open", "closed"]
    due_date: str | None = Field(default=None, description="ISO date, if one was named")
    closed_at: str | None = Field(default=None, description="ISO date, if it was done within this conversation")
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
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


schema, parse = Answer.model_json_schema, Answer.read


def template_digest() -> str:
    return digest_of(
        {language: words_of("interaction_summary", language) for language in conversation.RULED_IN}, Answer
    )


def render(source: SummaryInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source`` (P13, P34); ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    words = words_of("interaction_summary", conversation.rules_language(source.language))
    owners = words["owners_with_me" if source.self_person is not None else "owners_without_me"]
    parts = [
        conversation.opening(words["opening"], source, words, count=len(source.messages)),
        *conversation.participants(source, words),
        words["messages"],
        conversation.messages(source, words),
        words["closing"],
        *([insisting(words, Answer, problem)] if strict else []),
    ]
    system = "\n".join((words["rules"], owners, conversation.answer_in(source.language, words)))
    return RenderedPrompt(system, "\n\n".join(parts))


def to_candidate(answer: Answer) -> CandidateSummary:
    return CandidateSummary(
        summary=answer.summary,
        key_points=tuple(answer.key_points),
        tone=answer.tone,
        decisions=tuple(candidate(CandidateDecision, item) for item in answer.decisions),
        action_items=tuple(candidate(CandidateActionItem, item) for item in answer.action_items),
        facts=tuple(candidate(CandidateFact, item) for item in answer.facts),
        important_numbers=tuple(answer.important_message_ids),
    )
