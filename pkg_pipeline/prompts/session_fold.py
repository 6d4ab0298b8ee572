"""The prompt that folds a stretch of a live session (H13, T7)."""

from __future__ import annotations

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
from pkg_pipeline.prompts.interaction_summary import AnswerDecision, AnswerFact

VERSION = "session_fold/1"
"""A change makes folds stale (B5); part of the replay key (B8)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 3000
"""For 200 words of summary and some dozens of items."""

EARLIER_BLOCK = "EARLIER"


class AnswerQuestion(Strict):
    text: str = Field(min_length=1, max_length=500, description="the question in one sentence")
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1, description="numbers of the messages it rests on")


class Answer(Strict):
    """What a model has to answer. Messages are cited by their number in the prompt."""

    summary: str = Field(min_length=1, description="2-6 sentences, at most 200 words, in the order of events")
    facts: list[AnswerFact]
    decisions: list[AnswerDecision]
    open_questions: list[AnswerQuestion]
    topics: list[str] = Field(max_length=7, description="1-7 short names of one to four words")


schema, parse = Answer.model_json_schema, Answer.read


def template_digest() -> str:
    words = {one: [words_of("session_fold", one), conversation.shared_words(one)] for one in LANGUAGES}
    return digest_of(words, Answer)


def render(source: FoldInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``; ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    words, shared = words_of("session_fold", source.language), conversation.shared_words(source.language)
    earlier = [fencing.encode({"part": n, "summary": text}) for n, text in enumerate(source.earlier, 1)]
    parts = [
        conversation.opening(words["opening"], source, shared, count=len(source.messages)),
        *conversation.participants(source, shared),
        *([words["earlier"], fencing.fence(EARLIER_BLOCK, earlier, seed=source.input_hash)] if earlier else []),
        shared["messages"],
        conversation.messages(source, shared),
        words["closing"],
        *([insisting(shared, Answer, problem)] if strict else []),
    ]
    return RenderedPrompt(f"{words['rules']}\n{shared['answer_language']}", "\n\n".join(parts))


def to_candidate(answer: Answer) -> CandidateFold:
    return CandidateFold(
        summary=answer.summary,
        topics=tuple(answer.topics),
        facts=tuple(candidate(CandidateFact, item) for item in answer.facts),
        decisions=tuple(candidate(CandidateDecision, item) for item in answer.decisions),
        open_questions=tuple(candidate(CandidateQuestion, item) for item in answer.open_questions),
    )
