"""The prompt that compresses a running summary (L3)."""

from __future__ import annotations

from pydantic import Field

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.session.records import CompressInput
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.memory.text.normalise import word_count
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, insisting, words_of

VERSION = "session_compress/3"
"""Part of the replay key (B8)."""

MAX_OUTPUT_TOKENS = 3000
"""For the longest running summary of the default settings."""

SUMMARY_BLOCK = "SUMMARY"
FEWEST_WORDS = 10


class Answer(Strict):
    """What a model has to answer."""

    summary: str = Field(min_length=1)


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of(
        {one: [words_of("session_compress", one), words_of("conversation", one)] for one in LANGUAGES}, Answer
    )


def render(source: CompressInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``; ``strict`` and ``problem`` as ``answers.insisting`` (P19).

    The target is given in words or characters, converted by the text's own tokens per word.
    """
    words = words_of("session_compress", source.language)
    paragraphs = [line for line in source.text.splitlines() if line.strip()]
    lines = (fencing.encode({"part": n, "text": text}) for n, text in enumerate(paragraphs, 1))
    size = len(source.text) if source.language == "zh" else word_count(source.text)
    count = round(size * source.target_tokens / max(1, source.source_tokens))
    amount = words["amount"].format(count=max(FEWEST_WORDS, count))
    parts = [
        words["opening"].format(parts=len(paragraphs), amount=amount),
        fencing.fence(SUMMARY_BLOCK, lines, seed=content_hash(source.text)),
        words["closing"],
        *([insisting(words_of("conversation", source.language), Answer, problem)] if strict else []),
    ]
    return RenderedPrompt(f"{words['rules']}\n{words['answer_in']}", "\n\n".join(parts))
