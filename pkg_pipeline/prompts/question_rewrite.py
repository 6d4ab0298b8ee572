"""The prompt of a question's rewrite: its version, its words, its answer model and schema. No client.

The question is data (B15): it stands between fences, like the words of a conversation. Nothing that is stored is made
with this prompt, so its version marks nothing stale (B5); it is a part of the replay key alone (B8).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import Field

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.recall.rewrite_gate import Question
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts import question_rewrite_text as wording
from pkg_pipeline.prompts.answers import AnswerInvalid as AnswerInvalid
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, read_answer

VERSION = "question_rewrite/1"
"""Part of the replay key: an answer to other words is another answer."""

MAX_OUTPUT_TOKENS = 600
"""Room for three phrasings of 200 characters in any of the languages."""

QUESTION_BLOCK = "QUESTION"


class Answer(Strict):
    """What a model has to answer."""

    # count and lengths are the gate's, not the schema's: one phrasing too many spoils no other
    queries: list[str] = Field(description="0 to 3 phrasings to search for, each at most 200 characters")


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it; adapters adapt it to what their API accepts."""
    return Answer.model_json_schema()


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    words = [wording.ALL_TEXTS, schema()]
    return hashlib.sha256(json.dumps(words, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(question: Question) -> RenderedPrompt:
    """The prompt for ``question``. Of the time only the day is said: asked again that day, it is the same prompt."""
    parts = [
        wording.OPENING.format(
            weekday=wording.WEEKDAYS[question.asked_on.weekday()],
            day=question.asked_on.isoformat(),
            timezone=question.timezone,
        )
    ]
    if question.languages:
        names = ", ".join(wording.LANGUAGE_NAMES[language] for language in sorted(set(question.languages)))
        parts.append(wording.LANGUAGES.format(languages=names))
    line = fencing.encode({"question": question.text})
    parts += [
        wording.QUESTION,
        fencing.fence(QUESTION_BLOCK, [line], seed=content_hash(question.text)),
        wording.CLOSING,
    ]
    return RenderedPrompt(wording.RULES, "\n\n".join(parts))


def parse(text: str) -> Answer:
    """The model's words as an ``Answer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema."""
    return read_answer(text, Answer)
