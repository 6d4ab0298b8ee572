"""The prompt that rewrites a question; its version is part of the replay key (B8) and makes nothing stale (B5)."""

from __future__ import annotations

from pydantic import Field

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.recall.rewrite_gate import Question
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, words_of

VERSION = "question_rewrite/1"

MAX_OUTPUT_TOKENS = 600
"""For three phrasings of 200 characters."""

QUESTION_BLOCK = "QUESTION"


class Answer(Strict):
    """What a model has to answer."""

    # number and lengths are checked by the gate: one phrasing too many invalidates no other
    queries: list[str] = Field(description="0 to 3 phrasings to search for, each at most 200 characters")


schema, parse = Answer.model_json_schema, Answer.read


def template_digest() -> str:
    return digest_of(list(words_of("question_rewrite", "en").values()), Answer)


def render(question: Question) -> RenderedPrompt:
    """The prompt for ``question``; holds only the day, so that it replays within a day."""
    words = words_of("question_rewrite", "en")
    day = question.asked_on
    names = ", ".join(words["language_names"][language] for language in sorted(set(question.languages)))
    parts = [
        words["opening"].format(weekday=words["weekdays"][day.weekday()], day=day, timezone=question.timezone),
        *([words["languages"].format(languages=names)] if names else []),
        words["question"],
        fencing.fence(QUESTION_BLOCK, [fencing.encode({"question": question.text})], seed=content_hash(question.text)),
        words["closing"],
    ]
    return RenderedPrompt(words["rules"], "\n\n".join(parts))
