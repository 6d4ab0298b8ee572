"""The prompt of a question's rewrite: its version, answer model and turns. No client.

Nothing that is stored is made with this prompt, so its version marks nothing stale (B5); it is a part of the replay key
alone (B8).
"""

from __future__ import annotations

from pydantic import Field

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.recall.rewrite_gate import Question
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, words_of

VERSION = "question_rewrite/1"
"""Part of the replay key: an answer to other words is another answer."""

MAX_OUTPUT_TOKENS = 600
"""Room for three phrasings of 200 characters in any of the languages."""

QUESTION_BLOCK = "QUESTION"


class Answer(Strict):
    """What a model has to answer."""

    # count and lengths are the gate's, not the schema's: one phrasing too many spoils no other
    queries: list[str] = Field(description="0 to 3 phrasings to search for, each at most 200 characters")


schema, parse = Answer.model_json_schema, Answer.read


def template_digest() -> str:
    return digest_of(list(words_of("question_rewrite", "en").values()), Answer)


def render(question: Question) -> RenderedPrompt:
    """The prompt for ``question``. Of the time only the day is said: asked again that day, it is the same prompt."""
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
