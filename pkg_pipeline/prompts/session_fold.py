"""The prompt that folds a stretch of a live session (H13, T7)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateDecision, CandidateFact
from pkg_pipeline.memory.session.records import CandidateFold, CandidateQuestion, FoldInput
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.prompts import conversation, fencing
from pkg_pipeline.prompts.answers import (
    RenderedPrompt,
    Strict,
    candidate,
    digest_of,
    insisting,
    words_of,
)

VERSION = "session_fold/3"
"""A change makes folds stale (B5); part of the replay key (B8)."""

SCHEMA_VERSION = 2
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 3000
"""For 200 words of summary and some dozens of items."""

EARLIER_BLOCK = "EARLIER"


class AnswerDecision(Strict):
    description: str = Field(min_length=1, max_length=500)
    date: str = Field(description="ISO date on which it was decided")
    importance: Literal["high", "medium", "low"] = Field(
        description="high: money, deadlines, obligations; medium: ordinary agreement; low: minor"
    )
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1, description="numbers of the messages it rests on")


class AnswerFact(Strict):
    fact_type: str = Field(min_length=1, max_length=60, description="phone, email, birthday, position, address …")
    value: str = Field(min_length=1, max_length=300)
    about: str | None = Field(default=None, description="whom it is about, as named in the list of participants")
    confidence: float = Field(ge=0, le=1)
    quote: str = Field(min_length=1, max_length=600)
    message_ids: list[int] = Field(min_length=1)


class AnswerQuestion(Strict):
    text: str = Field(min_length=1, max_length=500)
    quote: str = Field(min_length=1, max_length=600)
    message_ids: list[int] = Field(min_length=1)


class Answer(Strict):
    """What a model has to answer. Messages are cited by their number in the prompt."""

    summary: str = Field(min_length=1)
    facts: list[AnswerFact]
    decisions: list[AnswerDecision]
    open_questions: list[AnswerQuestion]
    topics: list[str] = Field(max_length=7)


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    words = {one: [words_of("session_fold", one), words_of("conversation", one)] for one in LANGUAGES}
    return digest_of(words, Answer)


def render(source: FoldInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``; ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    words, shared = words_of("session_fold", source.language), words_of("conversation", source.language)
    earlier = [fencing.encode({"part": n, "summary": text}) for n, text in enumerate(source.earlier, 1)]
    seed, zone = source.input_hash, source.timezone
    parts = [
        *conversation.people((source,), timezone=zone, words=shared, seed=seed),
        *([words["earlier"], fencing.fence(EARLIER_BLOCK, earlier, seed=seed)] if earlier else []),
        *conversation.talks((source,), timezone=zone, words=shared, seed=seed),
        words["closing"],
        *([insisting(shared, Answer, problem)] if strict else []),
    ]
    system = "\n\n".join((words["task"].strip(), shared["lines"], words["rules"].strip()))
    return RenderedPrompt(f"{system}\n{shared['answer_language']}", "\n".join(parts))


def to_candidate(answer: Answer) -> CandidateFold:
    return CandidateFold(
        summary=answer.summary,
        topics=tuple(answer.topics),
        facts=tuple(candidate(CandidateFact, item) for item in answer.facts),
        decisions=tuple(candidate(CandidateDecision, item) for item in answer.decisions),
        open_questions=tuple(candidate(CandidateQuestion, item) for item in answer.open_questions),
    )
