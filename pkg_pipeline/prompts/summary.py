"""The prompt of summaries: one talk, or several short ones of the same people (P13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateSummary
from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.prompts import conversation
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, insisting, words_of

VERSION = "summary/3"
"""Part of the input hash and code version: a change makes summaries stale (B5)."""

SCHEMA_VERSION = 2
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 6000
"""For a long talk's 200 words and points, or some thirty short talks."""

MOST_POINTS = 7

Tone = Literal["positive", "neutral", "negative", "formal", "informal"]


class Words(Strict):
    """The words of one summary; too many points cost themselves, not the answer."""

    summary: str = Field(min_length=1)
    points: list[str] = Field(min_length=1)
    tone: Tone


class AnswerTalk(Words):
    talk: int
    important: list[int]


class Answer(Strict):
    """What a model has to answer: each talk by its number, its messages by theirs."""

    talks: list[AnswerTalk] = Field(min_length=1)


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of(conversation.all_words("summary"), Answer)


def render(talks: Sequence[SummaryInput], *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``talks`` of one language, at least one, numbered from 1; messages keep their own numbers.

    ``strict`` and ``problem`` as ``answers.insisting`` (P19).
    """
    first = talks[0]
    language = conversation.rules_language(first.language)
    words, shared = words_of("summary", language), words_of("conversation", language)
    seed = content_hash("\0".join(talk.input_hash for talk in talks))
    parts = [
        *conversation.people(talks, timezone=first.timezone, words=shared, seed=seed),
        *conversation.talks(talks, timezone=first.timezone, words=shared, seed=seed),
        shared["closing"],
        *([insisting(shared, Answer, problem)] if strict else []),
    ]
    return RenderedPrompt(conversation.system(words, shared, first.language), "\n".join(parts))


def to_candidates(answer: Answer) -> Mapping[int, CandidateSummary]:
    """By the number of the talk; of two for one talk the first."""
    found: dict[int, CandidateSummary] = {}
    for told in answer.talks:
        found.setdefault(told.talk, to_candidate(told, tuple(told.important)))
    return found


def to_candidate(told: Words, important: tuple[int, ...] = ()) -> CandidateSummary:
    points = tuple(told.points[:MOST_POINTS])
    return CandidateSummary(summary=told.summary, key_points=points, tone=told.tone, important_numbers=important)
